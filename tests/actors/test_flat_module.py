"""Parameters and gradients of a module as one vector each."""

import torch

from ogg_hpc.actors.flat_module import FlatModule


def small():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def test_the_vector_is_the_parameters():
    module, rows = small(), torch.randn(5, 3)
    before = [each.detach().clone() for each in module.parameters()]
    flat = FlatModule(module, extra=2)
    assert flat.parameter.shape == (3 * 4 + 4 + 4 * 2 + 2,)
    for each, old in zip(module.parameters(), before, strict=True):
        assert torch.equal(each, old)
    with torch.no_grad():
        flat.parameter.zero_()
    assert not module(rows).any()


def test_gradients_are_added_where_they_are_and_leave_the_rest_alone():
    module, rows = small(), torch.randn(5, 3)
    flat = FlatModule(module, extra=2)
    expected = torch.autograd.grad((module(rows) ** 2).sum(), list(module.parameters()))
    expected = torch.cat([each.reshape(-1) for each in expected])
    flat.sums[-2:] = torch.tensor([7.0, 8.0])
    for times in (1, 2):
        (module(rows) ** 2).sum().backward()
        torch.testing.assert_close(flat.sums[:-2], times * expected)
    assert flat.sums[-2:].tolist() == [7.0, 8.0]
