"""Which models a run trains: one, or two for both orders of LINE."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ogg_hpc.embedding.model import Matrix
from ogg_hpc.embedding.settings import EmbedSettings


@dataclass(frozen=True)
class ModelPlan:
    """One model of a run.

    Attributes
    ----------
    name : str
        Of the model; empty where there is one alone.
    settings : EmbedSettings
        The run's, with what is the model's own: its dimension and its order.
    tied : bool
        Whether contexts have the vectors of nodes: of first order, an edge has no direction.
    """

    name: str
    settings: EmbedSettings
    tied: bool

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The matrices that are trained."""
        return ("vectors",) if self.tied else ("vectors", "context")


def model_plans(settings: EmbedSettings) -> list[ModelPlan]:
    """Return the models of a run, which are trained one after the other.

    Both orders of LINE are learned apart, by half of the dimensions each, and put side by side
    (Tang et al., WWW 2015).
    """
    if settings.method != "line":
        return [ModelPlan("", settings, tied=False)]
    if settings.order != "both":
        return [ModelPlan("", settings, tied=settings.order == "first")]
    half = settings.dim // 2
    return [
        ModelPlan(f"{order} order", replace(settings, order=order, dim=half), order == "first")
        for order in ("first", "second")
    ]
