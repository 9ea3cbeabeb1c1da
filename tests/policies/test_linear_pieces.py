import numpy as np
import pytest
import torch
from torch.nn.functional import relu

from ogg_hpc.policies.linear_pieces import embedding_basis, linear_pieces, piece_of, score
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings

GENERATOR = np.random.default_rng(1)
DEGREES = GENERATOR.integers(1, 40, 200)
SUMS = DEGREES * GENERATOR.integers(1, 40, 200) + GENERATOR.integers(0, 9, 200)


def embeddings(policy):
    edge, message = embedding_basis(policy)
    d, s = (torch.from_numpy(x.astype(float))[:, None] for x in (DEGREES, SUMS))
    return relu(d * edge + s * message)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("width", [1, 5, 32])
def test_pieces_give_what_the_network_gives(width, layers, seed):
    policy = Structure2Vec(Structure2VecSettings(width=width, layers=layers), seed)
    pieces = linear_pieces(policy)
    assert len(pieces.starts) <= width + 1
    embedding = embeddings(policy)
    expected = policy.preference(embedding).detach().numpy()
    found = [score(float(d), float(s), pieces.arrays) for d, s in zip(DEGREES, SUMS, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

    # The sum of all embeddings, from sums over the nodes of each piece.
    piece = [piece_of(s / d, pieces.starts) for d, s in zip(DEGREES, SUMS, strict=True)]
    edge, message = (part.detach().numpy() for part in embedding_basis(policy))
    by_degree, by_sum = (
        np.bincount(piece, weights=x, minlength=len(pieces.starts)) @ pieces.positive
        for x in (DEGREES, SUMS)
    )
    np.testing.assert_allclose(
        by_degree * edge + by_sum * message, embedding.detach().numpy().sum(0), rtol=1e-12
    )


def test_networks_of_zeros_have_one_piece():
    policy = Structure2Vec(Structure2VecSettings(width=3))
    for parameter in policy.parameters():
        parameter.data.zero_()
    pieces = linear_pieces(policy)
    assert pieces.starts.tolist() == [0.0]
    assert score(3.0, 9.0, pieces.arrays) == 0.0
