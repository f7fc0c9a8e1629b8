"""Search a pair of inputs and an event that distinguishes them.

Few outputs of many pairs come first, and more of the best ones. An event is learned from outputs of two
inputs: one half of them proposes, the other half chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.events.event_rates import EventAim
from jali.lab.audit.events.output_event import OutputEvent
from jali.lab.audit.events.propose_events import (
    CAUTIONS,
    SCORE_SHAPES,
    Score,
    ScorePart,
    ScoreShape,
    fit_score,
    is_constant,
    propose_intervals,
    propose_repeated_outputs,
    sum_weights,
)
from jali.lab.audit.loss_bounds import EventCounts, grows
from jali.lab.audit.subject import Effort, Outputs, Pair, Subject

OutputPair: TypeAlias = tuple[Outputs, Outputs]
Floats: TypeAlias = NDArray[np.float64]

_INTERVALS = 3
_THRESHOLDS = 400
# The rarer an event, the less a sample tells of it. How many deviations to allow for that is left open: some
# events for each degree of caution go on the shortlist.
_DEGREES = (0.5, 1.5, 3.0, 5.0)


@dataclass(frozen=True)
class LearnedEvent:
    """An event, and what it promises.

    Attributes:
        event: The event.
        swapped: Whether it is meant to be likelier under the second input.
        counts: How often it occurred in a sample that did not propose it, under the likelier input first.
        aim: What it is to prove.
        place: Which pair of inputs it was learned of, where there are several.
    """

    event: OutputEvent
    swapped: bool
    counts: EventCounts
    aim: EventAim
    place: int = 0

    def promise(self, caution: float) -> float:
        """Return by how much it should exceed the claim."""
        return float(self.aim.promise(*self.counts.hits, self.counts.runs[0], caution))


def shortlist(found: Sequence[LearnedEvent], each: int) -> list[LearnedEvent]:
    """Return the events that promise most, this many for each degree of caution.

    What is rare and strong leads with little caution, what is frequent and weak with much.
    """
    leading: dict[int, LearnedEvent] = {}
    for caution in _DEGREES:
        promises = [-one.promise(caution) for one in found]
        leading |= {k: found[k] for k in np.argsort(promises, kind="stable")[:each].tolist()}
    return list(leading.values())


def learn_events(
    first: Outputs, second: Outputs, aim: EventAim, shapes: Sequence[ScoreShape] = SCORE_SHAPES
) -> list[LearnedEvent]:
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
    proposed = [*_propose_single(proposing, aim), *_propose_scores(proposing, setting, aim, shapes)]
    return [
        LearnedEvent(event, swapped, _count_event(event, choosing, aim, swapped=swapped), aim)
        for event, swapped in proposed
    ]


def _count_event(event: OutputEvent, choosing: OutputPair, aim: EventAim, *, swapped: bool) -> EventCounts:
    one, other = (int(event.contains(outputs).sum()) for outputs in _order_pair(choosing, swapped=swapped))
    runs = len(choosing[0])
    return EventCounts((one, other), (runs, runs), steps=aim.steps)


def _propose_single(proposing: OutputPair, aim: EventAim) -> Iterator[tuple[OutputEvent, bool]]:
    """Yield intervals of single numbers, and sets of whole outputs, and whether the second input is meant."""
    for swapped in (False, True):
        one, other = _order_pair(proposing, swapped=swapped)
        for event in (
            *propose_intervals(one, other, aim, _INTERVALS),
            *propose_repeated_outputs(one, other, aim),
        ):
            yield event, swapped


def _propose_scores(
    proposing: OutputPair, setting: OutputPair, aim: EventAim, shapes: Sequence[ScoreShape]
) -> Iterator[tuple[OutputEvent, bool]]:
    """Yield scores of several numbers, at the thresholds that promise most."""
    for shape in shapes if _count_varying(proposing) > 1 else ():
        parts = fit_score(shape, *proposing)
        if parts:
            scores = sum_weights(parts, setting[0]), sum_weights(parts, setting[1])
            yield from ((Score(parts, at), False) for at in _choose_thresholds(*scores, aim))
            turned = _negate(parts)
            yield from ((Score(turned, at), True) for at in _choose_thresholds(-scores[1], -scores[0], aim))


def _count_varying(proposing: OutputPair) -> int:
    """Return how many numbers of the outputs are not always the same."""
    return int((~is_constant(np.concatenate(proposing))).sum())


def _choose_thresholds(first: Floats, second: Floats, aim: EventAim) -> list[float]:
    """Return the thresholds of a score, with several degrees of caution."""
    one, other = np.sort(first), np.sort(second)
    marks = np.unique(one[:: max(1, len(one) // _THRESHOLDS)])
    above, others = (len(scores) - np.searchsorted(scores, marks) for scores in (one, other))
    best = {int(aim.promise(above, others, len(one), caution).argmax()) for caution in CAUTIONS}
    return [float(marks[k]) for k in sorted(best)]


def _negate(parts: tuple[ScorePart, ...]) -> tuple[ScorePart, ...]:
    return tuple(replace(part, weights=tuple(-weight for weight in part.weights)) for part in parts)


def _order_pair(pair: OutputPair, *, swapped: bool) -> OutputPair:
    return pair[::-1] if swapped else pair


# Shares of the samples: to look at all pairs, to learn on a few, and to compare what was learned.
_PILOT, _TRAINING, _TRIAL = Fraction(1, 10), Fraction(3, 20), Fraction(3, 20)
# A first look tries the cheapest scores.
_QUICK: tuple[ScoreShape, ...] = (SCORE_SHAPES[0], SCORE_SHAPES[2])
# With fewer runs of an input nothing is learned; and more are of no use, or do not fit into memory.
_LEAST_RUNS, _MOST_RUNS, _MOST_NUMBERS = 8, 1 << 19, 1 << 23
# Outputs are drawn in pieces of this many numbers.
_PIECE = 1 << 20
# In the trial few events are left, and a sample that had no part in proposing them.
_CAUTION = 1.0
_PAIRS, _FINALISTS = 1, 2

_NONE: tuple[Outputs, Outputs] = (np.zeros((0, 1)), np.zeros((0, 1)))


@dataclass(frozen=True)
class CandidatePair:
    """A pair of inputs.

    Attributes:
        pair: The inputs.
        steps: How many neighbours they are apart.
        outputs: What was drawn to learn: as many outputs of each.
    """

    pair: Pair
    steps: int = 1
    outputs: tuple[Outputs, Outputs] = _NONE


@dataclass(frozen=True)
class FoundEvent:
    """A pair of inputs, and an event that is likelier under the first of them.

    Attributes:
        pair: The inputs.
        learned: The event; None if nothing was learned.
    """

    pair: Pair
    learned: LearnedEvent | None = None


class EventSearch:
    """The samples of one audit: draws them, and keeps count.

    Attributes:
        subject: What is audited.
        effort: How many samples there are.
        drawn: How many outputs were drawn so far.
        events: How many events were compared so far.
        pairs: How many pairs of inputs outputs were drawn of, to compare them.
    """

    def __init__(self, subject: Subject, effort: Effort) -> None:
        self.subject, self.effort = subject, effort
        self.drawn = self.events = self.pairs = 0
        # The coins that share out runs are not to depend on what a function does with its generator.
        self._coins, self._random = np.random.default_rng(effort.seed).spawn(2)

    @property
    def remaining(self) -> int:
        """How many outputs may still be drawn."""
        return self.effort.samples - self.drawn

    def best(self) -> FoundEvent:
        """Return the pair and the event that promise most, after a look at all pairs, a lesson and a trial."""
        held = list(self.candidates)
        if len(held) > 1:
            held = self._draw_more(held, _PILOT)
            leading = shortlist(self._learn(held, _QUICK), _PAIRS)
            held = [held[place] for place in sorted({one.place for one in leading})] or held[:1]
        held = self._draw_more(held, _TRAINING)
        learned = self._learn(held, SCORE_SHAPES)
        return self._try_events(held, shortlist(learned, _FINALISTS)) if learned else FoundEvent(held[0].pair)

    @property
    def candidates(self) -> tuple[CandidatePair, ...]:
        """The pairs of inputs that there are: neighbours, and distant ones where the claim is about them too."""
        far = self.subject.distant if grows(self.subject.claim) else ()
        return (
            *(CandidatePair(pair) for pair in self.subject.pairs),
            *(CandidatePair(pair, steps) for pair, steps in far),
        )

    def _draw_more(self, held: Sequence[CandidatePair], share: Fraction) -> list[CandidatePair]:
        """Draw more outputs of each candidate; of the first ones only if there are few samples."""
        samples = int(share * self.effort.samples)
        some = held[: max(1, samples // (2 * _LEAST_RUNS))]
        self.pairs = max(self.pairs, len(some))
        return [self._extend(one, samples // (2 * len(some))) for one in some]

    def _extend(self, candidate: CandidatePair, runs: int) -> CandidatePair:
        first, second = (self._draw_outputs(value, runs) for value in candidate.pair)
        if len(candidate.outputs[0]):
            first, second = (np.concatenate(two) for two in zip(candidate.outputs, (first, second), strict=True))
        return replace(candidate, outputs=(first, second))

    def _learn(self, held: Sequence[CandidatePair], shapes: Sequence[ScoreShape]) -> list[LearnedEvent]:
        found: list[LearnedEvent] = []
        for place, one in enumerate(held):
            if len(one.outputs[0]) >= _LEAST_RUNS:
                aim = EventAim(self.subject.claim, max(1, self.remaining // 2), self.effort.confidence, one.steps)
                found += (replace(each, place=place) for each in learn_events(*one.outputs, aim, shapes))
        self.events += len(found)
        return found

    def _try_events(self, held: Sequence[CandidatePair], listed: Sequence[LearnedEvent]) -> FoundEvent:
        """Compare events on fresh outputs, and return the one that promises most."""
        places = {one.place for one in listed}
        runs = int(_TRIAL * self.effort.samples) // (2 * len(places))
        tried: list[LearnedEvent] = []
        for place in places:
            some = [one for one in listed if one.place == place]
            first, second = (
                self._count_hits(value, [one.event for one in some], runs) for value in held[place].pair
            )
            tried += (_set_counts(*each, runs) for each in zip(some, first, second, strict=True))
        best = max(tried, key=lambda one: one.promise(_CAUTION))
        pair = held[best.place].pair
        return FoundEvent((pair[1], pair[0]) if best.swapped else pair, best)

    def _draw_outputs(self, value: Any, runs: int) -> Outputs:
        pieces: list[Outputs] = []
        for piece in self._draw_pieces(value, min(runs, _MOST_RUNS)):
            pieces.append(piece)
            if sum(map(np.size, pieces)) > _MOST_NUMBERS:
                break
        return np.concatenate(pieces) if pieces else np.zeros((0, 1))

    def _draw_pieces(self, value: Any, runs: int) -> Iterator[Outputs]:
        """Draw outputs, in pieces that fit into memory."""
        size = min(runs, 1 << 12)
        while runs:
            outputs = self._draw(value, min(size, runs))
            runs -= len(outputs)
            size = max(1, _PIECE // max(1, outputs.shape[1]))
            yield outputs

    def _draw(self, value: Any, count: int) -> Outputs:
        outputs = self.subject.draw(value, count, self._random)
        self.drawn += count
        if outputs.ndim != 2 or len(outputs) != count:
            raise CatalogError("audited-shape-wrong", subject=self.subject.name, shape=outputs.shape, count=count)
        return outputs

    def _count_hits(self, value: Any, events: Sequence[OutputEvent], runs: int) -> list[int]:
        """Return how often each event occurs in fresh runs of an input."""
        hits = [0] * len(events)
        for outputs in self._draw_pieces(value, runs):
            hits = [old + int(event.contains(outputs).sum()) for old, event in zip(hits, events, strict=True)]
        return hits

    def count(self, found: FoundEvent, runs: int) -> EventCounts:
        """Return how often an event occurs in fresh runs, which fair coins share out between the two inputs."""
        assert found.learned is not None
        first = int(self._coins.binomial(runs, 0.5))
        shared, event = (first, runs - first), found.learned.event
        one, other = (
            self._count_hits(value, [event], each)[0] for value, each in zip(found.pair, shared, strict=True)
        )
        return EventCounts((one, other), shared, shared=True, steps=found.learned.aim.steps)


def _set_counts(learned: LearnedEvent, first: int, second: int, runs: int) -> LearnedEvent:
    hits = (second, first) if learned.swapped else (first, second)
    return replace(learned, counts=replace(learned.counts, hits=hits, runs=(runs, runs)))
