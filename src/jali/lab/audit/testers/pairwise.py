"""Compare neighbouring inputs pairwise: how likely a learned event is under each, on fresh outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jali.lab.audit.events.event_rates import estimate_runs
from jali.lab.audit.events.event_search import EventSearch, FoundEvent, LearnedEvent
from jali.lab.audit.loss_bounds import EventCounts, LossBound, estimate_bound, is_refuted, prove_bound
from jali.lab.audit.subject import Effort, Finding, Progress, Subject, Tester, Verdict, Witness, silent

# Blocks of fresh outputs grow by a factor, from a share of them.
_FIRST, _GROWTH = Fraction(1, 64), 1.5
# An honest subject that spends all it claims has rates above its claim in every second audit; this far in few.
_SUSPICIOUS = Fraction(9, 10)
# The share of the error that all looks before the last one get.
_EARLY = Fraction(1, 5)


@dataclass(frozen=True)
class Pairwise(Tester):
    """Compares neighbouring inputs by an event.

    First few outputs of all pairs are drawn, then more of the best ones, and an event is learned. Then fresh
    outputs are drawn, a fair coin deciding for each which input it is of, in growing blocks.

    Attributes:
        early: Whether to stop as soon as a violation is proved. If not, all samples go into the bound.

    Guarantee:
        If the claim is true, a violation is reported with probability at most 1 - effort.confidence: a fifth of
        that for all looks before the last one together (`bound_probability`), the rest for the last one
        (`prove_bound`). The pair and the event are chosen on outputs that are not used again.
    """

    name: ClassVar[str] = "pairwise"

    early: bool = True

    def applies(self, subject: Subject) -> bool:
        """Return whether there are neighbours to compare."""
        return bool(subject.pairs)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Try, within the effort, and say what was found."""
        search = EventSearch(subject, effort)
        progress(f"learning an event from {len(search.candidates)} pairs of inputs")
        found = search.best()
        if found.learned is None:
            return _make_finding(
                search, Witness(found.pair), estimate_bound(EventCounts((0, 0), (1, 1)), subject.claim)
            )
        progress(f"event: {found.learned.event}")
        counts, bound = self._prove(search, found, found.learned)
        witness = Witness(found.pair, None, found.learned.event, counts.hits, counts.runs, counts.steps)
        return _make_finding(search, witness, bound)

    def _prove(
        self, search: EventSearch, found: FoundEvent, learned: LearnedEvent
    ) -> tuple[EventCounts, LossBound]:
        """Draw fresh outputs until a violation is proved, or no samples are left."""
        claim, error = search.subject.claim, 1 - search.effort.confidence
        share = _EARLY if self.early else Fraction(0)
        counts = EventCounts((0, 0), (0, 0), shared=True, steps=learned.counts.steps)
        for block in _list_blocks(search.remaining):
            counts += search.count(found, block)
            if self.early and search.remaining:
                bound = prove_bound(counts, claim, 1 - share * error, before=learned.counts)
                if bound.is_violated:
                    return counts, bound
        return counts, prove_bound(counts, claim, 1 - (1 - share) * error)


def _list_blocks(samples: int) -> Iterator[int]:
    """Yield how many outputs to draw before each look."""
    block = max(1, int(samples * _FIRST))
    while samples:
        size = samples if samples < 2 * block else block
        yield size
        samples, block = samples - size, int(block * _GROWTH) + 1


def _make_finding(search: EventSearch, witness: Witness, bound: LossBound) -> Finding:
    subject, effort, reading = search.subject, search.effort, bound.reading
    verdict = Verdict.VIOLATION if bound.is_violated else Verdict.NOTHING_FOUND
    return Finding(
        subject.name,
        subject.adjacency,
        reading.kind,
        reading.claimed,
        bound.found,
        witness,
        verdict,
        tester=Pairwise.name,
        confidence=float(effort.confidence),
        samples=search.drawn,
        needed=None if bound.is_violated else _estimate_samples(search, witness),
        tried=_describe_search(search, bound),
    )


def _estimate_samples(search: EventSearch, witness: Witness) -> int | None:
    """Return how many samples would prove a violation, with as large a part of them for the search as here.

    None where the rates are above the claim by no more than chance often puts them there.
    """
    runs, counts = sum(witness.runs), EventCounts(witness.hits, witness.runs, shared=True, steps=witness.steps)
    if not runs or not is_refuted(counts, search.subject.claim, _SUSPICIOUS):
        return None
    fresh = estimate_runs(
        EventCounts(witness.hits, witness.runs, steps=witness.steps),
        search.subject.claim,
        search.effort.confidence,
    )
    return None if fresh is None else fresh * search.drawn // runs


def _describe_search(search: EventSearch, bound: LossBound) -> str:
    pairs, known, events = search.pairs, len(search.candidates), search.events
    of_them = "" if pairs == known else f" of {known}"
    said = f"{pairs}{of_them} pair{'s' * (known != 1)} both ways, {events} event{'s' * (events != 1)}"
    return f"{said}, at delta {bound.reading.delta:g}" if bound.reading.delta else said
