"""A torch module whose parameters are one vector, and their gradients another."""

from __future__ import annotations

import torch


class FlatModule:
    """Lays the parameters of a module, and their gradients, one after another.

    A collective or an optimiser then has one array to deal with, however many parameters there
    are, and nothing is copied. `torch.autograd` adds to gradients where they are.

    Parameters
    ----------
    module
        On its device already.
    extra
        Numbers of other kinds that travel with the gradients.

    Attributes
    ----------
    parameter : (n,) torch.nn.Parameter
        All parameters.
    sums : (n + extra,) tensor
        All gradients, and the other numbers.
    """

    def __init__(self, module: torch.nn.Module, extra: int) -> None:
        parameters = list(module.parameters())
        flat = torch.cat([each.detach().reshape(-1) for each in parameters])
        self.parameter = torch.nn.Parameter(flat, requires_grad=False)
        self.sums = flat.new_zeros(len(flat) + extra)
        start = 0
        for each in parameters:
            part = slice(start, start + each.numel())
            each.data = flat[part].view_as(each)
            each.grad = self.sums[part].view_as(each)
            start = part.stop
