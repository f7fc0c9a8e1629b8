"""The tables: every SQL statement of the ledger, inside a transaction that someone else began and ends."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.ledger.chain import GENESIS, Entry, Kind, canonical
from jali.ledger.declaration import Declaration
from jali.ledger.receipt import Receipt, State
from jali.ledger.record import intact, read_budget, read_debits_text, read_event, write_budget, write_event
from jali.privacy import NOTHING, Budget, Event

if TYPE_CHECKING:
    import sqlite3

_RECEIPT = "SELECT id, analyst, released, question, debits, at FROM receipts"


@dataclass(frozen=True)
class Account:
    """A budget and what was spent of it."""

    budget: Budget
    spent: Event


@dataclass(frozen=True)
class Line:
    """The state of one receipt."""

    analyst: str
    attempts: int
    plan: str
    answer: str | None


@dataclass(frozen=True)
class Hit:
    """A released receipt with the wanted key, and whether the analyst who wants it has paid for it."""

    receipt: str
    plan: str
    answer: str
    paid: bool


class Tables:
    """The rows of the ledger, read and written through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def append(self, kind: Kind, body: dict[str, Any]) -> int:
        """Append an entry to the chain and return its number."""
        seq, digest = self._one("SELECT seq, digest FROM entries ORDER BY seq DESC LIMIT 1") or (0, GENESIS)
        entry = Entry.after(seq, digest, kind, canonical(body))
        self._run(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            (entry.seq, entry.kind, entry.body, entry.previous, entry.digest),
        )
        return entry.seq

    def declaration(self, name: str) -> Declaration | None:
        """Return the latest declaration under a name."""
        row = self._one("SELECT name, body, version, data_version FROM declarations WHERE name = ?", (name,))
        return None if row is None else Declaration(*row)

    def declarations(self) -> tuple[Declaration, ...]:
        """Return the latest declaration of every name."""
        rows = self._run("SELECT name, body, version, data_version FROM declarations ORDER BY seq")
        return tuple(Declaration(*row) for row in rows)

    def put_declaration(self, seq: int, new: Declaration) -> None:
        """Keep the latest declaration; a name keeps the place of its first one."""
        self._run(
            "INSERT INTO declarations VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
            " SET body = excluded.body, version = excluded.version, data_version = excluded.data_version",
            (seq, new.name, new.body, new.version, new.data_version),
        )

    def account(self, name: str) -> Account | None:
        """Return the budget and the sum of an account."""
        row = self._one("SELECT budget, spent FROM accounts WHERE name = ?", (name,))
        if row is None:
            return None
        budget, spent = intact(lambda: (json.loads(row[0]), json.loads(row[1])))
        return Account(read_budget(budget), read_event(spent))

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all accounts."""
        return tuple(name for (name,) in self._run("SELECT name FROM accounts ORDER BY seq"))

    def put_account(self, seq: int, name: str, budget: Budget) -> None:
        """Open an account with nothing spent."""
        row = (seq, name, canonical(write_budget(budget)), canonical(write_event(NOTHING)))
        self._run("INSERT INTO accounts VALUES (?, ?, ?, ?)", row)

    def put_spent(self, name: str, spent: Event) -> None:
        """Replace the sum of an account."""
        self._run("UPDATE accounts SET spent = ? WHERE name = ?", (canonical(write_event(spent)), name))

    def put_receipt(self, seq: int, *, body: dict[str, Any], plan: str) -> None:
        """Keep a new open receipt, its plan, and its first attempt."""
        names = ("receipt", "analyst", "question", "key")
        row = (seq, *(body[name] for name in names), canonical(body["debits"]), body["at"], 1, None)
        self._run("INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._run("INSERT INTO plans VALUES (?, ?)", (body["receipt"], plan))

    def line(self, receipt: str) -> Line | None:
        """Return the state of one receipt."""
        row = self._one(
            "SELECT analyst, attempts, plans.body, answers.body FROM receipts"
            " JOIN plans ON plans.receipt = id LEFT JOIN answers ON answers.receipt = id WHERE id = ?",
            (receipt,),
        )
        return None if row is None else Line(*row)

    def put_attempt(self, receipt: str, attempts: int) -> None:
        """Keep the number of attempts."""
        self._run("UPDATE receipts SET attempts = ? WHERE id = ?", (attempts, receipt))

    def put_answer(self, seq: int, receipt: str, answer: str) -> None:
        """Keep the answer and close the receipt."""
        self._run("INSERT INTO answers VALUES (?, ?)", (receipt, answer))
        self._run("UPDATE receipts SET released = ? WHERE id = ? AND released IS NULL", (seq, receipt))

    def hit(self, key: str, analyst: str) -> Hit | None:
        """Find the answer of a key: one that the analyst has paid for if there is one, else the first.

        Two analysts who ask at once may both reserve the same key.
        """
        row = self._one(
            "SELECT id, plans.body, answers.body, analyst = :analyst OR EXISTS"
            " (SELECT 1 FROM seen WHERE seen.receipt = id AND seen.analyst = :analyst) AS paid"
            " FROM receipts JOIN plans ON plans.receipt = id JOIN answers ON answers.receipt = id"
            " WHERE key = :key AND released IS NOT NULL ORDER BY paid DESC, released LIMIT 1",
            {"key": key, "analyst": analyst},
        )
        return None if row is None else Hit(row[0], row[1], row[2], bool(row[3]))

    def owed(self, key: str, analyst: str, most: int) -> tuple[str, int] | None:
        """Find an open receipt of a key and an analyst that has attempts left, and how many it had."""
        row = self._one(
            "SELECT id, attempts FROM receipts"
            " WHERE key = ? AND released IS NULL AND analyst = ? AND attempts < ? ORDER BY seq LIMIT 1",
            (key, analyst, most),
        )
        return None if row is None else (row[0], row[1])

    def has_seen(self, receipt: str, analyst: str) -> bool:
        """Say whether this analyst's first sight of the receipt was recorded."""
        return self._one("SELECT 1 FROM seen WHERE receipt = ? AND analyst = ?", (receipt, analyst)) is not None

    def put_seen(self, receipt: str, analyst: str) -> None:
        """Keep an analyst's first sight of a receipt."""
        self._run("INSERT INTO seen VALUES (?, ?)", (receipt, analyst))

    def receipts(self, analyst: str | None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, or all."""
        rows = self._run(f"{_RECEIPT} WHERE ?1 IS NULL OR analyst = ?1 ORDER BY seq", (analyst,))
        return tuple(_receipt(row) for row in rows)

    def _run(self, statement: str, values: Any = ()) -> Iterable[Any]:
        return self._connection.execute(statement, values)

    def _one(self, statement: str, values: Any = ()) -> Any:
        return self._connection.execute(statement, values).fetchone()


def _receipt(row: tuple[Any, ...]) -> Receipt:
    name, analyst, released, question, debits, at = row
    state = State.OPEN if released is None else State.RELEASED
    return Receipt(name, analyst, state, question, read_debits_text(debits), at)
