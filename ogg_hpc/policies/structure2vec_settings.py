"""Settings of structure2vec, for those who score with torch and those who do without."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError


@dataclass(frozen=True)
class Structure2VecSettings:
    """Settings of `Structure2Vec`."""

    width: int = field(default=32, metadata={"help": "embedding width K"})
    layers: int = field(default=2, metadata={"help": "embedding layers L"})
    graph_term: str = field(
        default="mean",
        metadata={"help": "graph-level term: mean (the sum divided by N) or sum (the paper's)"},
    )

    degree_unit: str = field(
        default="one",
        metadata={
            "help": "unit of sums over neighbours: one (the paper's), or mean: the mean degree of "
            "the whole graph, so that sparse and dense graphs look alike"
        },
    )

    def __post_init__(self) -> None:
        if self.width < 1 or self.layers < 1:
            raise SettingsError("model.width and model.layers must be at least 1")
        if self.graph_term not in ("mean", "sum"):
            raise SettingsError(f"model.graph_term is mean or sum, not {self.graph_term!r}")
        if self.degree_unit not in ("one", "mean"):
            raise SettingsError(f"model.degree_unit is one or mean, not {self.degree_unit!r}")

    def units(self, mean_degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (G,) factors of the sums over neighbours in graphs of given mean degrees."""
        if self.degree_unit == "one":
            return np.ones_like(mean_degrees)
        return 1 / np.maximum(mean_degrees, 1e-9)
