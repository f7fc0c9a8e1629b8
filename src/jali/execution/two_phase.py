"""Ask in two phases, as a server does: reserve first and hand out the receipt; run and release later."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jali.batch import BatchAnswer, BatchQuestion
from jali.errors import QueryError
from jali.execution.ask import QuestionRunner, answer_of
from jali.execution.ask_batch import BatchConditions, BatchRunner, batch_of, read_total
from jali.execution.question_planner import Planner
from jali.execution.reservation import ReleasedAnswer, ReservedQuestion, RunContext, Stage
from jali.planner.batch import BATCHES, BatchPlan

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.execution.bias import Removed
    from jali.execution.estimate_bias import BiasEstimator
    from jali.explain import Explanation
    from jali.ledger import Ledger, Receipt
    from jali.planner import Plan
    from jali.planner.terms import TermArguments

Outcome = (
    ReleasedAnswer["Answer"]
    | ReservedQuestion["Answer"]
    | ReleasedAnswer[BatchAnswer]
    | ReservedQuestion[BatchAnswer]
)


@dataclass(frozen=True)
class TwoPhaseDatabase:
    """Questions in two steps: `begin` recalls or pays, what it returns reads and releases.

    Guarantee:
        What is `ReservedQuestion` is on disk: whatever happens to the process, its receipt is redeemable.
    """

    _ledger: Ledger
    _asking: QuestionRunner
    _batches: BatchRunner
    _removing: BiasEstimator

    @property
    def planner(self) -> Planner:
        """What plans the questions."""
        return self._asking.planner

    def plan_with(self, planner: Planner) -> None:
        """Plan all questions from now on with another planner, such as one in other processes."""
        self._asking.planner = planner

    def explain(self, question: str, given: TermArguments, *, analyst: str | None) -> Plan:
        """Plan a question. Free."""
        return self._asking.explain(question, given, analyst=analyst)

    def explanation(self, plan: Plan) -> Explanation:
        """Say everything about a plan that a reader may want to know."""
        return self._asking.planner.explain(plan)

    def batch_explanation(self, plan: BatchPlan) -> str:
        """Write how a batch would be answered, what it would cost and leave."""
        return self._asking.planner.explain_batch(plan)

    def begin(
        self,
        question: str,
        given: TermArguments,
        *,
        analyst: str | None,
        stage: Stage,
        working: Container[str] = (),
    ) -> ReleasedAnswer[Answer] | ReservedQuestion[Answer]:
        """Recall the answer of a question, or pay for it; `working` are the receipts that are being answered."""
        return self._asking.begin(question, given, analyst=analyst, stage=stage, working=working)

    def explain_batch(
        self, wanted: Sequence[BatchQuestion], conditions: BatchConditions, *, analyst: str | None
    ) -> BatchPlan:
        """Plan a batch. Free."""
        return self._batches.explain(wanted, conditions, analyst=analyst)

    def begin_batch(
        self,
        wanted: Sequence[BatchQuestion],
        conditions: BatchConditions,
        *,
        analyst: str | None,
        stage: Stage,
        working: Container[str] = (),
    ) -> ReleasedAnswer[BatchAnswer] | ReservedQuestion[BatchAnswer]:
        """Recall the answers of a batch, or pay for them; `working` are the receipts that are being answered."""
        stage("planning")
        plan = self._batches.plan(wanted, read_total(conditions), agree=conditions.agree)
        return self._batches.begin_asking(wanted, plan, analyst=analyst, stage=stage, working=working)

    def estimate_bias(
        self, question: str, given: TermArguments, *, analyst: str | None, watch: RunContext
    ) -> Removed:
        """Estimate what clamping and bounding take from a question, for a loss of its own."""
        return self._removing.estimate(question, given, analyst=analyst, watch=watch)

    def receipt(self, receipt: str, *, analyst: str | None) -> Receipt:
        """Return a receipt of an analyst, or of anybody to the curator; to others it does not exist."""
        return self._ledger.receipt(receipt, analyst=analyst)

    def take_up(self, receipt: str, *, analyst: str | None) -> Outcome:
        """Return what a receipt stands for, or count an attempt to find it now."""
        if self._batches.is_batch(self.receipt(receipt, analyst=analyst)):
            return self._batches.take_up(receipt, analyst=analyst)
        self._check_no_stream(receipt)
        return self._asking.take_up(receipt, analyst=analyst)

    def find_released(
        self, receipt: str, *, analyst: str | None
    ) -> ReleasedAnswer[Answer] | ReleasedAnswer[BatchAnswer] | None:
        """Return the answer of a receipt if it was released; None while it is owed. Nothing is attempted."""
        stored = self._ledger.find_release(receipt, analyst=analyst)
        self._check_no_stream(receipt)
        if stored is None or stored.answer is None:
            return None
        return read_released(stored.plan, receipt, stored.answer)

    def _check_no_stream(self, receipt: str) -> None:
        if self._ledger.streams.has_receipt(receipt):
            raise QueryError("receipt-of-stream-shown", receipt=receipt)


def read_released(
    plan: str, receipt: str, drawn: str, *, cached: bool = True
) -> ReleasedAnswer[Answer] | ReleasedAnswer[BatchAnswer]:
    """Read what was released, of one question or of a batch."""
    known: Plan | BatchPlan = BATCHES.decode(plan)
    if isinstance(known, BatchPlan):
        return ReleasedAnswer(batch_of(known, receipt, drawn, cached=cached), plan, drawn)
    return ReleasedAnswer(answer_of(known, receipt, drawn, cached=cached), plan, drawn)
