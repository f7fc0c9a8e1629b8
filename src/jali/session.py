"""The session: one analyst's view of a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, Unpack

from jali.database import Remaining, Stage
from jali.partition import Partition
from jali.planner.membership import PartOf
from jali.planner.terms import Given, spelled_out
from jali.query.builder import TableQuestion
from jali.query.nodes import Question, Value

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.batch import Batch, BatchAnswer
    from jali.ledger import Receipt
    from jali.planner import Plan
    from jali.privacy.rationals import Number
    from jali.query.catalog import Table
    from jali.removed import Removed
    from jali.stream import StreamView


class Answering(Protocol):
    """What a session needs of a database: one that is here, or one behind a server."""

    def ask(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,
        on_stage: Stage | None = None,
        **terms: Unpack[Given],
    ) -> Answer:
        """Answer a question."""

    def explain(self, question: str | Question, *, analyst: str | None = None, **terms: Unpack[Given]) -> Plan:
        """Plan a question. Free."""

    def batch(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        agree: bool = True,
        analyst: str | None = None,
        on_stage: Stage | None = None,
    ) -> Batch:
        """Begin a batch."""

    def removed(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        max_rows: int | None = None,
        analyst: str | None = None,
        on_stage: Stage | None = None,
    ) -> Removed:
        """Estimate what clamping and bounding take from a question."""

    def tables(self) -> tuple[Table, ...]:
        """Return the protected tables."""

    def streams(self) -> tuple[str, ...]:
        """Return the names of all streams."""

    def part_keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the parts of a table by an expression with declared keys."""

    def stream_view(self, name: str) -> StreamView:
        """Return a stream as anybody may see it."""

    def remaining(
        self,
        table: str,
        *,
        analyst: str | None = None,
        part: Mapping[str, Value] | PartOf | None = None,
    ) -> Remaining:
        """Return the largest loss that a further question would be granted."""

    def receipts(self, *, analyst: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, oldest first."""

    def redeem(self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None) -> Answer:
        """Give the one answer that a receipt stands for."""

    def redeem_batch(
        self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None
    ) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for."""


class Session:
    """What an analyst can do: ask, explain, see what remains, and redeem receipts.

    Example:
        `s = db.session("ana"); s.ask("SELECT COUNT(*) FROM visits", epsilon=0.1)`
    """

    def __init__(self, database: Answering, analyst: str) -> None:
        self._database = database
        self.analyst = analyst

    def __repr__(self) -> str:
        return f"Session({self.analyst!r})"

    @spelled_out
    def ask(self, question: str | Question, *, on_stage: Stage | None = None, **terms: Unpack[Given]) -> Answer:
        """Ask in SQL, for the loss of `epsilon` (Laplace noise) or `rho` (Gaussian noise).

        Groups that nobody declared are chosen for `delta`. `max_rows`, `max_groups` and `min_people` are as in
        `Database.ask`; so is `within`, which finds the least loss for an accuracy.
        """
        return self._database.ask(question, analyst=self.analyst, on_stage=on_stage, **terms)

    @spelled_out
    def explain(self, question: str | Question, **terms: Unpack[Given]) -> Plan:
        """Show how a question would be answered and what it would cost. Free."""
        return self._database.explain(question, analyst=self.analyst, **terms)

    def batch(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        agree: bool = True,
        on_stage: Stage | None = None,
    ) -> Batch:
        """Begin a batch: questions that are planned jointly, charged once, and answered so that they agree.

        Use it in a `with` statement. The arguments are as in `Database.batch`.
        """
        return self._database.batch(
            epsilon=epsilon, rho=rho, delta=delta, agree=agree, analyst=self.analyst, on_stage=on_stage
        )

    def removed(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        max_rows: int | None = None,
        on_stage: Stage | None = None,
    ) -> Removed:
        """Estimate what clamping and bounding take from a question. The arguments are as in `Database.removed`."""
        return self._database.removed(
            question, epsilon=epsilon, rho=rho, max_rows=max_rows, analyst=self.analyst, on_stage=on_stage
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the protected tables as they are declared: what questions can be about."""
        return self._database.tables()

    def streams(self) -> tuple[str, ...]:
        """Return the names of all streams."""
        return self._database.streams()

    def table(self, name: str) -> TableQuestion:
        """Begin a question on a table, in Python."""
        return TableQuestion(name, self.ask, self.explain, parter=self._partition)

    def _partition(self, table: str, by: str) -> Partition:
        return Partition(self, table, by, self._database.part_keys(table, by))

    def stream(self, name: str) -> StreamView:
        """Return a stream to look at: what was published. It costs nothing: the whole stream is paid."""
        return self._database.stream_view(name)

    def remaining(self, table: str, *, part: Mapping[str, Value] | PartOf | None = None) -> Remaining:
        """Return the largest loss that a further question on a table, or on a part of it, would be granted."""
        return self._database.remaining(table, analyst=self.analyst, part=part)

    def receipts(self) -> tuple[Receipt, ...]:
        """Return this analyst's receipts, oldest first."""
        return self._database.receipts(analyst=self.analyst)

    def redeem(self, receipt: str, *, on_stage: Stage | None = None) -> Answer:
        """Give the one answer that a receipt stands for."""
        return self._database.redeem(receipt, analyst=self.analyst, on_stage=on_stage)

    def redeem_batch(self, receipt: str, *, on_stage: Stage | None = None) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for."""
        return self._database.redeem_batch(receipt, analyst=self.analyst, on_stage=on_stage)
