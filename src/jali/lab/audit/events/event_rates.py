"""Rates of an event under two neighbours: what a first sample promises, and what fresh outputs prove.

Promises are approximations, for choosing only: the loss that an event will prove on fresh outputs, as far as a
first sample tells. What is claimed in the end is proved by `loss_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.events.output_event import OutputEvent
from jali.lab.audit.loss_bounds import EventCounts, estimate_bound, group_growth, list_readings, prove_bound
from jali.lab.audit.subject import Effort, Finding, Outputs, Pair, Subject, Verdict, Witness
from jali.mechanisms.base import read_miss_probability
from jali.numbers.search import bisect, bracket
from jali.privacy import Loss, Pure

Floats: TypeAlias = NDArray[np.float64]

# A violation that is there shall be proved with this probability by as many samples as are said to be needed.
_POWER = 0.9
_MOST = 1e15


@dataclass(frozen=True)
class EventAim:
    """What an event is to prove.

    Attributes:
        claim: The claim to refute.
        runs: How many runs of each input there will be.
        confidence: The confidence of the proof.
        steps: How many neighbours the inputs are apart.
    """

    claim: Loss
    runs: int
    confidence: float | Fraction
    steps: int = 1

    @cached_property
    def _deviation(self) -> float:
        return -NormalDist().inv_cdf(read_miss_probability(self.confidence))

    def promise(self, hits: Any, others: Any, runs: int, caution: float) -> Floats:
        """Return by how much events should exceed the claim: negative where they should not.

        From `hits` of `runs` under the first input and `others` of as many under the second, all rates are moved
        against us by the deviation of the final sample and by `caution` deviations of this one.
        """
        deviation = caution + self._deviation * (runs / self.runs) ** 0.5
        p, q = _estimate_corner(
            np.asarray(hits, np.float64), np.asarray(others, np.float64), runs, deviation, self._pure
        )
        growth = group_growth(self.claim, self.steps)
        margins = [one.measure(p, q) / growth - one.claimed for one in list_readings(self.claim)]
        return np.asarray(np.max(margins, axis=0))

    @property
    def _pure(self) -> bool:
        return isinstance(self.claim, Pure)


def estimate_runs(counts: EventCounts, claim: Loss, confidence: float | Fraction) -> int | None:
    """Return about how many runs, of both inputs together, would refute a claim if the rates are as observed.

    None if such rates are within the claim.

    Example:
        >>> estimate_runs(EventCounts((520, 450), (1000, 1000)), Pure(0.1), 0.99)
        54304
        >>> estimate_runs(EventCounts((500, 480), (1000, 1000)), Pure(0.1), 0.99)
    """
    (a, b), (m, n) = counts.hits, counts.runs
    if not m or not n or estimate_bound(counts, claim).margin <= 0:
        return None
    deviation = NormalDist().inv_cdf(_POWER)

    def proves(runs: float) -> bool:
        aim = EventAim(claim, round(runs), confidence, counts.steps)
        return bool(aim.promise(a * runs / m, b * runs / n, round(runs), deviation) > 0)

    low, high = bracket(proves, 1.0, 2.0, most=_MOST)
    if high > _MOST:
        return None
    return 2 * round(bisect(proves, low, high, close=lambda low, high: high - low <= 1 or high <= low * 1.001)[1])


def _estimate_corner(
    hits: Floats, others: Floats, runs: int, deviation: float, pure: bool
) -> tuple[Floats, Floats]:
    """Return the corner of `loss_bounds`, with Wilson's bounds in place of Clopper and Pearson's."""
    ratio = _bound_by_wilson(hits, hits + others, deviation)
    if pure:
        return ratio, 1 - ratio
    p, q = _bound_by_wilson(hits, runs, deviation), 1 - _bound_by_wilson(runs - others, runs, deviation)
    return p, np.minimum(q, p * (1 - ratio) / np.maximum(ratio, 1e-300))


def _bound_by_wilson(count: Floats, total: Any, deviation: float) -> Floats:
    """Return Wilson's lower bound of a rate (Wilson 1927)."""
    some, square = np.maximum(total, 1e-9), deviation * deviation
    spread = np.sqrt(count * (some - count) / some + square / 4)
    return np.asarray(np.maximum(0.0, (count + square / 2 - deviation * spread) / (some + square)))


_CAUTION = 2.0


@dataclass(frozen=True)
class EventChoice:
    """An event that was chosen on some outputs, to be tried on others.

    Attributes:
        event: The event.
        pair: The neighbours; it seems likelier under the first.
        promise: By how much it should exceed the claim.
        tells: Whether its rates differed at all.
    """

    event: OutputEvent
    pair: Pair
    promise: float
    tells: bool


def choose_direction(event: OutputEvent, pair: Pair, drawn: tuple[Outputs, Outputs], aim: EventAim) -> EventChoice:
    """Return an event with neighbours in the order in which it is likelier on their outputs: as many of both."""
    one, other = (int(event.contains(outputs).sum()) for outputs in drawn)
    pair = pair if one >= other else (pair[1], pair[0])
    promise = aim.promise(max(one, other), min(one, other), len(drawn[0]), _CAUTION)
    return EventChoice(event, pair, float(promise), one != other)


@dataclass(frozen=True)
class RandomSources:
    """Where chance comes from: that of the subject, and coins of which it never sees anything.

    Attributes:
        coins: They share out runs between two inputs.
        random: The generator that the subject is given.
    """

    coins: np.random.Generator
    random: np.random.Generator

    @classmethod
    def of(cls, *seed: int | None) -> RandomSources:
        """Return two sources that are independent, new ones if a part of the seed is None."""
        whole = [part for part in seed if part is not None]
        return cls(*np.random.default_rng(whole if len(whole) == len(seed) else None).spawn(2))


def count_choice(subject: Subject, chosen: EventChoice, total: int, sources: RandomSources) -> EventCounts:
    """Count a chosen event in this many fresh runs, which fair coins share out between the neighbours."""
    first = int(sources.coins.binomial(total, 0.5))
    runs = (first, total - first)
    one, other = (
        int(chosen.event.contains(subject.draw(value, times, sources.random)).sum()) if times else 0
        for value, times in zip(chosen.pair, runs, strict=True)
    )
    return EventCounts((one, other), runs, shared=True)


def make_finding(
    subject: Subject, chosen: EventChoice, counts: EventCounts, effort: Effort, tester: str
) -> Finding:
    """Describe what the counts of a chosen event prove about the claim of a subject."""
    bound = prove_bound(counts, subject.claim, effort.confidence)
    return Finding(
        subject.name,
        subject.adjacency,
        bound.reading.kind,
        bound.reading.claimed,
        bound.found,
        Witness(chosen.pair, event=chosen.event, hits=counts.hits, runs=counts.runs),
        Verdict.VIOLATION if bound.is_violated else Verdict.NOTHING_FOUND,
        tester,
        float(effort.confidence),
        sum(counts.runs),
    )
