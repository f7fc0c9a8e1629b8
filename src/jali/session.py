"""One analyst's view of a database: `Session`, and `Partition`, the disjoint subpopulations of a table.

Questions about disjoint subpopulations together cost as much as the most expensive of them (parallel composition).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, Unpack

from jali.catalog.value_domain import Value
from jali.database import Remaining, Stage
from jali.errors import QueryError
from jali.ir.expressions import Question
from jali.planner.subpopulations import SubpopulationRequest
from jali.planner.terms import TermArguments, show_terms
from jali.sql.builder import TableQuestion

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.batch import Batch, BatchAnswer
    from jali.catalog.tables import Table
    from jali.database import Remaining
    from jali.execution.bias import Removed
    from jali.ledger import Receipt
    from jali.planner import Plan
    from jali.privacy.rationals import Number
    from jali.stream import StreamView


class Partition:
    """The parts of a table by an expression whose keys are declared: `s.table("visits").partition("ward")`.

    Every person belongs to one part at most: of those where the person has rows, the one with the least hash. The
    rows that a person has in other parts do not count, in no question on a part.

    Guarantee:
        Whatever is asked of the parts, in any order, costs the table the most that was asked of one part; where
        its units are replaced, the most of one part or of two, as `explain` says.
    Proof:
        docs/proofs/parallel.md, "Across questions".

    Example:
        `parts = s.table("visits").partition("ward")`
        `{ward: parts[ward].agg(n=jali.count()).ask(epsilon=0.1) for ward in parts}`
    """

    def __init__(self, session: Session, table: str, by: str, keys: tuple[Value, ...]) -> None:
        self._session = session
        self.table = table
        self.by = by
        self.keys = keys

    def __repr__(self) -> str:
        return f"Partition({self.table} by {self.by}: {len(self.keys):,} parts)"

    def __iter__(self) -> Iterator[Value]:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, key: object) -> bool:
        return key in self.keys

    def __getitem__(self, key: Value) -> TableQuestion:
        """Begin a question on one part."""
        part = self._find_subpopulation(key)
        return TableQuestion(
            self.table, partial(self._session.ask, part=part), partial(self._session.explain, part=part)
        )

    def remaining(self, key: Value) -> Remaining:
        """Return the largest loss that a further question on one part would be granted."""
        return self._session.remaining(self.table, part=self._find_subpopulation(key))

    def _find_subpopulation(self, key: Value) -> SubpopulationRequest:
        if key not in self.keys:
            known = (*map(repr, self.keys[:5]), *(["..."] if len(self.keys) > 5 else []))
            raise QueryError("part-unknown", table=self.table, by=self.by, part=key, parts=known)
        return SubpopulationRequest(self.by, key, self.table)


class SessionTables(Protocol):
    """What a session needs of the tables of a database."""

    def list(self) -> tuple[Table, ...]:
        """Return the protected tables."""

    def partition_keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the keys of the subpopulations of a table by an expression."""


class SessionStreams(Protocol):
    """What a session needs of the streams of a database."""

    def list(self) -> tuple[str, ...]:
        """Return the names of all streams."""

    def view(self, name: str) -> StreamView:
        """Return a stream as anybody may see it."""


class SessionBackend(Protocol):
    """What a session needs of a database: one that is here, or one behind a server."""

    def ask(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,
        on_stage: Stage | None = None,
        **terms: Unpack[TermArguments],
    ) -> Answer:
        """Answer a question."""

    def explain(
        self, question: str | Question, *, analyst: str | None = None, **terms: Unpack[TermArguments]
    ) -> Plan:
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

    @property
    def tables(self) -> SessionTables:
        """The declared tables."""

    @property
    def streams(self) -> SessionStreams:
        """The streams."""

    def remaining(
        self,
        table: str,
        *,
        analyst: str | None = None,
        part: Mapping[str, Value] | SubpopulationRequest | None = None,
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

    def __init__(self, database: SessionBackend, analyst: str) -> None:
        self._database = database
        self.analyst = analyst

    def __repr__(self) -> str:
        return f"Session({self.analyst!r})"

    @show_terms
    def ask(
        self, question: str | Question, *, on_stage: Stage | None = None, **terms: Unpack[TermArguments]
    ) -> Answer:
        """Ask in SQL, for the loss of `epsilon` (Laplace noise) or `rho` (Gaussian noise).

        Groups that nobody declared are chosen for `delta`. `max_rows`, `max_groups` and `min_people` are as in
        `Database.ask`; so is `within`, which finds the least loss for an accuracy.
        """
        return self._database.ask(question, analyst=self.analyst, on_stage=on_stage, **terms)

    @show_terms
    def explain(self, question: str | Question, **terms: Unpack[TermArguments]) -> Plan:
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
        return self._database.tables.list()

    def streams(self) -> tuple[str, ...]:
        """Return the names of all streams."""
        return self._database.streams.list()

    def table(self, name: str) -> TableQuestion:
        """Begin a question on a table, in Python."""
        return TableQuestion(name, self.ask, self.explain, parter=self._partition)

    def _partition(self, table: str, by: str) -> Partition:
        return Partition(self, table, by, self._database.tables.partition_keys(table, by))

    def stream(self, name: str) -> StreamView:
        """Return a stream to look at: what was published. It costs nothing: the whole stream is paid."""
        return self._database.streams.view(name)

    def remaining(
        self, table: str, *, part: Mapping[str, Value] | SubpopulationRequest | None = None
    ) -> Remaining:
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
