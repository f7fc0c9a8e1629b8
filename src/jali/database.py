"""The database as the curator uses it, thin: what its methods do is in `jali.execution`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, Unpack

from jali.catalog.validate import declare_public, declare_table
from jali.database_groups import DatabaseLedger, DatabaseStreams, DatabaseTables
from jali.errors import QueryError
from jali.execution.accounts import Account, Accounts, Remaining, check_analyst_name
from jali.execution.ask import QuestionRunner
from jali.execution.ask_batch import BatchConditions, BatchRunner
from jali.execution.auto_ranges import RangePurchases
from jali.execution.data_guard import DataGuard
from jali.execution.declared_tables import DeclaredTables
from jali.execution.question_planner import LocalPlanner
from jali.execution.reservation import RunContext, Stage, ignore_stage
from jali.execution.streams.stream_arguments import StreamArguments, StreamTerms, show_stream_terms
from jali.ledger import Receipt, Verification
from jali.planner.terms import TermArguments, read_subpopulation_request, show_terms
from jali.privacy import Adjacency, Budget
from jali.sql.question_limits import DEFAULT, Limits

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.batch import Batch, BatchAnswer
    from jali.catalog.columns import Declared, Via
    from jali.catalog.tables import Public, Table
    from jali.catalog.value_domain import Value
    from jali.engines import Engine
    from jali.execution.access_tokens import Access
    from jali.execution.advice import Advice
    from jali.execution.bias import Removed
    from jali.execution.estimate_bias import BiasEstimator
    from jali.execution.streams.durable_streams import DurableStreams
    from jali.execution.two_phase import TwoPhaseDatabase
    from jali.ir.expressions import Question
    from jali.ledger import Ledger
    from jali.planner import Plan
    from jali.planner.subpopulations import SubpopulationRequest
    from jali.privacy.rationals import Number
    from jali.rehearsal import Rehearsal
    from jali.session import Session
    from jali.stream import Stream

__all__ = ["Account", "Database", "Remaining", "Stage"]


class Database:
    """A private statistical database. Its methods are the curator's; analysts get a `session`."""

    def __init__(self, ledger: Ledger, engine: Engine, limits: Limits = DEFAULT) -> None:
        self._ledger = ledger
        self._engine = engine
        self._accounts = Accounts(ledger)
        self._guard = DataGuard(ledger, engine)
        self._tables = DeclaredTables(ledger, engine, self._guard)
        planner = LocalPlanner(engine, limits)
        self._asking = QuestionRunner(ledger, engine, self._tables, self._accounts, self._guard, planner)
        self._ranges = RangePurchases(ledger, self._asking, self._tables, self._accounts)
        self._batches = BatchRunner(ledger, self._tables, self._accounts, self._asking)
        self._streams: DurableStreams | None = None

    def __repr__(self) -> str:
        kept = "on disk" if self._ledger.durable else "in memory"
        return f"Database({', '.join(self._tables.map_by_name()) or 'no tables yet'}; {kept})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger and the engine."""
        self._engine.close()
        self._ledger.close()

    @property
    def tables(self) -> DatabaseTables:
        """The declared tables: list, find, check, attach."""
        return DatabaseTables(self._tables, self._guard, self._asking)

    @property
    def streams(self) -> DatabaseStreams:
        """The streams as anybody may see them: list, view."""
        return DatabaseStreams(self._all_streams())

    @property
    def ledger(self) -> DatabaseLedger:
        """Accounts, the latest receipts, and the questions behind them."""
        return DatabaseLedger(self._ledger, self._accounts, self._asking, self._batches)

    @property
    def access(self) -> Access:
        """Who may come in through a server: tokens, and the trail of what curators did."""
        from jali.execution.access_tokens import Access

        return Access(self._ledger)

    @property
    def serving(self) -> TwoPhaseDatabase:
        """Questions in two steps, paying and reading, as a server asks them."""
        from jali.execution.two_phase import TwoPhaseDatabase

        return TwoPhaseDatabase(self._ledger, self._asking, self._batches, self._removing)

    # The catalog.

    def protect(
        self,
        name: str,
        source: Any,
        *,
        unit: str | Via | None,
        budget: Budget,
        max_rows: int | None = None,
        columns: Mapping[str, Declared | str] | None = None,
        adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
        rows: int | None = None,
        relation: str | None = None,
        min_people: int = 1,
        unique: bool = False,
        memory: str = "own",
    ) -> Table:
        """Protect a table: from now on it is read only through noise.

        Args:
            name: What questions call it.
            source: A path to Parquet, CSV or a DuckDB file; a pandas, polars or Arrow table; the address of a
                Postgres database, "postgresql://ana@db.example/clinic?schema=visits" (docs/postgres.md); a Spark
                session, or the address of a cluster (docs/spark.md).
            unit: The column that names the person; None if each row is a person; `Via(...)` if another protected
                table knows whose row it is.
            budget: What may ever be spent on it, over all analysts: they may collude.
            max_rows: For how many rows one person may count (needed with a unit).
            columns: Public knowledge about columns: `Range(low, high)`, `Keys([...])`, or a kind such as "date"
                for a column of a CSV file. `Range(auto=True)` buys a range from the budget, now and once.
            adjacency: "add-remove" or "replace-one".
            rows: A public guess of the number of rows, for forecasts only.
            relation: The table inside a DuckDB file or a database, if it has another name: "clinic.visits".
            min_people: Show a group only when at least this many people stand behind it, decided privately.
            unique: Whether nobody has two rows, as a PRIMARY KEY or UNIQUE constraint on the unit of a DuckDB or
                Postgres table enforces: then rows need no weights.
            memory: Whose answers are recalled when somebody asks an equal question: "own", those of the analyst;
                or "common", everybody's, which tells analysts that the question was asked before.

        Protecting the same source again with other ranges, keys or bounds makes a new version of the
        declaration; what was spent stays spent.
        """
        table = declare_table(
            self._engine,
            name=name,
            source=source,
            unit=unit,
            budget=budget,
            max_rows=max_rows,
            columns=columns or {},
            adjacency=Adjacency.of(adjacency),
            rows=rows,
            relation=relation,
            min_people=min_people,
            others=self._tables.map_by_name(),
            unique=unique,
            memory=memory,
        )
        self._tables.check_free(table.name)
        if table.source.format == "frame":
            self._engine.attach(table.source.location, source)
        checked = self._tables.check_source(table)
        table = self._ranges.add_purchased(self._tables.with_copy(table))
        purchases = self._ranges.plan_purchases(table)
        self._tables.open(table, checked)
        return self._ranges.buy(table, purchases)

    def publish(
        self, name: str, source: Any, *, kinds: Mapping[str, str] | None = None, relation: str | None = None
    ) -> Public:
        """Declare a public table: its rows are nobody's secret, and questions may join it freely.

        Its columns' values become keys, and its numbers' least and largest values their range: read now, once.
        Publish it again when it changes. Columns of a CSV file are text, unless `kinds` says "integer", "real",
        "date", "timestamp" or "boolean".
        """
        table = declare_public(
            self._engine,
            name=name,
            source=source,
            kinds=kinds or {},
            relation=relation,
            others=self._tables.map_by_name(),
        )
        self._tables.check_free(table.name)
        self._tables.publish(table)
        return table

    def grant(self, analyst: str, table: str, budget: Budget) -> None:
        """Let an analyst spend up to `budget` on a table, within the table's own budget."""
        self._accounts.grant(check_analyst_name(analyst), self._tables.find_protected(table).name, budget)

    def prepare(self, table: str, *, on_stage: Stage | None = None) -> Table:
        """Write a private copy of a table on which a person's bound is a filter, and read it from now on.

        It has the rows as they are now, numbered and ranked by person: docs/prepared.md. `refresh` writes it
        again. Questions that were answered before are answered and charged again.
        """
        return self._tables.prepare(table, on_stage or ignore_stage)

    def refresh(self, table: str, *, on_stage: Stage | None = None) -> None:
        """Say that the data of a table is new, so that questions are answered again. Budgets never reset.

        The data is read in full, and a prepared copy is written again. Until that is done nobody can ask; if it is
        refused, the table stays closed: mend the data and refresh again (docs/cli.md). A table through which
        others reach their unit is refused if its key is no longer unique.
        """
        self._tables.refresh(table, on_stage or ignore_stage)

    # Questions.

    def session(self, analyst: str) -> Session:
        """Return one analyst's view of the database."""
        from jali.session import Session

        return Session(self, check_analyst_name(analyst))

    @show_terms
    def explain(
        self, question: str | Question, *, analyst: str | None = None, **terms: Unpack[TermArguments]
    ) -> Plan:
        """Plan a question without asking it. Free: no data is read and nothing is spent.

        It also says what the question would leave of each budget: of the analyst's grants too.
        """
        return self._asking.explain(question, terms, analyst=analyst)

    @show_terms
    def ask(
        self,
        question: str | Question,
        *,
        analyst: str | None = None,
        on_stage: Stage | None = None,
        **terms: Unpack[TermArguments],
    ) -> Answer:
        """Answer a question: plan, recall or reserve, read, add noise, release. In that order.

        Args:
            question: SQL text, or a built question.
            epsilon: The loss of the whole question, by Laplace noise; or
            rho: in zCDP, by Gaussian noise.
            delta: Pays for choosing groups that nobody declared, and for `min_people`.
            max_rows: For how many rows one person may count, where it is not the declared number.
            max_groups: In how many groups one person may count, where groups are chosen or people counted.
            min_people: Show a group only when at least this many people stand behind it.
            part: The part of the table that it is about, as {"ward": "A"}: docs/questions.md, "Disjoint parts".
            within: Instead of a loss: how close every number is to come, in half-widths of its interval, in each
                group; or for some outputs, `{"n": 20}`. The least loss for that is found, up to 1 %.
            confidence: How often, with `within`; 0.95 if it is not given.
            noise: With `within`: "laplace" finds an epsilon, "gaussian" a rho.
            group_rows: A guess of the rows of a group, for forecasts only: means, moments and quantiles need one
                to be brought within anything, where no rows are declared.
            analyst: Whose grant pays besides the table; the curator has none.
            on_stage: Called with the name of each stage as it begins.
        """
        return self._asking.ask(question, terms, analyst=analyst, stage=on_stage or ignore_stage)

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
        """Begin a batch: questions that are planned jointly, charged once, and answered so that they agree.

        Args:
            epsilon: The loss of all questions together; or
            rho: in zCDP. Without either each question has its own.
            delta: Pays for composing the losses more sharply than by adding them up.
            agree: Whether all counts are weighed over the same rows and made to agree.
            analyst: Whose grant pays besides the table.
            on_stage: Called with the name of each stage as it begins.
        """
        conditions = BatchConditions(epsilon, rho, delta, agree)
        return self._batches.begin(conditions, analyst=analyst, stage=on_stage or ignore_stage)

    def rehearse(self, *, rows: int | None = None) -> Rehearsal:
        """Return a database with the same declarations, budgets and grants over made-up rows. Free.

        Ask there what will be asked here: nothing real is opened, read or charged, and every answer says that it
        is a rehearsal. It is in a temporary folder, deleted when it is closed.

        Args:
            rows: About how many rows each protected table has; the declared guess, up to 100,000, or 10,000 where
                there is none.
        """
        from jali.rehearsal import Rehearsal

        budgets = [(account.name, account.budget) for account in self._accounts.all()]
        return Rehearsal(self._tables.map_by_name(), budgets, self._engine, rows=rows)

    def advise(
        self,
        table: str,
        *,
        epsilon: Number,
        delta: Number | None = None,
        columns: Sequence[str] | None = None,
        most_rows: int = 1000,
        dry_run: bool = False,
    ) -> Advice:
        """Propose max_rows, ranges and keys for a table, from releases that its budget pays for.

        Each is an ordinary question, or a range that is bought; they share the loss evenly. What was bought before
        is free. The advice has a `call` that declares what is proposed; it declares nothing by itself.

        Args:
            table: A protected table, declared as well as is known.
            epsilon: The loss of all releases together.
            delta: Pays for choosing keys; without one none are looked for.
            columns: The columns to look at, and "max_rows"; all without range and keys if none are named.
            most_rows: Up to how many rows of a person are told apart.
            dry_run: Show what would be asked and what it would cost. Free.
        """
        from jali.execution.advice import Adviser

        advising = Adviser(self._ledger, self._asking, self._tables, self._accounts)
        return advising.advise(
            self._tables.find_protected(table),
            epsilon=epsilon,
            delta=delta,
            columns=columns,
            most_rows=most_rows,
            dry_run=dry_run,
        )

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
        """Estimate what clamping and bounding take from a question, over all its groups, for a loss of its own.

        It asks one or two ordinary questions, which share the loss: for the number of values outside their ranges,
        and for the number of rows that people have beyond `max_rows`, as far as eight times as many.

        Args:
            question: As it was or will be asked.
            epsilon: The loss of the counts, by Laplace noise; or
            rho: in zCDP, by Gaussian noise.
            max_rows: As in the question.
            analyst: Whose grant pays besides the table.
            on_stage: Called with the name of each stage as it begins.
        """
        terms: TermArguments = {"epsilon": epsilon, "rho": rho, "max_rows": max_rows}
        return self._removing.estimate(
            question, terms, analyst=analyst, watch=RunContext(on_stage or ignore_stage)
        )

    @property
    def _removing(self) -> BiasEstimator:
        from jali.execution.estimate_bias import BiasEstimator

        return BiasEstimator(self._asking, self._tables, self._accounts)

    def redeem_batch(
        self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None
    ) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for: the stored ones, or its plan run as frozen."""
        return self._batches.redeem(receipt, analyst=analyst, stage=on_stage or ignore_stage)

    def redeem(self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None) -> Answer:
        """Give the one answer that a receipt stands for: the stored one, or its plan run as it was frozen."""
        if self._batches.holds(receipt, analyst=analyst):
            raise QueryError("receipt-of-batch", receipt=receipt)
        if self._all_streams().holds(receipt):
            raise QueryError("receipt-of-stream", receipt=receipt)
        return self._asking.redeem(receipt, analyst=analyst, stage=on_stage or ignore_stage)

    # Streams.

    @show_stream_terms
    def stream(self, name: str, **declared: Unpack[StreamTerms]) -> Stream:
        """Make a stream: a number that is published as it grows, tick after tick. With a name alone, open one.

        Its whole loss is charged now, once. The same declaration again opens the stream; another is refused.

        Args:
            name: What it is called.
            unit: What kind of person owns the items; None if each item is a person.
            horizon: For how many ticks it lives; None if nobody knows. It may be left out with `last` and
                `restart`, which have no end.
            budget: What it may spend: an account of its own.
            measure: "count", "sum", "mean" or "cdf".
            keys: Declared keys: a number for each.
            value: The public range of the items' values, which are clamped to it.
            bins: The cell ends of a CDF.
            every: How long a tick is on the public clock: "minute", "hour", "day", "week" or "month".
            start: When the first tick begins.
            max_ticks: In how many ticks one person counts; items beyond that are dropped.
            separation: How many ticks apart two of them are, at least.
            max_items: How many items of one person count in one tick.
            adjacency: "add-remove", or "replace-one".
            adaptive: Whether what is appended may depend on what was published before.
            mechanism: The name of a counter, such as "binary-tree"; by default the one of least forecast error.
            epsilon: Instead of a budget, or with `query`: the loss of the whole stream; or
            rho: in zCDP.
            delta: With `epsilon`: lets Gaussian noise compete.
            query: Follow a protected table, which pays: one time key, one number (docs/streams.md).
            key: With `query`: a unique column that names rows, where each row is a person.
            late: With `query`: how many ticks back to look for rows that came late; by default all.
            last: Publish the number over this many latest ticks, not over all so far.
            restart: Begin again after this many ticks: 1 is the number of each tick by itself.
        """
        return self._all_streams().stream(name, StreamArguments(**declared))

    def _all_streams(self) -> DurableStreams:
        from jali.execution.streams.durable_streams import DurableStreams

        if self._streams is None:
            self._streams = DurableStreams(self._ledger, self._engine, self._tables)
        return self._streams

    # Budgets and receipts.

    def remaining(
        self,
        table: str,
        *,
        analyst: str | None = None,
        part: Mapping[str, Value] | SubpopulationRequest | None = None,
    ) -> Remaining:
        """Return the largest loss that a further question on a table, or on a part of it, would be granted."""
        name, wanted = self._tables.find_protected(table).name, read_subpopulation_request(part)
        named = None if wanted is None else self._asking.parts.find_subpopulation(replace(wanted, table=name))
        return self._accounts.remaining(name, analyst, named)

    def receipts(self, *, analyst: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, or all, oldest first."""
        return self._ledger.receipts(analyst)

    def verify(self, *, noted: str | None = None) -> Verification:
        """Replay the ledger from its first entry, independently of the sums it keeps.

        Args:
            noted: A head of the chain that was noted elsewhere; a ledger that was cut or rewritten lacks it.
        """
        return self._ledger.verify(noted=noted)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Find what was a method of this class in an earlier release, and warn."""
            from jali.deprecated import warn_of_method

            return attrgetter(warn_of_method("Database", name))(self)
