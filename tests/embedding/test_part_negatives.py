import numpy as np
from scipy.stats import chisquare

from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.part_negatives import PartNegatives
from ogg_hpc.embedding.row_owners import RowOwners

N, PARTS = 40, 4
WEIGHTS = np.arange(N) ** 2.0


def make():
    parts = RowOwners(N, range(PARTS), 5, "context")
    return parts, PartNegatives(NegativeSampler(WEIGHTS, 0.75, seed=5), parts, seed=5)


def test_probabilities_are_powers_of_weights():
    found = NegativeSampler(WEIGHTS, 0.75, seed=0).probabilities()
    np.testing.assert_allclose(found, WEIGHTS**0.75 / (WEIGHTS**0.75).sum(), atol=1e-8)


def test_negatives_of_a_part_are_drawn_by_the_powers_of_its_nodes():
    parts, negatives = make()
    for part in range(PARTS):
        nodes = parts.held_by(part)
        expected = WEIGHTS[nodes] ** 0.75
        drawn = np.bincount(negatives.draw(20_000, part, 1, 2), minlength=len(nodes))
        assert drawn[expected == 0].sum() == 0
        likely = expected > 0
        expected = 20_000 * expected[likely] / expected.sum()
        assert chisquare(drawn[likely], expected).pvalue > 1e-4


def test_draws_are_functions_of_their_key():
    _, negatives = make()
    np.testing.assert_array_equal(negatives.draw(50, 1, 7, 8), make()[1].draw(99, 1, 7, 8)[:50])
    others = [negatives.draw(50, 1, *key).tolist() for key in ((7, 8), (7, 9), (8, 7), (8, 8))]
    assert len({tuple(rows) for rows in others}) == 4


def test_a_part_whose_nodes_are_never_drawn_gives_any_of_them():
    parts = RowOwners(2, range(2), 0, "context")
    negatives = PartNegatives(NegativeSampler(np.array([1.0, 0.0]), 0.75, 0), parts, 0)
    assert [negatives.draw(3, part).tolist() for part in range(2)] == [[0, 0, 0]] * 2
