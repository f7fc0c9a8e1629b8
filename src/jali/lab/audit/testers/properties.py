"""Properties: what must not depend on the data at all, or not beyond what was declared.

Here: whether a run fails, warns, or gives NaN, an infinity or another number of numbers, compared between
neighbours. Any of them that depends on the data is an output like any other: a mechanism that fails on one
table and not on its neighbour has told which of the two it was (Haeberlen, Pierce and Narayan 2011 on such
channels). Beside it: declared against searched sensitivity (`audit_sensitivity`), and the ledger within its
budget (`audit_spending`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.encoder import ANYTHING_ELSE, OTHER_KINDS, Encoder
from jali.lab.audit.events.event_rates import (
    EventAim,
    EventChoice,
    RandomSources,
    choose_direction,
    count_choice,
    make_finding,
)
from jali.lab.audit.events.output_event import OutputEvent
from jali.lab.audit.flatten import FAILURES, hash_text
from jali.lab.audit.function_caller import BatchResult, isolate_failures
from jali.lab.audit.subject import Draw, Effort, Finding, Outputs, Pair, Progress, Subject, Tester, silent

# The columns of what `watch_runs` draws; after them come those in which an encoder tells the forms of outputs.
RAISED, WARNED, NANS, INFINITIES, NUMBERS, FORMS = range(6)
_WORDS = ("raises {}", "warns {}", "gives {} NaN", "gives {} infinities", "gives {} numbers")
# How an encoder calls columns that hold no values.
_FORM_COLUMNS = ("kind of ", "length of ", OTHER_KINDS, ANYTHING_ELSE)


@dataclass(frozen=True)
class Outcome(OutputEvent):
    """A run ends in a certain way: on the outputs of a watched subject.

    Attributes:
        column: Which trait: `RAISED`, `WARNED`, `NANS`, `INFINITIES`, `NUMBERS`, or, from `FORMS` on, a form.
        code: Its number; the hash of the name of an error or a warning, 0 for none.
        name: What that number stands for.

    Example:
        >>> str(Outcome(NANS, 1.0, "1")), str(Outcome(RAISED, hash_text("ValueError"), "ValueError"))
        ('the run gives 1 NaN', 'the run raises ValueError')
    """

    kind: ClassVar[str] = "outcome"

    column: int
    code: float
    name: str

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which runs end so."""
        return np.asarray(outputs[:, self.column] == self.code)

    def __str__(self) -> str:
        if self.column < FORMS:
            return f"the run {_WORDS[self.column].format(self.name)}"
        return f"the {self.name}"


def watch_runs(subject: Subject) -> tuple[Subject, RunWatch]:
    """Return the subject whose outputs are the traits of its runs, and what watches them."""
    columns = () if subject.encoder is None else subject.encoder.columns
    forms = tuple(place for place, name in enumerate(columns) if name.startswith(_FORM_COLUMNS))
    watch = RunWatch(subject.draw, forms, subject.encoder)
    return replace(subject, draw=watch, log_masses=None, encoder=None), watch


