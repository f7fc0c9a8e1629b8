"""Batches: planned together, reserved once, read, noised and stored as one, then given as answers that agree."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from jali.agreed import AgreedRelease
from jali.batch import Batch, BatchAnswer, Wanted
from jali.database.accounts import CURATOR, Accounts, accounts_of_others
from jali.database.asking import Asking, Begun, Found, Order, Stage, Watch, answer_of, finished
from jali.database.tables import Tables
from jali.drawing import Drawn, draw
from jali.engines.resources import Cancellation
from jali.errors import BudgetExceeded, LedgerError, QueryError
from jali.planner import Plan
from jali.planner.batch import BATCHES, BatchPlan, Total
from jali.planner.batch.asked import in_one_line
from jali.planner.show_question import show_question
from jali.privacy import Concentrated, Loss, Pure
from jali.privacy.rationals import Number, rational
from jali.query.nodes import Question
from jali.serialization.schema import VALUES

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.ledger import Ledger, Receipt

# No SQL begins like this: a receipt's question tells whether it is a batch.
_BEGINS = "BATCH of "


@dataclass(frozen=True)
class Conditions:
    """What a batch may cost in all, and whether its answers agree."""

    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    agree: bool = True


class Batches:
    """Answers batches from the budget."""

    def __init__(self, ledger: Ledger, tables: Tables, accounts: Accounts, asking: Asking) -> None:
        self._ledger = ledger
        self._tables = tables
        self._accounts = accounts
        self._asking = asking

    def begin(self, conditions: Conditions, *, analyst: str | None, stage: Stage) -> Batch:
        """Return an empty batch."""
        total_of(conditions)  # a wrong loss is refused before any question is added

        def plan(wanted: list[Wanted]) -> BatchPlan:
            return self.explained(wanted, conditions, analyst=analyst)

        def ask(wanted: list[Wanted], planned: BatchPlan) -> BatchAnswer:
            return self.ask(wanted, planned, analyst=analyst, stage=stage)

        return Batch(plan, ask)

    def explained(self, wanted: Sequence[Wanted], conditions: Conditions, *, analyst: str | None) -> BatchPlan:
        """Plan all questions, and say what they would leave. Free."""
        return self._told(wanted, self.plan(wanted, total_of(conditions), agree=conditions.agree), analyst)

    def plan(self, wanted: Sequence[Wanted], total: Total, *, agree: bool) -> BatchPlan:
        """Plan all questions. Free."""
        return self._asking.planner.plan_batch(wanted, total, self._tables.catalog(), agree=agree)

    def _told(self, wanted: Sequence[Wanted], plan: BatchPlan, analyst: str | None) -> BatchPlan:
        """Say what the batch would leave of each account. Free."""
        debits = self._accounts.debits(plan.costs) + self._accounts.granted(plan.costs, analyst)
        free = self._ledger.answered(self._asking.key(_title(wanted), plan, analyst), analyst=analyst or CURATOR)
        quiet = accounts_of_others(plan.read, analyst)
        leaves = self._accounts.leaves(debits, free=free, quiet=quiet)
        return plan.telling(leaves + self._accounts.ungranted(plan.costs, analyst))

    def ask(self, wanted: Sequence[Wanted], plan: BatchPlan, *, analyst: str | None, stage: Stage) -> BatchAnswer:
        """Answer a batch, from what was released before if it was asked before."""
        return finished(self.begin_asking(wanted, plan, analyst=analyst, stage=stage), Watch(stage))

    def begin_asking(
        self,
        wanted: Sequence[Wanted],
        plan: BatchPlan,
        *,
        analyst: str | None,
        stage: Stage,
        working: Container[str] = (),
    ) -> Found[BatchAnswer] | Begun[BatchAnswer]:
        """Recall the answers of a batch, or pay for them: all but the reading."""
        order = replace(self._order(wanted, plan, analyst), working=working)
        stored = self._asking.recall(order, plan.read)
        if stored is not None and stored.answer is not None:
            return _found(stored.plan, stored.receipt, stored.answer)
        self._asking.guard.admit(plan.read, (part for one in plan.plans for part in one.parts))
        stage("reserving")
        receipt = self._reserved(order)
        return Begun(receipt, partial(self._fulfilled, receipt, plan, order.plan))

    def _reserved(self, order: Order) -> str:
        try:
            return self._asking.reserve(order)
        except BudgetExceeded as refused:
            raise refused.about("this batch") from None

    def _order(self, wanted: Sequence[Wanted], plan: BatchPlan, analyst: str | None) -> Order:
        title = _title(wanted)
        return Order(
            analyst=analyst or CURATOR,
            question=title,
            key=self._asking.key(title, plan, analyst),
            plan=plan.encoded,
            debits=self._accounts.debits(plan.costs),
            grants=self._accounts.grant_debits(plan.costs, analyst),
        )

    def holds(self, receipt: str, *, analyst: str | None) -> bool:
        """Say whether a receipt is one of a batch; one that there is not is none."""
        try:
            return self.is_batch(self._ledger.receipt(receipt, analyst=analyst))
        except LedgerError:
            return False

    @staticmethod
    def is_batch(receipt: Receipt) -> bool:
        """Say whether a receipt is one of a batch."""
        return receipt.question.startswith(_BEGINS)

    def redeem(self, receipt: str, *, analyst: str | None, stage: Stage) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for."""
        return finished(self.take_up(receipt, analyst=analyst), Watch(stage))

    def take_up(self, receipt: str, *, analyst: str | None) -> Found[BatchAnswer] | Begun[BatchAnswer]:
        """Return the stored answers of a receipt, or count an attempt to answer it now: all but the reading."""
        if not self.holds(receipt, analyst=analyst):
            raise QueryError("receipt-of-no-batch", receipt=receipt)
        reservation = self._ledger.begin(receipt, analyst=analyst)
        if reservation.answer is not None:
            return _found(reservation.plan, receipt, reservation.answer)
        plan: BatchPlan = BATCHES.decode(reservation.plan)
        return Begun(receipt, partial(self._fulfilled, receipt, plan, reservation.plan))

    def _fulfilled(self, receipt: str, plan: BatchPlan, text: str, watch: Watch) -> Found[BatchAnswer]:
        stored = self._asking.fulfil(receipt, lambda: self._drawn(plan, receipt, watch.cancellation), watch)
        return Found(batch_of(plan, receipt, stored, cached=False), text, stored)

    def _drawn(self, batch: BatchPlan, receipt: str, cancellation: Cancellation) -> str:
        """Return one noisy draw of every release, as text; equal queries are run once."""

        def drawn() -> str:
            rows: dict[str, Any] = {}
            return VALUES.encode(tuple(self._one(plan, rows, cancellation) for plan in batch.plans))

        return self._asking.guard.guarded(batch.read, receipt, drawn)

    def _one(self, plan: Plan, rows: dict[str, Any], cancellation: Cancellation) -> Drawn:
        def run(part: Any) -> Any:
            if part.sql not in rows:
                rows[part.sql] = self._asking.run(part.sql, plan.read, cancellation)
            return list(rows[part.sql])

        return draw(plan, run)


