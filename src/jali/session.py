"""The session: one analyst's view of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.database import Database, Remaining, Stage
from jali.query.builder import TableQuestion
from jali.query.nodes import Question

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.ledger import Receipt
    from jali.planner import Plan
    from jali.privacy.rationals import Number


class Session:
    """What an analyst can do: ask, explain, see what remains, and redeem receipts.

    Example:
        `s = db.session("ana"); s.ask("SELECT COUNT(*) FROM visits", epsilon=0.1)`
    """

    def __init__(self, database: Database, analyst: str) -> None:
        self._database = database
        self.analyst = analyst

    def __repr__(self) -> str:
        return f"Session({self.analyst!r})"

    def ask(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        on_stage: Stage | None = None,
        **bounds: int | None,
    ) -> Answer:
        """Ask in SQL, for the loss of `epsilon` (Laplace noise) or `rho` (Gaussian noise).

        Groups that nobody declared are chosen for `delta`. `max_rows`, `max_groups` and `min_people` are as in
        `Database.ask`.
        """
        return self._database.ask(
            question, epsilon=epsilon, rho=rho, delta=delta, analyst=self.analyst, on_stage=on_stage, **bounds
        )

    def explain(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        **bounds: int | None,
    ) -> Plan:
        """Show how a question would be answered and what it would cost. Free."""
        return self._database.explain(question, epsilon=epsilon, rho=rho, delta=delta, **bounds)

    def table(self, name: str) -> TableQuestion:
        """Begin a question on a table, in Python."""
        return TableQuestion(name, self.ask, self.explain)

    def remaining(self, table: str) -> Remaining:
        """Return the largest loss that a further question on a table would be granted."""
        return self._database.remaining(table, analyst=self.analyst)

    def receipts(self) -> tuple[Receipt, ...]:
        """Return this analyst's receipts, oldest first."""
        return self._database.receipts(analyst=self.analyst)

    def redeem(self, receipt: str, *, on_stage: Stage | None = None) -> Answer:
        """Give the one answer that a receipt stands for."""
        return self._database.redeem(receipt, analyst=self.analyst, on_stage=on_stage)
