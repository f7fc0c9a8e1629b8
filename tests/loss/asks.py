"""Asking: a question, a batch or questions on several parts; what it was charged, what met noise, what left."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from tests.fuzz.world import PROTECTED, SHAPES, House, Row, World
from tests.loss.seen import Draw
from tests.loss.watch import Watch

import jali
from jali.ledger import table_account
from jali.privacy import Event

Terms: TypeAlias = dict[str, Any]
# Receipts have random names.
_RECEIPT = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Asked:
    """What is asked at once: one question, several in a batch, or one question on several parts.

    Attributes:
        questions: Texts with their terms.
        batch: The total of a batch; None where questions are asked one by one.
    """

    questions: tuple[tuple[str, Terms], ...]
    batch: Terms | None = None

    def __repr__(self) -> str:
        lines = [f"ask({sql!r}, **{terms})" for sql, terms in self.questions]
        return "\n  ".join(lines if self.batch is None else [f"batch(**{self.batch}):", *lines])

    def ask(self, db: jali.Database) -> list[tuple[str, bool, Any]]:
        """Ask, and return receipts, whether each was recalled, and what the answers show."""
        if self.batch is None:
            answers = [db.ask(sql, **terms) for sql, terms in self.questions]
            return [(answer.receipt, answer.cached, repr(answer.rows)) for answer in answers]
        with db.batch(**self.batch) as batch:
            for sql, terms in self.questions:
                batch.ask(sql, **terms)
        found = batch.result
        return [(found.receipt, found.cached, [repr(answer.rows) for answer in found])]

    def is_pure(self, db: jali.Database) -> bool:
        """Say whether everything about it has an epsilon: for choosing a database to ask, and for nothing else."""
        losses = [self.batch or {}, *(terms for _, terms in self.questions)]
        if any("rho" in terms or terms.get("noise") == "gaussian" for terms in losses):
            return False
        if self.batch is None or "delta" not in self.batch:
            return True
        batch = db.batch(**self.batch)
        for sql, terms in self.questions:
            batch.ask(sql, **terms)
        try:
            return all(cost.epsilon is not None for _, cost in batch.explain().costs)
        except jali.JaliError:
            return True


@dataclass(frozen=True)
class Outcome:
    """What came of asking.

    Attributes:
        refused: The class and words of a refusal; empty if there were answers.
        charged: What each table was charged; without those that were charged nothing.
        draws: What met noise.
        left: What left of each plan: the releases as the ledger keeps them.
        shown: What the answers show.
    """

    refused: str
    charged: dict[str, Event]
    draws: list[Draw]
    left: list[Any] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)


@dataclass
class Desk:
    """Asks a database on one world after the other, and reads its books.

    Attributes:
        home: The database.
        watch: What sees all that meets noise.
        world: What the database reads now.
        sums: What the accounts have spent, when they were last read.
    """

    home: House
    watch: Watch
    world: World = field(default_factory=dict)
    sums: dict[str, Event] = field(default_factory=dict)

    def move_in(self, world: World) -> None:
        """Give the database a world, as data that nobody has asked about."""
        for shape in PROTECTED:
            if self.world is world:
                self.home.ledger.refresh(shape.name)
            else:
                self.give(shape.name, world[shape.name])
        self.world = world

    def give(self, name: str, rows: list[Row]) -> None:
        """Give the database other rows of one table, as new data also where they are the old ones."""
        self.home.db.tables.attach(name, SHAPES[name].frame(rows))
        self.home.ledger.refresh(name)

    def ask(self, asked: Asked) -> Outcome:
        """Ask, and say what came of it."""
        before = self.sums or self._read_books()
        self.watch.begin()
        try:
            found = asked.ask(self.home.db)
        except jali.JaliError as refusal:
            found, refused = [], _RECEIPT.sub("...", f"{type(refusal).__name__}: {refusal}")
        else:
            refused = ""
        assert not any(cached for _, cached, _ in found), "an answer was recalled"
        stored = [self._stored(receipt) for receipt, _, _ in found]
        left = [plan for plans in stored for plan in plans] if asked.batch is not None else stored
        self.sums = self._read_books()
        grown = {name: _less(self.sums[name], event) for name, event in before.items() if self.sums[name] != event}
        return Outcome(refused, grown, self.watch.draws, left, [shown for *_, shown in found])

    def _stored(self, receipt: str) -> Any:
        released = self.home.ledger.find_release(receipt, analyst=None)
        assert released is not None
        assert released.answer is not None
        return json.loads(released.answer)

    def _read_books(self) -> dict[str, Event]:
        """Return what the account of each table has spent: `Account.spent` of `Database.accounts`."""
        return {shape.name: self.home.ledger.spent(table_account(shape.name)) for shape in PROTECTED}


def _less(after: Event, before: Event) -> Event:
    pure = after.epsilon is not None and before.epsilon is not None
    epsilon = (after.epsilon or Fraction(0)) - (before.epsilon or Fraction(0)) if pure else None
    return Event(epsilon, after.rho - before.rho, after.delta - before.delta)