def _found(plan: str, receipt: str, drawn: str) -> Found[BatchAnswer]:
    """Read what was released before."""
    return Found(batch_of(BATCHES.decode(plan), receipt, drawn, cached=True), plan, drawn)


def batch_of(plan: BatchPlan, receipt: str, stored: str, *, cached: bool) -> BatchAnswer:
    """Read a stored draw as the answers of a batch: post-processing, from here on."""
    from jali.planner.batch.agree import agreed

    drawn = VALUES.decode(stored)
    found = agreed(plan, [noisy for _, noisy in drawn])
    whole = [
        answer_of(one, receipt, VALUES.encode(part), cached=cached)
        for one, part in zip(plan.plans, drawn, strict=True)
    ]
    answers = []
    for reading in plan.readings:
        fits = {release: numbers for (place, release), numbers in found.items() if place == reading.place}
        answer = _read(whole[reading.place], reading.question, reading.estimates, fits)
        answers.append(replace(answer, cost=plan.cost, costs=plan.costs, batched=True))
    return BatchAnswer(tuple(answers), plan.cost, plan.costs, receipt, cached)


def _read(answer: Answer, question: Question, estimates: Any, fits: dict[int, tuple[Any, ...]]) -> Answer:
    release = replace(answer.release, question=question, estimates=estimates)
    if not fits:
        return replace(answer, release=release)
    names = ("question", "keys", "estimates", "measures", "levels", "max_rows")
    shared = {name: getattr(release, name) for name in names}
    return replace(answer, release=AgreedRelease(**shared, agreed=tuple(sorted(fits.items()))))


def _title(wanted: Sequence[Wanted]) -> str:
    asked = [one.question for one in wanted]
    texts = [in_one_line(one) if isinstance(one, str) else show_question(one) for one in asked]
    return f"{_BEGINS}{len(wanted)}: " + "; ".join(texts)


def total_of(conditions: Conditions) -> Total:
    """Read what a batch may cost in all."""
    if conditions.epsilon is not None and conditions.rho is not None:
        raise QueryError("batch-loss-missing")
    delta = Fraction(0) if conditions.delta is None else rational(conditions.delta, "delta")
    if not 0 <= delta < 1:
        raise QueryError("delta-outside")
    loss: Loss | None = None
    if conditions.epsilon is not None:
        loss = Pure(conditions.epsilon)
    elif conditions.rho is not None:
        loss = Concentrated(conditions.rho)
    return Total(loss, delta)
