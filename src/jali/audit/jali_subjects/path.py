"""One way through the planner as a subject: a question about many copies of a small table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

import jali
from jali.audit.jali_subjects.copies import OTHER, PUBLIC, TABLE, Copies, reservoir
from jali.audit.jali_subjects.people import Rows, Whose, crowds, neighbours
from jali.audit.subject import Outputs, Pair, Subject
from jali.planner.terms import Given
from jali.privacy import Adjacency, Approximate, Concentrated, Event, Loss, Pure
from jali.privacy.losses.charged import Charged
from jali.privacy.rationals import Number, rational
from jali.reading import Released

# Stands for a group that was not released: below all that is.
ABSENT = -1e18


@dataclass(frozen=True)
class Path:
    """A question, on which terms it is asked, and of whom.

    Attributes:
        name: What it is about, in a word or two.
        asked: What is selected in each group, `COUNT(*)` for example.
        whose: Whose privacy counts.
        adjacency: When two tables are neighbours.
        rho: The loss in zCDP, in place of epsilon.
        epsilon: The loss.
        delta: The delta that pays for choosing groups.
        by: What it is grouped by besides the number of the copy.
        grouped: The whole GROUP BY, where it is more than a list.
        source: What it is asked of, if not of the plain table.
        terms: Further terms of the question.
        copies: How many copies of each input are asked about at once.
        unique: Whether nobody has two rows, which a key of the table keeps so.
        prepared: Whether a prepared copy of the table is read.
    """

    name: str
    asked: str
    whose: Whose = Whose.ROW
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    rho: Number | None = None
    epsilon: Number = 1
    delta: Number = 0
    by: tuple[str, ...] = ()
    grouped: str | None = None
    source: str = TABLE
    terms: tuple[tuple[str, Any], ...] = ()
    copies: int = 2000
    unique: bool = False
    prepared: bool = False

    @property
    def title(self) -> str:
        """What a report calls it."""
        return ", ".join([self.name, self.question, self.whose, self.adjacency.value, str(self.claim.event)])

    @property
    def claim(self) -> Loss:
        """What the question is asked for, and charged."""
        if self.rho is None:
            return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)
        if not self.delta:
            return Concentrated(self.rho)
        return Charged(Event(None, Fraction(self.rho), rational(self.delta, "delta")))

    @property
    def question(self) -> str:
        """The question in SQL."""
        keys = ", ".join(("trial", *self.by))
        return f"SELECT {keys}, {self.asked} FROM {self.source} GROUP BY {self.grouped or keys}"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Neighbouring tables."""
        find = crowds if self.delta else neighbours
        return find(Whose.ROW if self.unique else self.whose, self.adjacency)

    @property
    def table(self) -> Copies:
        """How the table is declared."""
        beside = tuple(name for name in (OTHER, PUBLIC) if name in self.source)
        return Copies(self.whose, self.adjacency, self.copies, self.unique, self.prepared, beside)

    def subject(self) -> Subject:
        """Return it as a subject."""
        held = reservoir(self.once, self.pairs, self.copies)
        batch = self.copies * len(held.inputs)
        return Subject(self.title, self.claim, self.adjacency, self.pairs, held.draw, self.title, batch=batch)

    def given(self) -> Given:
        """Return the terms on which it is asked."""
        loss = {"epsilon": self.epsilon} if self.rho is None else {"rho": self.rho}
        delta = {"delta": self.delta} if self.delta else {}
        return cast(Given, loss | delta | dict(self.terms))

    def once(self, *inputs: Rows) -> tuple[Outputs, ...]:
        """Ask once, and return all that was released of each copy, for each input."""
        with self.table.opened(*inputs) as database:
            answer = database.ask(self.question, **self.given())
        return self.table.split(released(answer, self.copies * len(inputs), self._candidates))

    @property
    def _candidates(self) -> tuple[str, ...]:
        """The keys that nobody declared and that any of the neighbours has."""
        return tuple(sorted({row[1] for pair in self.pairs for rows in pair for row in rows}))


def released(answer: jali.Answer, copies: int, candidates: Sequence[str] = ()) -> Outputs:
    """Return all that left through the noise about each copy: a row for each."""
    levels = answer.release.levels
    if answer.release.selection is None:
        return np.hstack([_known(level, copies) for level in levels])
    return np.hstack([_chosen(level, copies, candidates) for level in levels])


def _known(level: Released, copies: int) -> Outputs:
    """Read groups that were known before: the copies follow one another."""
    return np.hstack([np.asarray(column, np.float64).reshape(copies, -1) for column in level.noisy])


def _chosen(level: Released, copies: int, candidates: Sequence[str]) -> Outputs:
    """Read groups that were chosen: those that were not are absent."""
    made = np.full((copies, len(candidates), max(1, len(level.noisy))), ABSENT)
    for group, (copy, *others) in enumerate(level.groups):
        place = candidates.index(others[-1]) if others else 0
        made[copy, place] = [column[group] for column in level.noisy] or [1.0]
    return made.reshape(copies, -1)
