"""The protocol that every ledger keeps, whatever it is stored in."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

from jali.ledger.access_book import AccessBook
from jali.ledger.debit import Debit
from jali.ledger.declaration import Declaration
from jali.ledger.parts import Part, PartLine
from jali.ledger.receipt import Receipt, Reservation
from jali.ledger.stream_book import StreamBook
from jali.ledger.verification import Verification
from jali.privacy import Budget, Event


class Ledger(Protocol):
    """Debit before data: a right to one answer is bought durably before a row is read.

    Guarantee:
        At every moment, also after a crash, the sum of an account is at least the sum of the events of all
        answers given that it pays for, and the filter of its budget admitted every one of them. Where events name
        parts, the sum is the one that `parts.py` states.
    Proof:
        docs/proofs/ledger.md.
    """

    @property
    def durable(self) -> bool:
        """Whether what was spent survives the process."""

    @property
    def streams(self) -> StreamBook:
        """The streams: what was published, and the secret items and noise behind it."""

    @property
    def access(self) -> AccessBook:
        """Who may come in through a server, and what they did."""

    def declare(self, name: str, body: str) -> Declaration:
        """Declare `body` under `name`. The same body again changes nothing; another makes a new version."""

    def declaration(self, name: str) -> Declaration | None:
        """Return the latest declaration under `name`, if there is one."""

    def declarations(self) -> tuple[Declaration, ...]:
        """Return the latest declaration of every name, in the order in which names were first declared."""

    def refresh(self, name: str) -> Declaration:
        """Say that the data under `name` is new: `data_version` grows by one. Budgets are untouched."""

    def open_account(self, account: str, budget: Budget) -> None:
        """Open an account. Again with an equal budget changes nothing; another budget is refused."""

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all accounts, in the order in which they were opened."""

    def budget(self, account: str) -> Budget | None:
        """Return the budget of an account, or None if there is no such account."""

    def spent(self, account: str) -> Event:
        """Return the sum of everything charged to an account, open reservations included."""

    def counted_on(self, account: str, part: Part) -> Event:
        """Return the sum that a further event of a part would be added to, as the filter sees it."""

    def after(self, debit: Debit) -> Event:
        """Return what the sum of an account would be after a debit. Nothing is charged or refused."""

    def parts(self, account: str) -> tuple[PartLine, ...]:
        """Return what an account was charged for each part, scheme after scheme."""

    def recall(
        self, key: str, *, analyst: str, grant: Debit | tuple[Debit, ...] | None, others: bool = True
    ) -> Reservation | None:
        """Return the released answer of an equal key, or None; with `others`, also one that others have paid for.

        The first time that this analyst sees it, `grant` is charged; who reserved it has paid already. Only
        grants of this analyst can be charged, a table never. A question over several tables has several.
        """

    def answered(self, key: str, *, analyst: str) -> bool:
        """Say whether `recall` would give this analyst an answer that is paid already. Nothing is charged."""

    def earlier_keys(self, question: str, *, analyst: str, others: bool) -> tuple[tuple[str, str], ...]:
        """Return the keys that versions 0.1 and 0.2 reserved a question under, each with its frozen plan.

        Those of this analyst's receipts, and of answers that the analyst has paid to see; with `others`, of all.
        """

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
    ) -> str:
        """Charge all debits or none, keep the plan, and return the name of the receipt.

        The caller may then run the plan once: the reservation is the first of `MAX_ATTEMPTS` attempts. With
        `resume`, an open receipt of the same key and analyst is taken up instead, and nothing is charged;
        one that is being answered now, in `working`, without counting an attempt.
        """

    def begin(self, receipt: str, *, analyst: str | None) -> Reservation:
        """Count an attempt durably, then hand out the plan; or hand out the answer if it was released.

        Only the analyst who reserved it, or the curator (None), may.
        """

    def release(self, receipt: str, answer: str) -> str:
        """Store the answer of an open receipt and close it. Return the stored answer, whoever was first."""

    def receipts(self, analyst: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, or all, oldest first."""

    def latest_receipts(self, analyst: str | None, most: int) -> tuple[Receipt, ...]:
        """Return the latest receipts of one analyst, or of all, the latest first."""

    def receipt(self, receipt: str, *, analyst: str | None) -> Receipt:
        """Return one receipt. To others than its owner and the curator (None), it does not exist."""

    def plan(self, receipt: str) -> str:
        """Return the frozen plan of a receipt, for the curator. Nothing is attempted or charged."""

    def released(self, receipt: str, *, analyst: str | None) -> Reservation | None:
        """Return what was released for a receipt, to whoever paid for it; None while it is owed."""

    def verify(self, *, noted: str | None = None) -> Verification:
        """Replay the entries independently of all sums; `noted` is a head that must still be in the chain."""

    def close(self) -> None:
        """Let go of the store. The ledger object cannot be used afterwards."""
