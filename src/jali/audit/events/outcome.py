"""What a run shows besides its numbers: an error, a warning, a NaN, an infinity, how many numbers there are.

Any of them that depends on the data is an output like any other: a mechanism that fails on one table and not on
its neighbour has told which of the two it was (Haeberlen, Pierce and Narayan 2011 on such channels).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.audit.batches import Call, one_by_one
from jali.audit.encoding import ANYTHING_ELSE, OTHER_KINDS, Encoder
from jali.audit.events.event import Event
from jali.audit.leaves import FAILURES, hashed
from jali.audit.subject import Draw, Outputs, Subject

# The columns of what `watched` draws; after them come those in which an encoder tells the forms of outputs.
RAISED, WARNED, NANS, INFINITIES, NUMBERS, FORMS = range(6)
_WORDS = ("raises {}", "warns {}", "gives {} NaN", "gives {} infinities", "gives {} numbers")
# How an encoder calls columns that hold no values.
_FORMS = ("kind of ", "length of ", OTHER_KINDS, ANYTHING_ELSE)


@dataclass(frozen=True)
class Outcome(Event):
    """A run ends in a certain way: on the outputs of a watched subject.

    Attributes:
        column: Which trait: `RAISED`, `WARNED`, `NANS`, `INFINITIES`, `NUMBERS`, or, from `FORMS` on, a form.
        code: Its number; the hash of the name of an error or a warning, 0 for none.
        name: What that number stands for.

    Example:
        >>> str(Outcome(NANS, 1.0, "1")), str(Outcome(RAISED, hashed("ValueError"), "ValueError"))
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"kind": self.kind, **asdict(self)}


def watched(subject: Subject) -> tuple[Subject, Watch]:
    """Return the subject whose outputs are the traits of its runs, and what watches them."""
    columns = () if subject.encoder is None else subject.encoder.columns
    forms = tuple(place for place, name in enumerate(columns) if name.startswith(_FORMS))
    watch = Watch(subject.draw, forms, subject.encoder)
    return replace(subject, draw=watch, log_masses=None, encoder=None), watch


@dataclass(frozen=True)
class Watch:
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
            The traits are those of independent runs: see `batches`.
        """
        pieces = one_by_one(lambda size: self._called(value, size, random), count, _behind)
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
            return f"form is new: {self.encoder.said(form, code)}" if code else "form is one of those seen before"
        return f"{self.encoder.columns[form]} is {self.encoder.said(form, code)}"

    def _called(self, value: Any, count: int, random: np.random.Generator | None) -> Call[Outputs]:
        traits = self._traits(value, count, random)
        return Call(traits, failed=bool(np.any(traits[:, [RAISED, WARNED]])))

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
        self.names[hashed(name)] = name
        return hashed(name)


def _behind(failed: Outputs, others: Outputs, count: int) -> Outputs:
    return np.concatenate([failed[:1], others[: count - 1]])
