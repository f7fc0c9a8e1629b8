"""Learns an event from outputs of two inputs: one half of them proposes, the other half chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.audit.bounds import Counts
from jali.audit.events import additive, intervals, repeated
from jali.audit.events.additive import SHAPES, Shape
from jali.audit.events.event import Event
from jali.audit.events.intervals import CAUTIONS, same
from jali.audit.events.promise import Aim
from jali.audit.events.score import Part, Score, score
from jali.audit.subject import Outputs

Two: TypeAlias = tuple[Outputs, Outputs]
Floats: TypeAlias = NDArray[np.float64]

_INTERVALS = 3
_THRESHOLDS = 400
# The rarer an event, the less a sample tells of it. How many deviations to allow for that is left open: some
# events for each degree of caution go on the shortlist.
_DEGREES = (0.5, 1.5, 3.0, 5.0)


@dataclass(frozen=True)
class Learned:
    """An event, and what it promises.

    Attributes:
        event: The event.
        swapped: Whether it is meant to be likelier under the second input.
        counts: How often it occurred in a sample that did not propose it, under the likelier input first.
        aim: What it is to prove.
        place: Which pair of inputs it was learned of, where there are several.
    """

    event: Event
    swapped: bool
    counts: Counts
    aim: Aim
    place: int = 0

    def promise(self, caution: float) -> float:
        """Return by how much it should exceed the claim."""
        return float(self.aim.promise(*self.counts.hits, self.counts.runs[0], caution))


def shortlist(found: Sequence[Learned], each: int) -> list[Learned]:
    """Return the events that promise most, so many for each degree of caution.

    What is rare and strong leads with little caution, what is frequent and weak with much.
    """
    leading: dict[int, Learned] = {}
    for caution in _DEGREES:
        promises = [-one.promise(caution) for one in found]
        leading |= {k: found[k] for k in np.argsort(promises, kind="stable")[:each].tolist()}
    return list(leading.values())


def learn(first: Outputs, second: Outputs, aim: Aim, shapes: Sequence[Shape] = SHAPES) -> list[Learned]:
    """Return all events that were compared, of either direction; none if no number of the output ever varies.

    Args:
        first: Outputs of one input.
        second: As many outputs of the other one.
        aim: What is to be proved, and with how many runs.
        shapes: The scores to try.
    """
    half, quarter = len(first) // 2, len(first) // 4
    proposing, choosing = (first[:half], second[:half]), (first[half:], second[half:])
    # Thresholds of scores are set on a half of what chooses: their luck there is halved when they are weighed.
    setting = choosing[0][:quarter], choosing[1][:quarter]
    proposed = [*_single(proposing, aim), *_scored(proposing, setting, aim, shapes)]
    return [
        Learned(event, swapped, _counts(event, choosing, aim, swapped=swapped), aim) for event, swapped in proposed
    ]


def _counts(event: Event, choosing: Two, aim: Aim, *, swapped: bool) -> Counts:
    one, other = (int(event.contains(outputs).sum()) for outputs in _turned(choosing, swapped=swapped))
    runs = len(choosing[0])
    return Counts((one, other), (runs, runs), steps=aim.steps)


def _single(proposing: Two, aim: Aim) -> Iterator[tuple[Event, bool]]:
    """Yield intervals of single numbers, and sets of whole outputs, and whether the second input is meant."""
    for swapped in (False, True):
        one, other = _turned(proposing, swapped=swapped)
        for event in (*intervals.propose(one, other, aim, _INTERVALS), *repeated.propose(one, other, aim)):
            yield event, swapped


def _scored(proposing: Two, setting: Two, aim: Aim, shapes: Sequence[Shape]) -> Iterator[tuple[Event, bool]]:
    """Yield scores of several numbers, at the thresholds that promise most."""
    for shape in shapes if _varying(proposing) > 1 else ():
        parts = additive.fit(shape, *proposing)
        if parts:
            scores = score(parts, setting[0]), score(parts, setting[1])
            yield from ((Score(parts, at), False) for at in _thresholds(*scores, aim))
            turned = _negated(parts)
            yield from ((Score(turned, at), True) for at in _thresholds(-scores[1], -scores[0], aim))


def _varying(proposing: Two) -> int:
    """Return how many numbers of the outputs are not always the same."""
    return int((~same(np.concatenate(proposing))).sum())


def _thresholds(first: Floats, second: Floats, aim: Aim) -> list[float]:
    """Return the thresholds of a score, with several degrees of caution."""
    one, other = np.sort(first), np.sort(second)
    marks = np.unique(one[:: max(1, len(one) // _THRESHOLDS)])
    above, others = (len(scores) - np.searchsorted(scores, marks) for scores in (one, other))
    best = {int(aim.promise(above, others, len(one), caution).argmax()) for caution in CAUTIONS}
    return [float(marks[k]) for k in sorted(best)]


def _negated(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, weights=tuple(-weight for weight in part.weights)) for part in parts)


def _turned(pair: Two, *, swapped: bool) -> Two:
    return pair[::-1] if swapped else pair