@dataclass(frozen=True)
class RunWatch:
    """Draws the traits of runs in place of their outputs.

    Attributes:
        draw: What is watched.
        forms: The columns of its outputs that tell their form.
        encoder: What those columns mean.
        names: The names behind the hashes that were seen so far.
    """

    draw: Draw
    forms: tuple[int, ...] = ()
    encoder: Encoder | None = None
    names: dict[float, str] = field(default_factory=lambda: {0.0: "nothing"})

    def __call__(self, value: Any, count: int, random: np.random.Generator | None) -> Outputs:
        """Run many at once, and fewer where any of them raised or warned: it is to be known which.

        Guarantee:
            The traits are those of independent runs: see `isolate_failures`.
        """
        pieces = isolate_failures(lambda size: self._call(value, size, random), count)
        return np.concatenate(pieces)

    def outcomes(self, traits: Outputs) -> Iterator[Outcome]:
        """Yield every way in which runs ended, the rare ones of each trait first: they say most in words."""
        for column in range(traits.shape[1]):
            codes, counts = np.unique(traits[:, column], return_counts=True)
            for code in codes[np.lexsort((-codes, counts))].tolist():
                yield Outcome(column, code, self._name(column, code))

    def _name(self, column: int, code: float) -> str:
        if column in (RAISED, WARNED):
            return self.names[code]
        if column < FORMS or self.encoder is None:
            return f"{code:g}"
        form = self.forms[column - FORMS]
        if self.encoder.columns[form] == OTHER_KINDS:
            return (
                f"form is new: {self.encoder.describe(form, code)}" if code else "form is one of those seen before"
            )
        return f"{self.encoder.columns[form]} is {self.encoder.describe(form, code)}"

    def _call(self, value: Any, count: int, random: np.random.Generator | None) -> BatchResult[Outputs]:
        traits = self._traits(value, count, random)
        return BatchResult(traits, failed=bool(np.any(traits[:, [RAISED, WARNED]])))

    def _traits(self, value: Any, count: int, random: np.random.Generator | None) -> Outputs:
        made = np.zeros((count, FORMS + len(self.forms)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outputs = self.draw(value, count, random)
            except FAILURES as error:  # whatever it is, somebody sees it
                made[:, RAISED] = self._code([type(error).__name__])
            else:
                made[:, NANS] = np.isnan(outputs).sum(axis=1)
                made[:, INFINITIES] = np.isinf(outputs).sum(axis=1)
                made[:, NUMBERS] = outputs.shape[1]
                made[:, FORMS:] = outputs[:, self.forms]
        made[:, WARNED] = self._code(sorted({one.category.__name__ for one in caught}))
        return made

    def _code(self, words: list[str]) -> float:
        if not words:
            return 0.0
        name = ", ".join(words)
        self.names[hash_text(name)] = name
        return hash_text(name)


# Runs on which an outcome is chosen, for each input, and on which it is tried, for both together.
_CHOOSING, _TRYING = 200, 20_000
_MOST_PAIRS = 64


@dataclass(frozen=True)
class Properties(Tester):
    """Compares how runs end on neighbouring inputs.

    The outcome that seems to reveal most is chosen on some runs and counted on fresh ones, so that a rare failure
    that chance put on one side accuses nobody.

    Attributes:
        extremes: Neighbours to try before those of the subject: tables with NaN, infinities, None, huge numbers or
            no rows, as `jali.lab.audit.neighbours.build_extremes` makes them. The claim must cover them.
    """

    name: ClassVar[str] = "properties"

    extremes: tuple[Pair, ...] = ()

    def applies(self, subject: Subject) -> bool:
        """Return whether there are neighbours."""
        return bool(subject.pairs or self.extremes)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Run the subject under watch on all pairs, then on the pair that seems to reveal most, if any does."""
        sources = RandomSources.of(effort.seed)
        pairs = (*self.extremes, *subject.pairs)[:_MOST_PAIRS]
        each = max(1, min(_CHOOSING, effort.samples // (4 * len(pairs))))
        looked = 2 * each * len(pairs)
        progress(f"watching {looked} runs on {len(pairs)} pairs")
        total = max(2, min(_TRYING, effort.samples) - looked)
        watching, watch = watch_runs(subject)
        aim = EventAim(subject.claim, total // 2, effort.confidence)
        best = max(
            _propose_choices(watching, watch, pairs, each, sources.random, aim), key=lambda chosen: chosen.promise
        )
        counts = count_choice(watching, best, total if best.tells else 0, sources)
        found = make_finding(subject, best, counts, effort, self.name)
        tried = f"errors, warnings, NaN, infinities, kinds and lengths on {len(pairs)} pairs"
        return replace(found, samples=looked + sum(counts.runs), tried=tried)


def _propose_choices(
    subject: Subject,
    watch: RunWatch,
    pairs: tuple[Pair, ...],
    each: int,
    random: np.random.Generator,
    aim: EventAim,
) -> Iterator[EventChoice]:
    """Yield the ways in which runs on each pair ended, with what they promise."""
    for pair in pairs:
        one, other = (subject.draw(value, each, random) for value in pair)
        for event in watch.outcomes(np.concatenate([one, other])):
            yield choose_direction(event, pair, (one, other), aim)
