"""The tables of the ledger: every SQL statement on them, inside a transaction that somebody else ends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jali.errors import LedgerError
from jali.ledger.chain import GENESIS, ChainEntry, ChainHead, EntryKind, canonical, fingerprint, make_damage_error
from jali.ledger.charge import Debit
from jali.ledger.ledger_records import (
    Declaration,
    Receipt,
    ReceiptState,
    intact,
    read_budget,
    read_debits_text,
    read_event,
    write_budget,
    write_event,
)
from jali.ledger.row_digests import ROWS
from jali.ledger.stores.base import StoreConnection
from jali.ledger.subpopulation_sums import (
    AccountSums,
    DebitSubpopulation,
    SubpopulationSpending,
    SubpopulationSum,
    add_events,
    largest,
)
from jali.privacy import NOTHING, Budget, Event
from jali.serialization.answer_keys import KEY_FORM

_RECEIPT = "SELECT id, analyst, released, question, debits, at FROM receipts"
# With the kind written out, as in the indexes that serve it.
_OF_KIND = "SELECT body FROM entries WHERE kind = '{}'"
_ENTRY = "SELECT seq, kind, body, previous, digest, form FROM entries"


@dataclass(frozen=True)
class LedgerAccount:
    """A budget and what was spent of it."""

    budget: Budget
    spent: Event


@dataclass(frozen=True)
class ReceiptLine:
    """The state of one receipt.

    Attributes:
        analyst: Who reserved it.
        attempts: How often somebody began to answer it.
        plan: The frozen plan.
        answer: What was released; None while it is open.
        debits: What it was paid by.
        released: The number of the entry that released it.
    """

    analyst: str
    attempts: int
    plan: str
    answer: str | None
    debits: tuple[Debit, ...]
    released: int | None = None


@dataclass(frozen=True)
class RecallHit:
    """A released receipt with the wanted key, and whether the analyst who wants it has paid for it."""

    receipt: str
    plan: str
    answer: str
    paid: bool
    released: int


@dataclass(frozen=True)
class QuestionHistory:
    """What the ledger knows of a question at one moment.

    Attributes:
        hit: What was released under its key.
        earlier: The keys that versions 0.1 and 0.2 reserved it under, each with its frozen plan.
        grants: The accounts that are open, of those of the grants that are to pay.
    """

    hit: RecallHit | None
    earlier: tuple[tuple[str, str], ...]
    grants: tuple[str, ...]


class LedgerTables:
    """The rows of the ledger, read and written through one connection.

    Guarantee:
        A row that a debit, an attempt, a recall or a release depends on is checked against the entry that wrote it
        last (`row_digests.py`), and a row that should be there and is not found is noticed. So a changed byte is
        an error when it is read, never a budget.
    """

    def __init__(self, connection: StoreConnection) -> None:
        self._connection = connection
        self._last: ChainEntry | None = None
        self._mentions: dict[tuple[Any, ...], list[Any]] = {}
        self._changed: dict[str, LedgerAccount] = {}
        self._kinds: set[EntryKind] = set()
        self._known: dict[int, list[Any]] = {}

    # The chain.

    @property
    def connection(self) -> StoreConnection:
        """The transaction."""
        return self._connection

    @property
    def kinds(self) -> frozenset[EntryKind]:
        """What kinds of entries were appended in this transaction."""
        return frozenset(self._kinds)

    @property
    def changes(self) -> dict[str, LedgerAccount]:
        """The accounts that were opened or charged in this transaction."""
        return dict(self._changed)

    @property
    def head(self) -> ChainHead:
        """The last entry."""
        last = self._latest()
        return ChainHead() if last is None else ChainHead(last.seq, last.digest)

    @property
    def seq(self) -> int:
        """The number of the next entry: rows that are written before it is appended name it."""
        return self.head.seq + 1

    def _latest(self) -> ChainEntry | None:
        if self._last is None:
            row = self._one(f"{_ENTRY} ORDER BY seq DESC LIMIT 1")
            if row is None:
                return None
            self._last = ChainEntry(*row)
            if not self._last.is_linked:
                raise make_damage_error("damage-entry-changed", entry=self._last.seq)
        return self._last

    def entry(self, seq: int) -> ChainEntry:
        """Return an entry that must be there."""
        row = self._one(f"{_ENTRY} WHERE seq = ?", (seq,))
        entry = None if row is None else ChainEntry(*row)
        if entry is None or not entry.is_linked:
            raise make_damage_error("damage-entry-missing", entry=seq)
        return entry

    def digest(self, seq: int) -> str | None:
        """Return the digest of an entry; that of the beginning for 0; None if there is no such entry."""
        row = (GENESIS,) if seq == 0 else self._one("SELECT digest FROM entries WHERE seq = ?", (seq,))
        return None if row is None else str(row[0])

    def epoch(self) -> int:
        """Return how often the ledger was recovered from an older copy."""
        row = self._one(f"{_OF_KIND.format('restore')} ORDER BY seq DESC LIMIT 1")
        return 0 if row is None else intact(lambda: int(json.loads(row[0])["epoch"]))

    def append(self, kind: EntryKind, body: dict[str, Any]) -> int:
        """Append an entry to the chain, with the rows that were written since the last one; return its number."""
        last = self._latest()
        if last is not None and last.kind == EntryKind.MOVE and kind is not EntryKind.ARRIVE:
            raise self._make_moved_error(last)
        entry = ChainEntry.after(self.head, kind, canonical(body | {"rows": list(self._mentions.values())}))
        self._run(
            "INSERT INTO entries (seq, kind, body, previous, digest, form) VALUES (?, ?, ?, ?, ?, ?)",
            (entry.seq, str(entry.kind), entry.body, entry.previous, entry.digest, entry.form),
        )
        self._last, self._mentions = entry, {}
        self._kinds.add(kind)
        return entry.seq

    def check_complete(self) -> None:
        """Make sure that an entry names every row that was written."""
        assert not self._mentions

    def check_here(self) -> None:
        """Refuse to change anything in a ledger that has moved."""
        last = self._latest()
        if last is not None and last.kind == EntryKind.MOVE:
            raise self._make_moved_error(last)

    @staticmethod
    def _make_moved_error(last: ChainEntry) -> LedgerError:
        """Say where the ledger is now."""
        return make_moved_error(intact(lambda: str(json.loads(last.body)["to"])))

    # Rows that follow from the entries.

    def put(self, table: str, values: tuple[Any, ...]) -> None:
        """Write a row in place of an earlier one with its key; the next entry names it."""
        kind = ROWS[table]
        self._run(kind.upsert, (*values, self.seq))
        self._mentions[table, *kind.key_of(values)] = kind.mention(values)

    def get(self, table: str, *key: Any) -> tuple[Any, ...] | None:
        """Return the values of the row with a key, checked against the entry that wrote it."""
        row = self._one(ROWS[table].lookup, key)
        return None if row is None else self._check_row(table, row)

    def all(self, table: str, where: str = "", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the values of several rows, each checked against the entry that wrote it."""
        return [self._check_row(table, row) for row in self._run(f"{ROWS[table].select} {where}", values)]

    def _check_row(self, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values, seq = tuple(row[:-1]), row[-1]
        mention = ROWS[table].mention(values)
        if seq == self.seq and self._mentions.get(tuple(mention[:-1])) == mention:
            return values  # written in this transaction, and not named by an entry yet
        last = self._latest()
        if seq == 0 and last is not None and last.kind == EntryKind.MOVE:
            return values  # it moved before rows named their entries, and nothing is charged here any more
        if seq not in self._known:
            self._known[seq] = intact(lambda: list(json.loads(self.entry(seq).body)["rows"]))
        if mention not in self._known[seq]:
            raise make_damage_error("damage-row-of-entry", table=table, entry=seq)
        return values

    # Declarations.

    def declaration(self, name: str) -> Declaration | None:
        """Return the latest declaration under a name."""
        row = self.get("declarations", name)
        return None if row is None else Declaration(*row[1:])

    def declaration_marks(self) -> list[tuple[str, str | None]]:
        """Return the name of every declaration and the digest of the entry that wrote it, the first one first."""
        rows = self._run(
            "SELECT name, digest FROM declarations LEFT JOIN entries ON entries.seq = entry"
            " ORDER BY declarations.seq"
        )
        return [(name, digest) for name, digest in rows]

    def put_declaration(self, new: Declaration) -> None:
        """Keep the latest declaration; a name keeps the place of its first one."""
        old = self._one("SELECT seq FROM declarations WHERE name = ?", (new.name,))
        seq = self.seq if old is None else old[0]
        self.put("declarations", (seq, new.name, new.body, new.version, new.data_version))

    # Accounts.

    def account(self, name: str) -> LedgerAccount | None:
        """Return the budget and the sum of an account."""
        row = self.get("accounts", name)
        if row is None:
            return None
        budget, spent = intact(lambda: (json.loads(row[2]), json.loads(row[3])))
        return LedgerAccount(read_budget(budget), read_event(spent))

    def check_unopened(self, name: str) -> None:
        """Make sure that an account which was not found was never opened: its row may have been lost."""
        bodies = [row[0] for kind in ("open", "restore") for row in self._run(_OF_KIND.format(kind))]
        if any(name in _read_new_accounts(body) for body in bodies):
            raise make_damage_error("damage-account-missing", account=name)

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all accounts."""
        return tuple(name for (name,) in self._run("SELECT name FROM accounts ORDER BY seq"))

    def put_account(self, name: str, budget: Budget, spent: Event = NOTHING) -> None:
        """Keep the budget and the sum of an account."""
        old = self._one("SELECT seq FROM accounts WHERE name = ?", (name,))
        seq = self.seq if old is None else old[0]
        self.put("accounts", (seq, name, canonical(write_budget(budget)), canonical(write_event(spent))))
        self._changed[name] = LedgerAccount(budget, spent)

    def sums(self, account: str, spent: Event, part: DebitSubpopulation | None) -> AccountSums:
        """Return the sums of an account whose sum is `spent`, as a debit of this part sees them."""
        rows = {row[2]: row for row in self.all("schemes", "WHERE account = ? ORDER BY seq", (account,))}
        if part is None and not rows:
            return AccountSums(common=spent)
        if rows and ("" not in rows or rows[""][5] != len(rows) - 1):
            raise make_damage_error("damage-sum-missing", account=account)
        sums = {scheme: _event(row[4]) for scheme, row in rows.items()}
        common = sums.pop("", spent)
        if part is None:
            return AccountSums(common, add_events(sums.values()))
        own = sums.pop(part.scheme, NOTHING)
        count = rows[part.scheme][5] if part.scheme in rows else 0
        mine, rival = self._part_sums(account, part, count)
        return AccountSums(common, add_events(sums.values()), own, mine, rival)

    def _part_sums(self, account: str, part: DebitSubpopulation, count: int) -> tuple[SubpopulationSum, Event]:
        """Return the sums of a part; and the largest of the others where a unit can touch two of them.

        Args:
            account: Whose parts.
            part: Which one.
            count: How many parts of its scheme were charged: none of them can be missing.
        """
        row = self.get("parts", account, part.scheme, part.key)
        mine = SubpopulationSum() if row is None else SubpopulationSum(_event(row[3]), _event(row[4]))
        if row is not None and count and part.together == 1:
            return mine, NOTHING
        others = self.all("parts", "WHERE account = ? AND scheme = ?", (account, part.scheme))
        if len(others) != count:
            raise make_damage_error("damage-part-missing", account=account)
        if part.together == 1:
            return mine, NOTHING
        return mine, largest(_event(apart) for _, _, key, _, apart in others if key != part.key)

    def together(self, account: str, scheme: str) -> int | None:
        """Return how many parts of a scheme one unit can touch; None if nothing was charged for the scheme."""
        row = self.get("schemes", account, scheme)
        return None if row is None else int(row[3])

    def put_sums(self, account: str, budget: Budget, sums: AccountSums, part: DebitSubpopulation | None) -> None:
        """Replace the sums of an account after a debit."""
        self.put_account(account, budget, sums.overall)
        if part is not None:
            new_scheme = self.get("schemes", account, part.scheme) is None
            self._put_scheme(account, "", 0, sums.common, int(new_scheme))
            new = self.get("parts", account, part.scheme, part.key) is None
            self._put_scheme(account, part.scheme, part.together, sums.scheme, int(new))
            inside, apart = (canonical(write_event(event)) for event in (sums.part.inside, sums.part.apart))
            self.put("parts", (account, part.scheme, part.key, inside, apart))
        elif self.get("schemes", account, "") is not None:
            # Accounts without debits of parts have no such row.
            self._put_scheme(account, "", 0, sums.common, 0)

    def _put_scheme(self, account: str, scheme: str, together: int, spent: Event, new: int) -> None:
        old = self.get("schemes", account, scheme)
        # Numbered here: a sequence of Postgres would skip the numbers of transactions that were undone.
        (number,) = self._one("SELECT coalesce(max(seq), 0) + 1 FROM schemes")
        seq, kept, parts = (number, together, 0) if old is None else (old[0], old[3], old[5])
        self.put("schemes", (seq, account, scheme, kept, canonical(write_event(spent)), parts + new))

    def part_lines(self, account: str) -> tuple[SubpopulationSpending, ...]:
        """Return what an account was charged for each part, scheme after scheme."""
        rows = self._run(
            "SELECT parts.scheme, key, inside FROM parts JOIN schemes USING (account, scheme)"
            " WHERE account = ? ORDER BY seq, key",
            (account,),
        )
        return tuple(SubpopulationSpending(scheme, key, _event(inside)) for scheme, key, inside in rows)

    # Receipts.

    def put_receipt(self, *, body: dict[str, Any], plan: str) -> None:
        """Keep a new open receipt, its plan, and its first attempt."""
        names = ("receipt", "analyst", "question", "key")
        values = (*(body[name] for name in names), canonical(body["debits"]), body["at"], 1, None)
        self.put("receipts", (self.seq, *values))
        self._run("INSERT INTO plans VALUES (?, ?)", (body["receipt"], plan))

    def line(self, receipt: str) -> ReceiptLine | None:
        """Return the state of one receipt, with its plan and its answer as their entries name them."""
        row = self.get("receipts", receipt)
        if row is None:
            return None
        seq, _, analyst, _, _, debits, _, attempts, released = row
        plan = self._text("plans", receipt, seq, "plan")
        answer = None if released is None else self._text("answers", receipt, released, "answer")
        return ReceiptLine(analyst, attempts, plan, answer, read_debits_text(debits), released)

    def _text(self, table: str, receipt: str, seq: int, name: str) -> str:
        """Return a long text of a receipt, checked against the digest in its entry."""
        row = self._one(f"SELECT body FROM {table} WHERE receipt = ?", (receipt,))
        body = intact(lambda: json.loads(self.entry(seq).body))
        if row is None or body.get("receipt") != receipt or body.get(name) != fingerprint(str(row[0])):
            raise make_damage_error("damage-text-of-receipt", receipt=receipt, table=table)
        return str(row[0])

    def put_attempt(self, receipt: str, attempts: int) -> None:
        """Keep the number of attempts."""
        row = self.get("receipts", receipt)
        assert row is not None
        self.put("receipts", (*row[:-2], attempts, row[-1]))

    def put_answer(self, receipt: str, answer: str) -> None:
        """Keep the answer and close the receipt."""
        row = self.get("receipts", receipt)
        assert row is not None
        assert row[-1] is None
        self._run("INSERT INTO answers VALUES (?, ?)", (receipt, answer))
        self.put("receipts", (*row[:-1], self.seq))

    def hit(self, key: str, analyst: str) -> RecallHit | None:
        """Find the answer of a key: one that the analyst has paid for if there is one, else the first.

        Two analysts who ask at once may both reserve the same key.
        """
        row = self._one(
            "SELECT id, analyst = ? OR EXISTS"
            " (SELECT 1 FROM seen WHERE seen.receipt = id AND seen.analyst = ?) AS paid"
            " FROM receipts WHERE key = ? AND released IS NOT NULL ORDER BY paid DESC, released LIMIT 1",
            (analyst, analyst, key),
        )
        line = None if row is None else self.line(row[0])
        if line is None or line.answer is None or line.released is None:
            return None
        paid = analyst == line.analyst or self.has_seen(row[0], analyst)
        return RecallHit(row[0], line.plan, line.answer, paid, line.released)

    def earlier_keys(self, question: str, analyst: str | None) -> Iterator[tuple[str, str]]:
        """Find the keys of an earlier form of a question, with their plans; of an analyst, or all.

        A ledger that was never written by those versions has none, which the index says at once.
        """
        visible = " AND (analyst = ? OR EXISTS (SELECT 1 FROM seen WHERE seen.receipt = id AND seen.analyst = ?))"
        only, whose = ("", ()) if analyst is None else (visible, (analyst, analyst))
        for state in ("IS NOT NULL", "IS NULL"):
            asked = f"SELECT id, key FROM receipts WHERE released {state} AND key < ? AND question = ?"
            rows = self._run(f"{asked}{only} ORDER BY seq", (KEY_FORM, question, *whose))
            for receipt, key in list(rows):
                line = self.line(receipt)
                if line is not None:
                    yield key, line.plan

    def find_open(self, key: str, analyst: str, most: int) -> tuple[str, int] | None:
        """Find an open receipt of a key and an analyst that has attempts left, and how many it had."""
        for receipt in self.open_receipts(key, analyst):
            row = self.get("receipts", receipt)
            if row is not None and row[-2] < most:
                return receipt, row[-2]
        return None

    def open_receipts(self, key: str, analyst: str) -> list[str]:
        """Find the open receipts of a key and an analyst, however often they were tried."""
        rows = self._run(
            "SELECT id FROM receipts WHERE key = ? AND released IS NULL AND analyst = ? ORDER BY seq",
            (key, analyst),
        )
        return [row[0] for row in list(rows)]

    def has_seen(self, receipt: str, analyst: str) -> bool:
        """Say whether this analyst's first sight of the receipt was recorded."""
        return self.get("seen", receipt, analyst) is not None

    def put_seen(self, receipt: str, analyst: str) -> None:
        """Keep an analyst's first sight of a receipt."""
        self.put("seen", (receipt, analyst))

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


def make_moved_error(place: str) -> LedgerError:
    """Say that nothing is charged here any more, and where instead."""
    return LedgerError("ledger-moved", place=place)


def _read_new_accounts(text: str) -> set[str]:
    """Return the names of the accounts that an entry opened."""
    body = intact(lambda: json.loads(text))
    return {body["account"]} if "account" in body else {account["account"] for account in body.get("opened", ())}


def _of(analyst: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if analyst is None else (" WHERE analyst = ?", (analyst,))


def _event(text: str) -> Event:
    return read_event(intact(lambda: json.loads(text)))


def _receipt(row: tuple[Any, ...]) -> Receipt:
    name, analyst, released, question, debits, at = row
    state = ReceiptState.OPEN if released is None else ReceiptState.RELEASED
    return Receipt(name, analyst, state, question, read_debits_text(debits), at)
