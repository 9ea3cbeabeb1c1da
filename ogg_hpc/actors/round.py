"""A round: what is collected under one version of the weights, and who owes how much of it.

Every slot gets its share at once. When most have fulfilled theirs, those that lag far behind are
cut (the rule of DD-PPO, Wijmans et al., arXiv:1911.00357): what they have counts, the others make
the rest, and next time they get a share that they can manage. What is asked of slots that go is
made by the others. The exact number of steps comes together as long as one slot answers.

Nothing here knows of hosts, messages or clocks: times are what the caller says they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

# Seconds that any slot may come later than the others: those that its computer gives to other
# programs.
_JITTER = 0.1
# How long a slot that is cut may take to its next step, as a part of the time that others took.
_LAST_STEP = 0.5
# Weights: the smallest, the most that one grows in a round, and from where on it is whole.
_LEAST, _GROWTH, _WHOLE = 1 / 64, 2.0, 0.9
_UNIT = 1 << 20  # weights are whole multiples of its inverse, so that shares are exact


def shares(steps: int, weights: Mapping[int, float]) -> dict[int, int]:
    """Split steps over slots in proportion to their weights.

    Remainders go to the largest fractions, then to the lowest slots. A slot gets one step at
    least, if there are as many steps as slots.

    Parameters
    ----------
    steps
        How many; none is left over.
    weights
        Positive weights by slot; at least one.
    """
    parts = {slot: max(1, round(weight * _UNIT)) for slot, weight in sorted(weights.items())}
    total = sum(parts.values())
    least = 1 if steps >= len(parts) else 0
    result = {slot: max(least, steps * part // total) for slot, part in parts.items()}
    left = steps - sum(result.values())
    by_fraction = sorted(parts, key=lambda slot: (-(steps * parts[slot] % total), slot))
    for slot in by_fraction[: max(0, left)]:
        result[slot] += 1
    for _ in range(-left):
        result[max(result, key=lambda slot: (result[slot], slot))] -= 1
    return result


@dataclass
class _Slot:
    """What a slot has to do with the round.

    Attributes
    ----------
    weight
        The part of a full share that it can manage.
    owed
        Steps that it is to make after those of its grant.
    granted, since
        Steps of its grant, 0 while it is idle, and when it was granted.
    opening
        Whether it has not yet delivered what it was granted when the round began.
    cut
        When its grant was cut.
    last
        Whether it gets more work only where no other is left: it was cut, or had gone.
    """

    weight: float
    last: bool
    owed: int = 0
    granted: int = 0
    since: float = 0.0
    opening: bool = False
    cut: float | None = None

    @property
    def idle(self) -> bool:
        return not self.granted and not self.owed


class _Made(NamedTuple):
    """What a slot has made of its opening share."""

    steps: int
    seconds: float
    whole: bool


@dataclass
class Orders:
    """What a round asks for now.

    Attributes
    ----------
    grants
        Steps by idle slot.
    cuts
        Slots whose grants are to end after their next step.
    silent
        Slots that were cut and have not answered. They have left the round.
    """

    grants: dict[int, int] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)


class Round:
    """A round under way.

    Parameters
    ----------
    steps
        How many are to be collected.
    weights
        Of each slot that is there, above 0 and at most 1.
    cutoff
        The part of the slots that must have fulfilled their shares before others are cut.
    patience
        How many times as long as those took the others may take; 0: nobody is cut.

    Attributes
    ----------
    collected : int
        Steps that have been taken in.
    """

    def __init__(
        self, steps: int, weights: Mapping[int, float], cutoff: float, patience: float
    ) -> None:
        self._steps, self._cutoff, self._patience = steps, cutoff, patience
        self.collected = 0
        self._unassigned = steps
        self._slots: dict[int, _Slot] = {}
        self._left: set[int] = set()
        self._opening: dict[int, float] = {}  # the weights by which the round was split
        self._made: dict[int, _Made] = {}  # of the shares by which it was
        self._cut: set[int] = set()
        for slot, weight in weights.items():
            self.join(slot, weight)

    @property
    def done(self) -> bool:
        """Whether all steps are there."""
        return self.collected == self._steps

    @property
    def most_are_done(self) -> bool:
        """Whether so many slots have fulfilled their shares that others may be cut."""
        return self._typical() is not None

    def join(self, slot: int, weight: float) -> None:
        """Take in a slot; one that had left the round gets work only where no other is left."""
        self._slots[slot] = _Slot(weight, last=slot in self._left)

    def leave(self, slot: int) -> None:
        """Give to others what a slot has not delivered; nothing, if it is not there."""
        gone = self._slots.pop(slot, None)
        if gone is not None:
            self._unassigned += gone.granted + gone.owed
            self._left.add(slot)

    def granted(self, slot: int) -> int:
        """Return how many steps a slot may deliver: 0 for one that is idle, or not there."""
        return self._slots[slot].granted if slot in self._slots else 0

    def deliver(self, slot: int, steps: int, now: float) -> None:
        """Take in what a slot has made of its grant; if that is less, others make the rest."""
        state = self._slots[slot]
        missing = state.granted - steps
        assert 0 <= steps <= state.granted, "a slot delivers what it was granted, or less"
        if state.opening:
            self._made[slot] = _Made(steps, now - state.since, whole=not missing)
        self.collected += steps
        state.granted, state.opening, state.cut = 0, False, None
        if missing:
            self._hand_over(state, missing)

    def orders(self, now: float) -> Orders:
        """Return what is to be asked of the slots now; it counts as asked."""
        orders = Orders()
        self._cut_the_slow(orders, now)
        self._assign()
        for slot, state in sorted(self._slots.items()):
            if state.owed and not state.granted:
                state.granted, state.owed, state.since = state.owed, 0, now
                orders.grants[slot] = state.granted
        return orders

    def slowness(self, slot: int) -> float:
        """Return how many times as long as the others a slot took for a step; inf: made none."""
        typical, made = self._typical(), self._made.get(slot)
        if not typical or made is None or not made.steps:
            return math.inf
        full_share = self._steps / sum(self._opening.values())
        return made.seconds / made.steps / (typical / full_share)

    def weights(self) -> dict[int, float]:
        """Return the new weights of the slots that were cut, or had been and still lag."""
        changed = {}
        for slot, before in self._opening.items() if self.most_are_done else ():
            if slot in self._cut or (before < 1 and slot in self._made):
                after = min(1 / max(self.slowness(slot), _LEAST), _GROWTH * before)
                changed[slot] = 1.0 if after >= _WHOLE else max(after, _LEAST)
        return changed

    def _hand_over(self, state: _Slot, steps: int) -> None:
        """Leave to others so many steps, all that a slot owes, and what is to come."""
        self._unassigned += steps + state.owed
        state.owed, state.last = 0, True

    def _cut_the_slow(self, orders: Orders, now: float) -> None:
        typical = self._typical()
        if typical is None or not self._patience:
            return
        limit = max(self._patience * typical, typical + _JITTER)
        last_step = max(_LAST_STEP * typical, _JITTER)
        someone_idle = any(state.idle and not state.last for state in self._slots.values())
        for slot, state in sorted(self._slots.items()):
            if state.cut is not None:
                if now - state.cut > last_step:
                    orders.silent.append(slot)
            elif state.granted and now - state.since > limit and someone_idle:
                orders.cuts.append(slot)
                state.cut = now
                self._cut.add(slot)
                self._hand_over(state, 0)
        for slot in orders.silent:
            self.leave(slot)

    def _assign(self) -> None:
        """Share out the steps that nobody owes, where anybody can take them."""
        takers = self._takers()
        if not self._unassigned or not takers:
            return
        work = shares(self._unassigned, takers)
        for slot, steps in work.items():
            self._slots[slot].owed += steps
        self._unassigned = 0
        if not self._opening:
            self._opening = takers
            for slot, steps in work.items():
                self._slots[slot].opening = steps > 0

    def _takers(self) -> dict[int, float]:
        """Return the weights of the slots that further work is for."""
        slots = self._slots
        takers = [slot for slot, state in slots.items() if not state.last]
        if self.most_are_done:
            takers = [slot for slot in takers if slots[slot].idle] or takers
        if not takers:
            takers = [slot for slot, state in slots.items() if state.idle]
        return {slot: slots[slot].weight for slot in takers}

    def _typical(self) -> float | None:
        """Return the seconds in which most have fulfilled their shares; None: they have not yet."""
        times = sorted(made.seconds for made in self._made.values() if made.whole)
        working = sum(state.opening for state in self._slots.values())
        most = math.ceil(self._cutoff * (len(self._made) + working))
        return times[most - 1] if 0 < most <= len(times) else None
