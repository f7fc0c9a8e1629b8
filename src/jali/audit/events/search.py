"""The search for a pair of inputs and an event, with few outputs of many pairs first and more of the best ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from jali.audit.bounds import Counts, grows
from jali.audit.effort import Effort
from jali.audit.events.additive import SHAPES, Shape
from jali.audit.events.event import Event
from jali.audit.events.learn import Learned, learn, shortlist
from jali.audit.events.promise import Aim
from jali.audit.subject import Outputs, Pair, Subject
from jali.errors import CatalogError

# Shares of the samples: to look at all pairs, to learn on a few, and to compare what was learned.
_PILOT, _TRAINING, _TRIAL = Fraction(1, 10), Fraction(3, 20), Fraction(3, 20)
# A first look tries the cheapest scores.
_QUICK: tuple[Shape, ...] = (SHAPES[0], SHAPES[2])
# With fewer runs of an input nothing is learned; and more are of no use, or do not fit into memory.
_LEAST_RUNS, _MOST_RUNS, _MOST_NUMBERS = 8, 1 << 19, 1 << 23
# Outputs are drawn in pieces of so many numbers.
_PIECE = 1 << 20
# In the trial few events are left, and a sample that had no part in proposing them.
_CAUTION = 1.0
_PAIRS, _FINALISTS = 1, 2

_NONE: tuple[Outputs, Outputs] = (np.zeros((0, 1)), np.zeros((0, 1)))


@dataclass(frozen=True)
class Candidate:
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
class Found:
    """A pair of inputs, and an event that is likelier under the first of them.

    Attributes:
        pair: The inputs.
        learned: The event; None if nothing was learned.
    """

    pair: Pair
    learned: Learned | None = None


class Search:
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
    def left(self) -> int:
        """How many outputs may still be drawn."""
        return self.effort.samples - self.drawn

    def best(self) -> Found:
        """Return the pair and the event that promise most, after a look at all pairs, a lesson and a trial."""
        held = list(self.candidates)
        if len(held) > 1:
            held = self._drawn(held, _PILOT)
            leading = shortlist(self._learned(held, _QUICK), _PAIRS)
            held = [held[place] for place in sorted({one.place for one in leading})] or held[:1]
        held = self._drawn(held, _TRAINING)
        learned = self._learned(held, SHAPES)
        return self._tried(held, shortlist(learned, _FINALISTS)) if learned else Found(held[0].pair)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The pairs of inputs that there are: neighbours, and distant ones where the claim is about them too."""
        far = self.subject.distant if grows(self.subject.claim) else ()
        return (
            *(Candidate(pair) for pair in self.subject.pairs),
            *(Candidate(pair, steps) for pair, steps in far),
        )

    def _drawn(self, held: Sequence[Candidate], share: Fraction) -> list[Candidate]:
        """Draw more outputs of each candidate; of the first ones only if there are few samples."""
        samples = int(share * self.effort.samples)
        some = held[: max(1, samples // (2 * _LEAST_RUNS))]
        self.pairs = max(self.pairs, len(some))
        return [self._more(one, samples // (2 * len(some))) for one in some]

    def _more(self, candidate: Candidate, runs: int) -> Candidate:
        first, second = (self._outputs(value, runs) for value in candidate.pair)
        if len(candidate.outputs[0]):
            first, second = (np.concatenate(two) for two in zip(candidate.outputs, (first, second), strict=True))
        return replace(candidate, outputs=(first, second))

    def _learned(self, held: Sequence[Candidate], shapes: Sequence[Shape]) -> list[Learned]:
        found: list[Learned] = []
        for place, one in enumerate(held):
            if len(one.outputs[0]) >= _LEAST_RUNS:
                aim = Aim(self.subject.claim, max(1, self.left // 2), self.effort.confidence, one.steps)
                found += (replace(each, place=place) for each in learn(*one.outputs, aim, shapes))
        self.events += len(found)
        return found

    def _tried(self, held: Sequence[Candidate], listed: Sequence[Learned]) -> Found:
        """Compare events on fresh outputs, and return the one that promises most."""
        places = {one.place for one in listed}
        runs = int(_TRIAL * self.effort.samples) // (2 * len(places))
        tried: list[Learned] = []
        for place in places:
            some = [one for one in listed if one.place == place]
            first, second = (self._hits(value, [one.event for one in some], runs) for value in held[place].pair)
            tried += (_counted(*each, runs) for each in zip(some, first, second, strict=True))
        best = max(tried, key=lambda one: one.promise(_CAUTION))
        pair = held[best.place].pair
        return Found((pair[1], pair[0]) if best.swapped else pair, best)

    def _outputs(self, value: Any, runs: int) -> Outputs:
        pieces: list[Outputs] = []
        for piece in self._pieces(value, min(runs, _MOST_RUNS)):
            pieces.append(piece)
            if sum(map(np.size, pieces)) > _MOST_NUMBERS:
                break
        return np.concatenate(pieces) if pieces else np.zeros((0, 1))

    def _pieces(self, value: Any, runs: int) -> Iterator[Outputs]:
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

    def _hits(self, value: Any, events: Sequence[Event], runs: int) -> list[int]:
        """Return how often each event occurs in fresh runs of an input."""
        hits = [0] * len(events)
        for outputs in self._pieces(value, runs):
            hits = [old + int(event.contains(outputs).sum()) for old, event in zip(hits, events, strict=True)]
        return hits

    def count(self, found: Found, runs: int) -> Counts:
        """Return how often an event occurs in fresh runs, which fair coins share out between the two inputs."""
        assert found.learned is not None
        first = int(self._coins.binomial(runs, 0.5))
        shared, event = (first, runs - first), found.learned.event
        one, other = (self._hits(value, [event], each)[0] for value, each in zip(found.pair, shared, strict=True))
        return Counts((one, other), shared, shared=True, steps=found.learned.aim.steps)


def _counted(learned: Learned, first: int, second: int, runs: int) -> Learned:
    hits = (second, first) if learned.swapped else (first, second)
    return replace(learned, counts=replace(learned.counts, hits=hits, runs=(runs, runs)))
