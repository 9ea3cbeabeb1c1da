"""What the model says of a case beyond the ranks that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ogg_hpc.scaling.model import Fit, Load, Model, efficiency, fit_model
from ogg_hpc.scaling.network import Network
from ogg_hpc.scaling.records import Record
from ogg_hpc.scaling.sizes import growth
from ogg_hpc.scaling.study import Case


@dataclass(frozen=True)
class Prediction:
    """A step at one number of ranks, by the model.

    Attributes
    ----------
    ranks
        P.
    seconds
        Of a step.
    speed_up, efficiency
        Against the smallest P measured; of grown work as in `ogg_hpc.scaling.model.efficiency`.
    computation, latency, bytes
        Shares of the seconds.
    """

    ranks: int
    seconds: float
    speed_up: float
    efficiency: float
    computation: float
    latency: float
    bytes: float


@dataclass(frozen=True)
class Outlook:
    """The model of one case.

    Attributes
    ----------
    fit
        Fitted to the points whose ranks have cores of their own.
    network
        Whose α and β the predictions take.
    predictions
        By P.
    """

    fit: Fit
    network: Network
    predictions: list[Prediction]


def load_of(record: Record) -> Load:
    """Return what a measured step asks of each rank."""
    return Load(record.ranks, record.entries / record.ranks, record.calls, record.bytes)


def outlook(
    case: Case,
    records: Sequence[Record],
    ranks: Sequence[int],
    measured: Network,
    modelled: Network | None = None,
) -> Outlook | None:
    """Fit the model to the records of a case and extend it to further numbers of ranks.

    Parameters
    ----------
    case, records
        What was measured, by rising P.
    ranks
        The P to predict.
    measured
        The network by pings.
    modelled
        Another network to predict for.

    Returns
    -------
    Outlook or None
        None without a record of several ranks that have cores of their own, or where the steps
        are so short that communication alone would explain them.
    """
    usable = [record for record in records if not record.oversubscribed]
    if not any(record.ranks > 1 for record in usable):
        return None
    loads = [load_of(record) for record in usable]
    fit = fit_model(loads, [record.seconds for record in usable], measured)
    if not fit.model.per_entry > 0:
        return None
    network = modelled or measured
    if fit.determined and modelled is None:
        network = Network(fit.model.latency, fit.model.per_byte, "fitted")
    model = Model(fit.model.per_entry, network.latency, network.per_byte)
    base = usable[0].ranks
    first = _load_at(case, usable, base)
    predictions = []
    for p in ranks:
        load = _load_at(case, usable, p)
        parts = model.parts(load)
        seconds = sum(parts)
        share = efficiency(first, model.seconds(first), load, seconds)
        shares = (part / seconds for part in parts)
        predictions.append(Prediction(p, seconds, p / base * share, share, *shares))
    return Outlook(fit, network, predictions)


def _load_at(case: Case, records: Sequence[Record], ranks: int) -> Load:
    """Return the load at any P: counted coefficients, and what grows with P as it grows."""
    base = records[0]
    now = growth(case.graph, case.growing, ranks)
    then = growth(case.graph, case.growing, base.ranks)
    entries = base.entries * now.entries / then.entries
    nodes = base.nodes * now.nodes / then.nodes
    parallel = [record for record in records if record.ranks > 1]
    if ranks == 1:
        return Load(ranks, entries / ranks, 0.0, 0.0)
    message = parallel[0].traffic["message"]
    unit = _units(parallel[0].traffic["unit"], nodes, entries, ranks)
    gathered = float(np.mean([_gathered_per_unit(record) for record in parallel]))
    sent = gathered * unit * (ranks - 1) / ranks + message * (ranks - 1)
    return Load(ranks, entries / ranks, parallel[-1].calls, sent)


def _units(unit: str, nodes: float, entries: float, ranks: int) -> float:
    """Return how much there is of what bytes are in proportion to; see `workload.Traffic`."""
    return {
        "nodes": nodes,
        "degree": entries / nodes,
        "entries": entries,
        "share": entries / ranks,
    }[unit]


def _gathered_per_unit(record: Record) -> float:
    """Return the bytes that each unit gives all ranks to gather, or to exchange with one another.

    A rank sends the share (P-1)/P of them.
    """
    others = record.ranks - 1
    unit = _units(record.traffic["unit"], record.nodes, record.entries, record.ranks)
    left: float = max(record.bytes - record.traffic["message"] * others, 0.0)
    return left * record.ranks / others / unit
