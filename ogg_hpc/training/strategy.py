"""CMA-ES, drawn by one rank for all."""

from __future__ import annotations

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64, stream


class Strategy:
    """Covariance matrix adaptation [1]_, whose state follows from the values it was told.

    Rank 0 alone does the linear algebra, whose last bits differ between processors.

    Parameters
    ----------
    comm
        All ranks.
    start
        (k,) mean of the first generation.
    sigma
        Standard deviation of the first generation.
    population
        Candidates in a generation.
    seed
        Seed of the candidates.

    Attributes
    ----------
    mean : (k,) float64
        Mean of the distribution.
    history : list of (population,) float64
        The values told, generation after generation.

    References
    ----------
    .. [1] N. Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772.
    """

    def __init__(
        self,
        comm: Communicator,
        start: NDArray[np.float64],
        sigma: float,
        population: int,
        seed: int,
    ) -> None:
        self._comm, self._seed = comm, seed
        self.mean = start
        self._cma = CMA(start, sigma, population_size=population)
        self._candidates: NDArray[np.float64] | None = None
        self.history: list[NDArray[np.float64]] = []

    def draw(self) -> NDArray[np.float64]:
        """Return the (population, k) candidates of the next generation (collective)."""

        def draw() -> NDArray[np.float64]:
            seed = hash64(self._seed, stream("candidates"), len(self.history))
            self._cma.reseed_rng(int(seed >> np.uint64(32)))
            return np.array([self._cma.ask() for _ in range(self._cma.population_size)])

        candidates: NDArray[np.float64] = self._comm.on_root(draw)
        self._candidates = candidates
        return candidates

    def tell(self, values: NDArray[np.float64]) -> None:
        """Move towards the candidates drawn last whose values are low (collective)."""
        assert self._candidates is not None
        solutions = list(zip(self._candidates, values.tolist(), strict=True))

        def tell() -> NDArray[np.float64]:
            self._cma.tell(solutions)
            return np.array(self._cma.mean)

        self.mean = self._comm.on_root(tell)
        self.history.append(values)

    def restore(self, history: NDArray[np.float64]) -> None:
        """Go through earlier generations again, by the values they were told (collective)."""
        for values in history:
            self.draw()
            self.tell(values)
