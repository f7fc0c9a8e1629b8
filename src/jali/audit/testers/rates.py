"""One chosen event on fresh outputs: how often it occurs under each of two neighbours, and what that proves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.audit.bounds import Counts, lower_bound
from jali.audit.effort import Effort
from jali.audit.events.event import Event
from jali.audit.events.promise import Aim
from jali.audit.finding import Finding, Verdict, Witness
from jali.audit.subject import Outputs, Pair, Subject

_CAUTION = 2.0


@dataclass(frozen=True)
class Choice:
    """An event that was chosen on some outputs, to be tried on others.

    Attributes:
        event: The event.
        pair: The neighbours; it seems likelier under the first.
        promise: By how much it should exceed the claim.
        tells: Whether its rates differed at all.
    """

    event: Event
    pair: Pair
    promise: float
    tells: bool


def choice(event: Event, pair: Pair, drawn: tuple[Outputs, Outputs], aim: Aim) -> Choice:
    """Return an event with neighbours in the order in which it is likelier on their outputs: as many of both."""
    one, other = (int(event.contains(outputs).sum()) for outputs in drawn)
    pair = pair if one >= other else (pair[1], pair[0])
    promise = aim.promise(max(one, other), min(one, other), len(drawn[0]), _CAUTION)
    return Choice(event, pair, float(promise), one != other)


@dataclass(frozen=True)
class Sources:
    """Where chance comes from: that of the subject, and coins of which it never sees anything.

    Attributes:
        coins: They share out runs between two inputs.
        random: The generator that the subject is given.
    """

    coins: np.random.Generator
    random: np.random.Generator

    @classmethod
    def of(cls, *seed: int | None) -> Sources:
        """Return two sources that are independent, new ones if a part of the seed is None."""
        whole = [part for part in seed if part is not None]
        return cls(*np.random.default_rng(whole if len(whole) == len(seed) else None).spawn(2))


def count(subject: Subject, chosen: Choice, total: int, sources: Sources) -> Counts:
    """Count a chosen event in so many fresh runs, which fair coins share out between the neighbours."""
    first = int(sources.coins.binomial(total, 0.5))
    runs = (first, total - first)
    one, other = (
        int(chosen.event.contains(subject.draw(value, times, sources.random)).sum()) if times else 0
        for value, times in zip(chosen.pair, runs, strict=True)
    )
    return Counts((one, other), runs, shared=True)


def finding(subject: Subject, chosen: Choice, counts: Counts, effort: Effort, tester: str) -> Finding:
    """Say what the counts of a chosen event prove about the claim of a subject."""
    bound = lower_bound(counts, subject.claim, effort.confidence)
    return Finding(
        subject.name,
        subject.adjacency,
        bound.reading.kind,
        bound.reading.claimed,
        bound.found,
        Witness(chosen.pair, event=chosen.event, hits=counts.hits, runs=counts.runs),
        Verdict.VIOLATION if bound.violated else Verdict.NOTHING_FOUND,
        tester,
        float(effort.confidence),
        sum(counts.runs),
    )
