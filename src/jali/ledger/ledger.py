"""The ledger: budgets, debits, receipts and answers, over any store."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Self, TypeAlias

from jali.errors import CatalogError, LedgerError
from jali.ledger.access import LedgerAccess
from jali.ledger.anchor_places import DECLARED, anchor_at
from jali.ledger.anchors import NO_ANCHORS, AnchoredHead, Anchors
from jali.ledger.chain import EntryKind, make_damage_error
from jali.ledger.charge import Debit, find_filter_sum, grants_of
from jali.ledger.ledger_records import (
    MAX_ATTEMPTS,
    Declaration,
    DeclarationsChanged,
    Receipt,
    Reservation,
    write_debits,
)
from jali.ledger.ledger_tables import LedgerTables, QuestionHistory, RecallHit, ReceiptLine
from jali.ledger.operations import (
    ReceiptOrder,
    find_account,
    now,
    open_account,
    release_answer,
    reserve_receipt,
    spend,
)
from jali.ledger.stores.base import LedgerStore
from jali.ledger.streams import LedgerStreams
from jali.ledger.subpopulation_sums import DebitSubpopulation, SubpopulationSpending
from jali.ledger.transactions import Transactions
from jali.ledger.verify import Verification
from jali.privacy import Budget, Event

# Refuses what was declared meanwhile, by an error.
DeclarationCheck: TypeAlias = Callable[[tuple[Declaration, ...]], None]


class Ledger:
    """Debit before data: a right to one answer is bought durably before a row is read.

    Guarantee:
        At every moment, also after a crash, the sum of an account is at least the sum of the events of all
        answers given that it pays for, and the filter of its budget admitted every one of them. Where events name
        parts, the sum is the one that `subpopulation_sums.py` states.
        Every write is durable when its method returns. Nothing is ever refunded.
    Proof:
        docs/proofs/ledger.md.
    """

    def __init__(
        self, store: LedgerStore, anchors: Callable[[], Anchors] = lambda: NO_ANCHORS, *, checked: bool = True
    ) -> None:
        self._declarations: dict[tuple[str, str | None], Declaration] = {}
        try:
            self._transactions = Transactions(store, anchors())
            if checked:
                self._transactions.check()
        except BaseException:
            # What is refused is let go of: an open journal would become that of whatever is put in its place.
            store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    @property
    def store(self) -> LedgerStore:
        """What it is kept in."""
        return self._transactions.store

    @property
    def transactions(self) -> Transactions:
        """Transactions on it, anchored."""
        return self._transactions

    @property
    def name(self) -> str:
        """Where it is kept, as people write it. No password is in it."""
        return self.store.name

    @property
    def durable(self) -> bool:
        """Whether what was spent survives the process."""
        return self.store.durable

    def now(self) -> AnchoredHead:
        """Return the head, with the sums of all accounts."""
        with self._reading() as tables:
            return self._transactions.now(tables)

    def contains(self, anchored: AnchoredHead) -> bool:
        """Say whether a head that was kept elsewhere is in the chain."""
        with self._reading() as tables:
            return tables.digest(anchored.head.seq) == anchored.head.digest

    def anchor_at(self, place: str) -> None:
        """Keep the head at another place as well, from the next opening on; nowhere else for an empty one."""
        if place:
            anchor_at(place, self.store.identity()).write(self.now(), durable=True)
        self.declare(DECLARED, place)

    def renew_anchors(self) -> None:
        """Begin all anchors again with the head as it is: what they knew before no longer counts."""
        found = self.verify()
        if found.problems:
            raise make_damage_error("damage-found", problem=found.problems[0].rstrip("."))
        self._transactions.anchors.renew(self.now())

    def close(self) -> None:
        """Let go of the store. The ledger object cannot be used afterwards."""
        self.store.close()

    @property
    def streams(self) -> LedgerStreams:
        """The streams: what was published, and the secret items and noise behind it."""
        return LedgerStreams(self._transactions)

    @property
    def access(self) -> LedgerAccess:
        """Who may come in through a server, and what they did."""
        return LedgerAccess(self._transactions)

    def declare(self, name: str, body: str) -> Declaration:
        """Declare `body` under `name`. The same body again changes nothing; another makes a new version."""
        return self.amend(name, lambda _: body)

    def amend(self, name: str, change: Callable[[str | None], str]) -> Declaration:
        """Declare what a change makes of the latest body under `name`, None if there is none, in one transaction.

        What the change raises leaves everything as it was.
        """
        with self._writing() as tables:
            old = tables.declaration(name) or Declaration(name, "", 0, 1)
            body = change(old.body if old.version else None)
            if old.version and old.body == body:
                return old
            new = replace(old, body=body, version=old.version + 1)
            tables.put_declaration(new)
            tables.append(EntryKind.DECLARE, {"name": name, "body": body, "version": new.version, "at": now()})
            return new

    def declaration(self, name: str) -> Declaration | None:
        """Return the latest declaration under `name`, if there is one."""
        return next((found for found in self.declarations() if found.name == name), None)

    def declarations(self) -> tuple[Declaration, ...]:
        """Return the latest declaration of every name, in the order in which names were first declared."""
        with self._reading() as tables:
            return self._read_declarations(tables)

    def _read_declarations(self, tables: LedgerTables) -> tuple[Declaration, ...]:
        marks = tables.declaration_marks()
        found = {mark: self._declarations.get(mark) or _find_declaration(tables, mark[0]) for mark in marks}
        # A declaration is long and rarely changes: it is read and checked once for each entry that wrote it.
        self._declarations = {mark: declaration for mark, declaration in found.items() if mark[1] is not None}
        return tuple(found.values())

    def refresh(self, name: str) -> Declaration:
        """Say that the data under `name` is new: `data_version` grows by one. Budgets are untouched."""
        with self._writing() as tables:
            old = tables.declaration(name)
            if old is None:
                raise CatalogError("declaration-missing", name=name)
            new = replace(old, data_version=old.data_version + 1)
            tables.put_declaration(new)
            tables.append(EntryKind.REFRESH, {"name": name, "data_version": new.data_version, "at": now()})
            return new

    def open_account(self, account: str, budget: Budget) -> None:
        """Open an account. Again with an equal budget changes nothing; another budget is refused."""
        with self._writing() as tables:
            open_account(tables, account, budget)

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all accounts, in the order in which they were opened."""
        with self._reading() as tables:
            return tables.accounts()

    def budget(self, account: str) -> Budget | None:
        """Return the budget of an account, or None if there is no such account."""
        with self._reading() as tables:
            found = tables.account(account)
            return None if found is None else found.budget

    def spent(self, account: str) -> Event:
        """Return the sum of everything charged to an account, open reservations included."""
        with self._reading() as tables:
            return find_account(tables, account).spent

    def filter_sum(self, account: str, part: DebitSubpopulation) -> Event:
        """Return the sum that a further event of a part would be added to, as the filter sees it."""
        with self._reading() as tables:
            found = find_account(tables, account)
            return find_filter_sum(part.together, found.budget, tables.sums(account, found.spent, part))

    def after(self, debit: Debit) -> Event:
        """Return what the sum of an account would be after a debit. Nothing is charged or refused."""
        with self._reading() as tables:
            spent = find_account(tables, debit.account).spent
            return tables.sums(debit.account, spent, debit.part).after(debit).overall

    def parts(self, account: str) -> tuple[SubpopulationSpending, ...]:
        """Return what an account was charged for each part, scheme after scheme."""
        with self._reading() as tables:
            return tables.part_lines(account)

    def recall(
        self, key: str, *, analyst: str, grant: Debit | tuple[Debit, ...] | None, others: bool = True
    ) -> Reservation | None:
        """Return the released answer of an equal key, or None; with `others`, also one that others have paid for.

        The first time that this analyst sees it, `grant` is charged; who reserved it has paid already. Only
        grants of this analyst can be charged, a table never. A question over several tables has several.

        Raises:
            BudgetExceeded: The grant cannot pay; the answer stays unseen.
        """
        with self._reading() as tables:
            hit = tables.hit(key, analyst)
        return None if hit is None else self.hand_out(hit, analyst=analyst, grant=grant, others=others)

    def hand_out(
        self, hit: RecallHit, *, analyst: str, grant: Debit | tuple[Debit, ...] | None, others: bool
    ) -> Reservation | None:
        """Return the answer that `look_up` has found, on the terms of `recall`."""
        if not (hit.paid or others):
            return None
        if not hit.paid:
            self._see(hit.receipt, analyst, _own(analyst, grant))
        self._transactions.settle(hit.released)
        return Reservation(hit.receipt, hit.plan, hit.answer)

    def look_up(
        self, key: str, question: str, *, analyst: str, others: bool, grants: Sequence[Debit] = ()
    ) -> QuestionHistory:
        """Return what is known of a question, and which accounts of its grants are open. Nothing is charged.

        It is one transaction. The earlier keys are those of this analyst's receipts, and of answers that the
        analyst has paid to see; with `others`, of all.
        """
        with self._reading() as tables:
            return QuestionHistory(
                tables.hit(key, analyst),
                tuple(tables.earlier_keys(question, None if others else analyst)),
                tuple(debit.account for debit in grants if tables.account(debit.account) is not None),
            )

    def reserve(
        self,
        *,
        analyst: str,
        question: str,
        key: str,
        plan: str,
        debits: tuple[Debit, ...],
        resume: bool = False,
        working: Container[str] = (),
        declared: Mapping[str, Declaration | None] | None = None,
    ) -> str:
        """Charge all debits or none, keep the plan, and return the name of the receipt.

        The caller may then run the plan once: the reservation is the first of `MAX_ATTEMPTS` attempts. With
        `resume`, an open receipt of the same key and analyst is taken up instead, and nothing is charged; one of
        those that are being answered now, `working`, without counting an attempt; or one that was released
        since somebody looked. `declared` is what the plan rests on, by name.

        Raises:
            DeclarationsChanged: Something of it is no longer the latest; nothing is recorded.
            BudgetExceeded: An account cannot pay; nothing is recorded.
            LedgerError: An account does not exist, or there is no debit at all.
        """
        if not debits:
            raise LedgerError("question-without-debit")
        receipt = secrets.token_hex(16)
        with self._writing() as tables:
            if declared:
                latest = {one.name: one for one in self._read_declarations(tables)}
                if any(latest.get(name) != one for name, one in declared.items()):
                    raise DeclarationsChanged
            known = _find_receipt(tables, key, analyst, working) if resume else None
            if known is not None:
                return known
            owed = tables.find_open(key, analyst, MAX_ATTEMPTS) if resume else None
            if owed is not None:
                _count_attempt(tables, owed[0], owed[1] + 1)
                return owed[0]
            reserve_receipt(tables, ReceiptOrder(receipt, analyst, question, key, plan, debits))
        return receipt

    def begin(self, receipt: str, *, analyst: str | None) -> Reservation:
        """Count an attempt durably, then hand out the plan; or hand out the answer if it was released.

        Only the analyst who reserved it, or the curator (None), may.
        """
        with self._writing() as tables:
            line = _find_line(tables, receipt, analyst)
            if line.answer is None:
                _count_attempt(tables, receipt, line.attempts + 1)
        self._settle(line)
        return Reservation(receipt, line.plan, line.answer, line.debits)

    def release(
        self,
        receipt: str,
        answer: str,
        check: DeclarationCheck | None = None,
        seen: Mapping[str, Declaration | None] | None = None,
    ) -> str:
        """Store the answer of an open receipt and close it. Return the stored answer, whoever was first.

        The answer that is returned may leave; one that is not stored may not. `check` sees the declarations of
        the same moment, and may refuse. It is not called if all of them are as they were `seen` before.
        """
        with self._writing() as tables:
            if check is not None:
                latest = self._read_declarations(tables)
                if seen is None or any(seen.get(one.name) != one for one in latest):
                    check(latest)
            line = _find_line(tables, receipt, None)
            if line.answer is None:
                release_answer(tables, receipt, answer)
        self._settle(line)
        return answer if line.answer is None else line.answer

    def receipts(self, analyst: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, or all, oldest first."""
        with self._reading() as tables:
            return tables.receipts(analyst)

    def latest_receipts(self, analyst: str | None, most: int) -> tuple[Receipt, ...]:
        """Return the latest receipts of one analyst, or of all, the latest first."""
        with self._reading() as tables:
            return tables.latest_receipts(analyst, most)

    def receipt(self, receipt: str, *, analyst: str | None) -> Receipt:
        """Return one receipt. To others than its owner and the curator (None), it does not exist."""
        with self._reading() as tables:
            found = tables.receipt(receipt)
        if found is None or analyst not in (None, found.analyst):
            raise _no_receipt(receipt)
        return found

    def find_release(self, receipt: str, *, analyst: str | None) -> Reservation | None:
        """Return what was released for a receipt; None while it is owed. Nothing is attempted or charged.

        It is for who reserved it, for analysts who have paid to see it, and for the curator (None).
        """
        with self._reading() as tables:
            line = tables.line(receipt)
            known = line is not None and (
                analyst in (None, line.analyst) or (line.answer is not None and tables.has_seen(receipt, analyst))
            )
        if line is None or not known:
            raise _no_receipt(receipt)
        self._settle(line)
        return None if line.answer is None else Reservation(receipt, line.plan, line.answer, line.debits)

    def plan(self, receipt: str) -> str:
        """Return the frozen plan of a receipt, for the curator. Nothing is attempted or charged."""
        with self._reading() as tables:
            return _find_line(tables, receipt, None).plan

    def verify(self, *, noted: str | None = None) -> Verification:
        """Replay the entries independently of all sums; `noted` is a head that must still be in the chain."""
        from jali.ledger.verify import inspect

        with self._transactions.store.reading() as connection:
            return inspect(connection, noted)

    def _settle(self, line: ReceiptLine) -> None:
        """Let an answer leave only when the anchor covers its release."""
        if line.released is not None:
            self._transactions.settle(line.released)

    def _see(self, receipt: str, analyst: str, debits: tuple[Debit, ...]) -> None:
        with self._writing() as tables:
            if tables.has_seen(receipt, analyst):  # paid by another session of the same analyst just now
                return
            spend(tables, debits)
            tables.put_seen(receipt, analyst)
            body = {"receipt": receipt, "analyst": analyst, "debits": write_debits(debits), "at": now()}
            tables.append(EntryKind.SEE, body)

    def _reading(self) -> AbstractContextManager[LedgerTables]:
        return self._transactions.reading()

    def _writing(self) -> AbstractContextManager[LedgerTables]:
        return self._transactions.writing()


def _find_declaration(tables: LedgerTables, name: str) -> Declaration:
    found = tables.declaration(name)
    if found is None:
        raise make_damage_error("damage-declaration", name=name)
    return found


def _own(analyst: str, grant: Debit | tuple[Debit, ...] | None) -> tuple[Debit, ...]:
    """Return the debits of a recall, all of them on grants of this analyst."""
    debits = (grant,) if isinstance(grant, Debit) else grant or ()
    for debit in debits:
        if not debit.account.startswith(grants_of(analyst)):
            raise LedgerError("payer-not-analyst", account=debit.account, analyst=analyst)
    return debits


def _find_line(tables: LedgerTables, receipt: str, analyst: str | None) -> ReceiptLine:
    """Return the state of a receipt. To others than its owner and the curator, it does not exist."""
    line = tables.line(receipt)
    if line is None or analyst not in (None, line.analyst):
        raise _no_receipt(receipt)
    return line


def _find_receipt(tables: LedgerTables, key: str, analyst: str, working: Container[str]) -> str | None:
    """Return the receipt that an analyst has for a key, if its answer is there or on its way."""
    hit = tables.hit(key, analyst)
    if hit is not None and hit.paid:
        return hit.receipt
    return next((receipt for receipt in tables.open_receipts(key, analyst) if receipt in working), None)


def _no_receipt(receipt: str) -> LedgerError:
    return LedgerError("receipt-unknown", receipt=receipt)


def _count_attempt(tables: LedgerTables, receipt: str, attempt: int) -> None:
    if attempt > MAX_ATTEMPTS:
        raise LedgerError("receipt-tried-out", receipt=receipt, attempts=MAX_ATTEMPTS)
    tables.put_attempt(receipt, attempt)
    tables.append(EntryKind.ATTEMPT, {"receipt": receipt, "attempt": attempt, "at": now()})
