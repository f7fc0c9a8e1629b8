"""The tables: every SQL statement of the ledger, inside a transaction that someone else began and ends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jali.errors import LedgerError
from jali.ledger import schema
from jali.ledger.chain import GENESIS, Entry, Kind, canonical
from jali.ledger.debit import Debit
from jali.ledger.declaration import Declaration
from jali.ledger.parts import Part, PartLine, PartSum, Sums, added, largest
from jali.ledger.receipt import Receipt, State
from jali.ledger.record import intact, read_budget, read_debits_text, read_event, write_budget, write_event
from jali.ledger.stores.store import Connection
from jali.privacy import NOTHING, Budget, Event

_LAST = "SELECT seq, digest, kind FROM entries ORDER BY seq DESC"
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
    debits: tuple[Debit, ...]


@dataclass(frozen=True)
class Hit:
    """A released receipt with the wanted key, and whether the analyst who wants it has paid for it."""

    receipt: str
    plan: str
    answer: str
    paid: bool


class Tables:
    """The rows of the ledger, read and written through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def append(self, kind: Kind, body: dict[str, Any]) -> int:
        """Append an entry to the chain and return its number."""
        seq, digest, last = self._one(f"{_LAST} LIMIT 1") or (0, GENESIS, None)
        if last == Kind.MOVE and kind is not Kind.ARRIVE:
            raise self._moved()
        entry = Entry.after(seq, digest, kind, canonical(body))
        self._run(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            (entry.seq, str(entry.kind), entry.body, entry.previous, entry.digest),
        )
        return entry.seq

    def check_here(self) -> None:
        """Refuse to change anything in a ledger that has moved."""
        last = self._one(f"{_LAST} LIMIT 1")
        if last is not None and last[2] == Kind.MOVE:
            raise self._moved()

    def _moved(self) -> LedgerError:
        """Say where the ledger is now."""
        (body,) = self._one("SELECT body FROM entries ORDER BY seq DESC LIMIT 1")
        return moved_to(intact(lambda: str(json.loads(body)["to"])))

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

    def sums(self, account: str, spent: Event, part: Part | None) -> Sums:
        """Return the sums of an account whose sum is `spent`, as a debit of this part sees them."""
        rows = self._schemes(account)
        if part is None and not rows:
            return Sums(common=spent)
        sums = {scheme: _event(text) for scheme, text in rows}
        common = sums.pop("", spent)
        if part is None:
            return Sums(common, added(sums.values()))
        own = sums.pop(part.scheme, NOTHING)
        mine, rival = self._part_sums(account, part)
        return Sums(common, added(sums.values()), own, mine, rival)

    def _schemes(self, account: str) -> list[tuple[str, str]]:
        if not schema.has_parts(self._connection):
            return []
        return list(self._run("SELECT scheme, spent FROM schemes WHERE account = ? ORDER BY seq", (account,)))

    def _part_sums(self, account: str, part: Part) -> tuple[PartSum, Event]:
        """Return the sums of a part; and the largest of the others where a unit can touch two of them."""
        if not schema.has_parts(self._connection):
            return PartSum(), NOTHING
        row = self._one(
            "SELECT inside, apart FROM parts WHERE (account, scheme, key) = (?, ?, ?)",
            (account, part.scheme, part.key),
        )
        mine = PartSum() if row is None else PartSum(_event(row[0]), _event(row[1]))
        if part.together == 1:
            return mine, NOTHING
        others = self._run(
            "SELECT apart FROM parts WHERE account = ? AND scheme = ? AND key <> ?",
            (account, part.scheme, part.key),
        )
        return mine, largest(_event(text) for (text,) in others)

    def together(self, account: str, scheme: str) -> int | None:
        """Return how many parts of a scheme one unit can touch; None if nothing was charged for the scheme."""
        if not schema.has_parts(self._connection):
            return None
        row = self._one("SELECT together FROM schemes WHERE account = ? AND scheme = ?", (account, scheme))
        return None if row is None else int(row[0])

    def put_sums(self, account: str, sums: Sums, part: Part | None) -> None:
        """Replace the sums of an account after a debit."""
        self.put_spent(account, sums.spent)
        if part is not None:
            schema.add_parts(self._connection)
            self._put_scheme(account, "", 0, sums.common)
            self._put_scheme(account, part.scheme, part.together, sums.scheme)
            inside, apart = (canonical(write_event(event)) for event in (sums.part.inside, sums.part.apart))
            self._run(
                "INSERT INTO parts VALUES (?, ?, ?, ?, ?) ON CONFLICT (account, scheme, key) DO UPDATE"
                " SET inside = excluded.inside, apart = excluded.apart",
                (account, part.scheme, part.key, inside, apart),
            )
        elif schema.has_parts(self._connection):
            # Accounts without debits of parts have no such row.
            self._run(
                "UPDATE schemes SET spent = ? WHERE account = ? AND scheme = ''",
                (canonical(write_event(sums.common)), account),
            )

    def _put_scheme(self, account: str, scheme: str, together: int, spent: Event) -> None:
        # Numbered here: a sequence of Postgres would skip the numbers of transactions that were undone.
        self._run(
            "INSERT INTO schemes VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM schemes), ?, ?, ?, ?)"
            " ON CONFLICT (account, scheme) DO UPDATE SET spent = excluded.spent",
            (account, scheme, together, canonical(write_event(spent))),
        )

    def part_lines(self, account: str) -> tuple[PartLine, ...]:
        """Return what an account was charged for each part, scheme after scheme."""
        if not schema.has_parts(self._connection):
            return ()
        rows = self._run(
            "SELECT parts.scheme, key, inside FROM parts JOIN schemes USING (account, scheme)"
            " WHERE account = ? ORDER BY seq, key",
            (account,),
        )
        return tuple(PartLine(scheme, key, _event(inside)) for scheme, key, inside in rows)

    def put_receipt(self, seq: int, *, body: dict[str, Any], plan: str) -> None:
        """Keep a new open receipt, its plan, and its first attempt."""
        names = ("receipt", "analyst", "question", "key")
        row = (seq, *(body[name] for name in names), canonical(body["debits"]), body["at"], 1, None)
        self._run("INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._run("INSERT INTO plans VALUES (?, ?)", (body["receipt"], plan))

    def line(self, receipt: str) -> Line | None:
        """Return the state of one receipt."""
        row = self._one(
            "SELECT analyst, attempts, plans.body, answers.body, debits FROM receipts"
            " JOIN plans ON plans.receipt = id LEFT JOIN answers ON answers.receipt = id WHERE id = ?",
            (receipt,),
        )
        return None if row is None else Line(row[0], row[1], row[2], row[3], read_debits_text(row[4]))

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
            "SELECT id, plans.body, answers.body, analyst = ? OR EXISTS"
            " (SELECT 1 FROM seen WHERE seen.receipt = id AND seen.analyst = ?) AS paid"
            " FROM receipts JOIN plans ON plans.receipt = id JOIN answers ON answers.receipt = id"
            " WHERE key = ? AND released IS NOT NULL ORDER BY paid DESC, released LIMIT 1",
            (analyst, analyst, key),
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

    def open_receipts(self, key: str, analyst: str) -> list[str]:
        """Find the open receipts of a key and an analyst, however often they were tried."""
        rows = self._run(
            "SELECT id FROM receipts WHERE key = ? AND released IS NULL AND analyst = ?", (key, analyst)
        )
        return [row[0] for row in rows]

    def has_seen(self, receipt: str, analyst: str) -> bool:
        """Say whether this analyst's first sight of the receipt was recorded."""
        return self._one("SELECT 1 FROM seen WHERE receipt = ? AND analyst = ?", (receipt, analyst)) is not None

    def put_seen(self, receipt: str, analyst: str) -> None:
        """Keep an analyst's first sight of a receipt."""
        self._run("INSERT INTO seen VALUES (?, ?)", (receipt, analyst))

    def receipts(self, analyst: str | None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, or all."""
        where, values = _of(analyst)
        return tuple(_receipt(row) for row in self._run(f"{_RECEIPT}{where} ORDER BY seq", values))

    def latest_receipts(self, analyst: str | None, most: int) -> tuple[Receipt, ...]:
        """Return the latest receipts of one analyst, or of all, the latest first."""
        where, values = _of(analyst)
        rows = self._run(f"{_RECEIPT}{where} ORDER BY seq DESC LIMIT ?", (*values, most))
        return tuple(_receipt(row) for row in rows)

    def receipt(self, receipt: str) -> Receipt | None:
        """Return one receipt."""
        row = self._one(f"{_RECEIPT} WHERE id = ?", (receipt,))
        return None if row is None else _receipt(row)

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Iterable[Any]:
        return self._connection.execute(statement, values)

    def _one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement, values).fetchone()


def moved_to(place: str) -> LedgerError:
    """Say that nothing is charged here any more, and where instead."""
    return LedgerError(
        f"This ledger has moved to {place}: nothing is charged or changed here any more.",
        remedy="Open it there. If the move was cut off, finish it: jali ledger move.",
    )


def _of(analyst: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if analyst is None else (" WHERE analyst = ?", (analyst,))


def _event(text: str) -> Event:
    return read_event(intact(lambda: json.loads(text)))


def _receipt(row: tuple[Any, ...]) -> Receipt:
    name, analyst, released, question, debits, at = row
    state = State.OPEN if released is None else State.RELEASED
    return Receipt(name, analyst, state, question, read_debits_text(debits), at)
