"""Whole sessions as subjects: several questions through the public interface, and what they cost together.

Later questions may depend on earlier answers. The claim is of everything that a session releases: what its budget
allows, or what its ledger is charged in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

import jali
from jali.lab.audit.subject import Outputs, Subject
from jali.lab.audit.subjects.question_subjects import ABSENT, collect_release
from jali.lab.audit.subjects.table_copies import (
    TABLE,
    WARDS,
    Neighbours,
    Reservoir,
    Rows,
    TableCopies,
    Whose,
    build_everywhere,
    build_neighbours,
    make_reservoir,
)
from jali.privacy import Adjacency, Loss, Pure

Script: TypeAlias = Callable[[jali.Database, int], Outputs]

_COUNT = f"SELECT trial, COUNT(*) FROM {TABLE} GROUP BY trial"
_BY_WARD = f"SELECT trial, ward, COUNT(*) FROM {TABLE} GROUP BY trial, ward"
# What an analyst takes for a large count.
_TWO = 2
# Of sessions that are held one after the other.
_SESSIONS = 10


@dataclass(frozen=True)
class SessionSubject:
    """A session, and of whom it asks.

    Attributes:
        name: What is special about it.
        script: What is asked of a database with so many copies of the rows; a row of numbers for each session.
        claim: What the session may lose in all.
        whose: Whose privacy counts.
        adjacency: When two tables are neighbours.
        copies: How many copies of the rows there are.
        batch: How many sessions the script holds.
        pairs: Neighbouring tables.
    """

    name: str
    script: Script
    claim: Loss
    whose: Whose
    adjacency: Adjacency
    copies: int
    batch: int
    pairs: Neighbours

    @property
    def title(self) -> str:
        """What a report calls it."""
        return ", ".join([self.name, self.whose, self.adjacency.value, str(self.claim.event)])

    def subject(self) -> Subject:
        """Return it as a subject."""
        # Sessions that are held one after the other ask about the whole table, and share it with nobody.
        apart = self.batch != self.copies
        held = Reservoir(self.once) if apart else make_reservoir(self.once, self.pairs, self.copies)
        batch = self.batch * max(1, len(held.inputs))
        return Subject(self.title, self.claim, self.adjacency, self.pairs, held.draw, self.title, batch=batch)

    def once(self, *inputs: Rows) -> tuple[Outputs, ...]:
        """Hold the sessions of one go, about each input."""
        with TableCopies(self.whose, self.adjacency, self.copies).open_database(*inputs) as database:
            return tuple(np.split(self.script(database, self.copies * len(inputs)), len(inputs)))


def register_session(
    name: str,
    script: Script,
    whose: Whose = Whose.PERSON,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    *,
    copies: int = 500,
    batch: int | None = None,
    pairs: Neighbours | None = None,
) -> SessionSubject:
    """Register a session that may lose epsilon 1; by default it is held once for each copy, at the same time."""
    found = build_neighbours(whose, adjacency) if pairs is None else pairs
    return SessionSubject(
        name, script, Pure(1), whose, adjacency, copies, copies if batch is None else batch, found
    )


def ask_adaptively(database: jali.Database, copies: int) -> Outputs:
    """Ask for a count, and look where it was large at other rows than where it was small."""
    analyst = _open_session(database, "ana")
    first = _read_numbers(analyst.ask(_COUNT, epsilon="0.5"), copies)
    large = np.flatnonzero(first[:, 0] > _TWO)
    chosen = ", ".join(map(str, large)) or "-1"
    where = f"(trial IN ({chosen}) AND x > 2) OR (trial NOT IN ({chosen}) AND y > 2)"
    second = analyst.ask(f"SELECT trial, SUM(x) FROM {TABLE} WHERE {where} GROUP BY trial", epsilon="0.5")
    return np.hstack([first, _read_numbers(second, copies)])


def ask_until_refused(database: jali.Database, _: int) -> Outputs:
    """Choose the price of a question by the answer before, and ask until the budget is spent; many times."""
    held = []
    for place in range(_SESSIONS):
        # As if the data were new, and by somebody new: else answers would be recalled.
        database.refresh(TABLE)
        held.append(_spend_budget(_open_session(database, f"analyst {place}")))
    return np.array(held, np.float64)


def _spend_budget(analyst: jali.Session) -> list[float]:
    first = float(analyst.ask(f"SELECT COUNT(*) FROM {TABLE}", epsilon="0.4").rows[0][0])
    found = [first, ABSENT, ABSENT]
    with suppress(jali.BudgetExceeded):
        price = "0.6" if first > _TWO else "0.3"
        found[1] = float(analyst.ask(f"SELECT SUM(x) FROM {TABLE}", epsilon=price).rows[0][0])
        found[2] = float(analyst.ask(f"SELECT SUM(y) FROM {TABLE}", epsilon="0.3").rows[0][0])
    return found


def ask_batch(database: jali.Database, copies: int) -> Outputs:
    """Ask two questions together, whose answers are made to agree."""
    with database.batch(epsilon=1) as asked:
        asked.ask(_COUNT)
        asked.ask(_BY_WARD)
    return np.hstack([_read_numbers(answer, copies) for answer in asked.answers])


def ask_parts(database: jali.Database, copies: int) -> Outputs:
    """Ask each part of a table for the whole price, which is charged once."""
    answers = [database.ask(_COUNT, epsilon=1, part={"ward": ward}) for ward in WARDS]
    return np.hstack([collect_release(answer, copies) for answer in answers])


def ask_again(database: jali.Database, copies: int) -> Outputs:
    """Ask the same question three times, which costs as much as once."""
    answers = [database.ask(_COUNT, epsilon=1) for _ in range(3)]
    return np.hstack([collect_release(answer, copies) for answer in answers])


def _open_session(database: jali.Database, analyst: str) -> jali.Session:
    """Return the session of an analyst who may spend what is claimed."""
    database.grant(analyst, TABLE, jali.Budget(epsilon=1))
    return database.session(analyst)


def _read_numbers(answer: jali.Answer, copies: int) -> Outputs:
    """Return the numbers of an answer about each copy, after they were made to agree."""
    return np.array([float(row[-1]) for row in answer.rows], np.float64).reshape(copies, -1)


SESSIONS: tuple[SessionSubject, ...] = (
    register_session("adaptive questions", ask_adaptively, copies=200),
    register_session("adaptive questions", ask_adaptively, Whose.ROW, Adjacency.REPLACE_ONE, copies=200),
    register_session("questions until refused", ask_until_refused, copies=1, batch=_SESSIONS),
    register_session("batch", ask_batch),
    register_session("batch", ask_batch, Whose.ROW, Adjacency.REPLACE_ONE),
    register_session("disjoint parts", ask_parts, pairs=build_everywhere()),
    register_session("the same question again", ask_again, Whose.ROW),
)
