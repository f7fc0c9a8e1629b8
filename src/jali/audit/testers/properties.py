"""Properties: what must not depend on the data at all, or not beyond what was declared.

Here: whether a run fails, warns, or gives NaN, an infinity or another number of numbers, compared between
neighbours. Beside it: declared against searched sensitivity (sensitivity.py), and the ledger within its budget
(overspending.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from jali.audit.effort import Effort
from jali.audit.events.outcome import Watch, watched
from jali.audit.events.promise import Aim
from jali.audit.finding import Finding
from jali.audit.subject import Pair, Subject
from jali.audit.testers.rates import Choice, Sources, choice, count, finding
from jali.audit.testers.tester import Progress, Tester, silent

# Runs on which an outcome is chosen, for each input, and on which it is tried, for both together.
_CHOOSING, _TRYING = 200, 20_000
_MOST_PAIRS = 64


@dataclass(frozen=True)
class Properties(Tester):
    """Compares how runs end on neighbouring inputs.

    The outcome that seems to tell most is chosen on some runs and counted on fresh ones, so that a rare failure
    that chance put on one side accuses nobody.

    Attributes:
        extremes: Neighbours to try before those of the subject: tables with NaN, infinities, None, huge numbers or
            no rows, as `jali.audit.neighbours.extremes_for` makes them. The claim must cover them.
    """

    name: ClassVar[str] = "properties"

    extremes: tuple[Pair, ...] = ()

    def applies(self, subject: Subject) -> bool:
        """Return whether there are neighbours."""
        return bool(subject.pairs or self.extremes)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Run the subject under watch on all pairs, then on the pair that seems to tell, if any does."""
        sources = Sources.of(effort.seed)
        pairs = (*self.extremes, *subject.pairs)[:_MOST_PAIRS]
        each = max(1, min(_CHOOSING, effort.samples // (4 * len(pairs))))
        looked = 2 * each * len(pairs)
        progress(f"watching {looked} runs on {len(pairs)} pairs")
        total = max(2, min(_TRYING, effort.samples) - looked)
        watching, watch = watched(subject)
        aim = Aim(subject.claim, total // 2, effort.confidence)
        best = max(_choices(watching, watch, pairs, each, sources.random, aim), key=lambda chosen: chosen.promise)
        counts = count(watching, best, total if best.tells else 0, sources)
        found = finding(subject, best, counts, effort, self.name)
        tried = f"errors, warnings, NaN, infinities, kinds and lengths on {len(pairs)} pairs"
        return replace(found, samples=looked + sum(counts.runs), tried=tried)


def _choices(
    subject: Subject,
    watch: Watch,
    pairs: tuple[Pair, ...],
    each: int,
    random: np.random.Generator,
    aim: Aim,
) -> Iterator[Choice]:
    """Yield the ways in which runs on each pair ended, with what they promise."""
    for pair in pairs:
        one, other = (subject.draw(value, each, random) for value in pair)
        for event in watch.outcomes(np.concatenate([one, other])):
            yield choice(event, pair, (one, other), aim)
