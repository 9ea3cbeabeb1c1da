"""Batches for tests of gradients."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from ogg_hpc.embedding.batch import CompactBatch, compact

DIMS = st.sampled_from([1, 2, 7, 16, 100, 128])


class Drawn(NamedTuple):
    """Vectors of all nodes, and who meets whom."""

    vectors: np.ndarray
    context: np.ndarray  # the vectors themselves in a tied batch
    sources: np.ndarray
    contexts: np.ndarray
    negatives: np.ndarray
    negative: int

    @property
    def tied(self) -> bool:
        return self.context is self.vectors

    def compact(self) -> tuple[np.ndarray, np.ndarray, CompactBatch]:
        """Return the rows X and Y and the batch."""
        own, others, batch = compact(
            self.sources, self.contexts, self.negatives, self.negative, self.tied
        )
        X = self.vectors[own]
        return X, X if self.tied else self.context[others], batch


def draw_batch(random, n, k, dim, negative, shared=0, tied=False, id_type=np.int32):
    """Return a batch of n nodes with many duplicates; with `shared` negatives of all, or own."""
    vectors, context = random.standard_normal((2, n, dim)).astype(np.float32)
    sources, contexts = random.integers(0, n, (2, k)).astype(id_type)
    negatives = random.integers(0, n, shared or (k, negative)).astype(id_type)
    return Drawn(vectors, vectors if tied else context, sources, contexts, negatives, negative)


@st.composite
def batches(draw):
    """Draw batches of all kinds and shapes."""
    return draw_batch(
        np.random.default_rng(draw(st.integers(0, 2**32))),
        n=draw(st.integers(1, 12)),
        k=draw(st.integers(0, 40)),
        dim=draw(DIMS),
        negative=draw(st.integers(1, 6)),
        shared=draw(st.integers(0, 9)),
        tied=draw(st.booleans()),
        id_type=draw(st.sampled_from([np.int32, np.int64])),
    )
