"""The database: catalog, ledger and engine. The only place where data, budget and randomness meet."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.answer import Answer
from jali.declare import declare_public, declare_table
from jali.drawing import draw
from jali.errors import CatalogError, EngineError, LedgerError, QueryError
from jali.ledger import Debit, Receipt, SqliteLedger, Verification, grant_account, table_account
from jali.ledger.charge import charge
from jali.numerals import decimal
from jali.planner import FORMS, PLAN_CLASSES, Plan, make_plan
from jali.planner.buy_range import check_enough_rows, purchase_key, purchase_name, range_plan, wanted, with_range
from jali.planner.clause import check_unit, with_clause
from jali.planner.show_question import show_question
from jali.planner.terms import terms_of
from jali.privacy import NOTHING, Adjacency, Budget, Event, Filter
from jali.privacy.rationals import Number
from jali.query.bigquery import read_clause
from jali.query.catalog import Catalog, Declared, Field, Public, Table, Via
from jali.query.codec import decode, encode
from jali.query.nodes import Question
from jali.query.parse import check_text
from jali.query.read_sql import read_sql
from jali.reading import Release, Released, all_groups

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.ledger import Ledger
    from jali.session import Session

CURATOR = "curator"
Stage = Callable[[str], None]


@dataclass(frozen=True)
class Remaining:
    """The largest loss of each kind that a further question would be granted. Not one number: either-or."""

    epsilon: Fraction
    rho: Fraction

    def __str__(self) -> str:
        return f"epsilon {decimal(self.epsilon)} (or rho {decimal(self.rho)})"


@dataclass(frozen=True)
class Account:
    """One line of the books: a table's budget, or an analyst's grant on a table."""

    name: str
    budget: Budget
    spent: Event
    remaining: Remaining


def connect(path: str | Path | None = None) -> Database:
    """Open or create a database: one file with the catalog, the ledger and the answers.

    Without a path everything is in memory, and what was spent is forgotten with the process.

    Example:
        >>> import jali
        >>> jali.connect().tables()
        ()
    """
    from jali.engines.duckdb import DuckDBEngine

    return Database(SqliteLedger(None if path is None else Path(path)), DuckDBEngine())


class Database:
    """A private statistical database. Its methods are the curator's; analysts get a `session`."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self._ledger = ledger
        self._engine = engine

    def __repr__(self) -> str:
        kept = "on disk" if self.durable else "in memory"
        return f"Database({', '.join(self._tables()) or 'no tables yet'}; {kept})"

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger and the engine."""
        self._engine.close()
        self._ledger.close()

    @property
    def durable(self) -> bool:
        """Whether what was spent survives the process."""
        return self._ledger.durable

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
    ) -> Table:
        """Protect a table: from now on it is read only through noise.

        Args:
            name: What questions call it.
            source: A path to Parquet, CSV or a DuckDB file; or a pandas, polars or Arrow table.
            unit: The column that names the person; None if each row is a person; `Via(...)` if another protected
                table knows whose row it is.
            budget: What may ever be spent on it, over all analysts: they may collude.
            max_rows: For how many rows one person may count (needed with a unit).
            columns: Public knowledge about columns: `Range(low, high)`, `Keys([...])`, or a kind such as "date"
                for a column of a CSV file. `Range(auto=True)` buys a range from the budget, now and once.
            adjacency: "add-remove" or "replace-one".
            rows: A public guess of the number of rows, for forecasts only.
            relation: The table inside a DuckDB file, if it has another name.
            min_people: Show a group only when at least so many people stand behind it, decided privately.

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
            others=self._tables(),
        )
        self._engine.check(table)
        if table.reach is not None:
            self._engine.check_key(table.reach.table, table.reach.there)
        table = self._with_paid(table)
        plans = [(field, self._emitted(range_plan(table, field))) for field in wanted(table)]
        check_enough_rows(table, [plan for _, plan in plans])
        self._check_affordable(table, [plan for _, plan in plans])
        self._check_storable(table)
        self._ledger.open_account(table_account(table.name), budget)
        self._ledger.declare(table.name, encode(table))
        for field, plan in plans:
            bought = self._buy(table, field, plan)
            table = with_range(table, field, bought.rows[0], bought.cost.epsilon)
            self._ledger.declare(table.name, encode(table))
        return table

    @staticmethod
    def _check_storable(table: Table | Public) -> None:
        if decode(encode(table), PLAN_CLASSES) != table:
            raise CatalogError("This declaration cannot be stored.")

    def _with_paid(self, table: Table) -> Table:
        """Give columns the ranges that were bought before; a purchase that was cut off is completed."""
        if not wanted(table):
            return table
        paid = {receipt.question: receipt.id for receipt in self._ledger.receipts(CURATOR)}
        for field in wanted(table):
            name = purchase_name(table, field)
            if name in paid:
                bought = self.redeem(paid[name])
                table = with_range(table, field, bought.rows[0], bought.cost.epsilon)
        return table

    def _check_affordable(self, table: Table, plans: list[Plan]) -> None:
        """Refuse before anything is declared or charged, if the budget cannot pay for all ranges together."""
        budgets = {table.name: table.budget} | {other.name: other.budget for other in self.tables()}
        for name in {name for plan in plans for name, _ in plan.costs}:
            account = table_account(name)
            costs = sum((dict(plan.costs)[name] for plan in plans), NOTHING)
            charge(Debit(account, costs), budgets[name], self._spent(account))

    def _spent(self, account: str) -> Event:
        return NOTHING if self._ledger.budget(account) is None else self._ledger.spent(account)

    def _buy(self, table: Table, field: Field, plan: Plan) -> Answer:
        """Buy a column's range like any question: debit durably, read, draw, store."""
        text = encode(plan, FORMS)
        receipt = self._ledger.reserve(
            analyst=CURATOR,
            question=purchase_name(table, field),
            key=purchase_key(table, field, text),
            plan=text,
            debits=self._debits(plan, None),
            resume=True,
        )
        return self._fulfil(receipt, plan, lambda _: None)

    def publish(
        self, name: str, source: Any, *, kinds: Mapping[str, str] | None = None, relation: str | None = None
    ) -> Public:
        """Declare a public table: its rows are nobody's secret, and questions may join it freely.

        Its columns' values become keys, and its numbers' least and largest values their range: read now, once.
        Publish it again when it changes. Columns of a CSV file are text, unless `kinds` says "integer", "real",
        "date", "timestamp" or "boolean".
        """
        table = declare_public(
            self._engine, name=name, source=source, kinds=kinds or {}, relation=relation, others=self._tables()
        )
        self._check_storable(table)
        self._ledger.declare(table.name, encode(table))
        return table

    def grant(self, analyst: str, table: str, budget: Budget) -> None:
        """Let an analyst spend up to `budget` on a table, within the table's own budget."""
        account = grant_account(_analyst(analyst), self.table_named(table).name)
        if self._ledger.budget(account) not in (None, budget):
            raise CatalogError(
                f"{analyst} has another grant on {table} already; a budget is never reset.",
                remedy="Grant under another analyst's name.",
            )
        self._ledger.open_account(account, budget)

    def refresh(self, table: str) -> None:
        """Say that the data of a table is new, so that questions are answered anew. Budgets never reset."""
        found = self.table_named(table)
        self._ledger.refresh(found.name)
        self._engine.reopen(found.source)
        self._engine.check(found)
        for other in self.tables():
            if other.reach is not None and other.reach.table.name == found.name:
                self._engine.check_key(found, other.reach.there)

    def attach(self, table: str, frame: Any) -> None:
        """Give the in-memory frame of a table again, after the database was reopened."""
        public = {other.name.lower(): other for other in self.public_tables()}
        found = public.get(table.lower()) or self.table_named(table)
        if found.source.format != "frame":
            raise CatalogError(f"Table {found.name} is read from {found.source.location}, not from a frame.")
        fresh = {f.name: f.kind for f in self._engine.fields(found.source, {}, frame)}
        if fresh != {f.name: f.kind for f in found.fields}:
            raise CatalogError(f"The frame does not have the columns that {found.name} was declared with.")
        self._engine.attach(found.source.location, frame)

    def version(self, table: str) -> int:
        """Return how many different declarations a table has had; 0 if it has none."""
        declared = self._ledger.declaration(table)
        return 0 if declared is None else declared.version

    def tables(self) -> tuple[Table, ...]:
        """Return the protected tables, as declared."""
        return tuple(table for table in self._tables().values() if isinstance(table, Table))

    def public_tables(self) -> tuple[Public, ...]:
        """Return the public tables, as declared."""
        return tuple(table for table in self._tables().values() if isinstance(table, Public))

    @property
    def catalog(self) -> Catalog:
        """All declared tables."""
        return Catalog(tuple(self._tables().values()))

    def table_named(self, name: str) -> Table:
        """Return a protected table, or refuse and name those there are."""
        lowered = name.lower()
        for table in self.tables():
            if table.name.lower() == lowered:
                return table
        known = ", ".join(table.name for table in self.tables()) or "none yet"
        raise QueryError(f"There is no protected table {name}.", remedy=f"Protected tables: {known}.")

    def _tables(self) -> dict[str, Table | Public]:
        read = {d.name: _table(d.body) for d in self._ledger.declarations()}
        return {name: _linked(table, read) for name, table in read.items()}

    # Questions.

    def session(self, analyst: str) -> Session:
        """Return one analyst's view of the database."""
        from jali.session import Session

        return Session(self, _analyst(analyst))

    def explain(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        min_people: int | None = None,
    ) -> Plan:
        """Plan a question without asking it. Free: no data is read and nothing is spent."""
        asked = {"epsilon": epsilon, "rho": rho, "delta": delta}
        bounds = {"max_rows": max_rows, "max_groups": max_groups, "min_people": min_people}
        return self._planned(question, asked | bounds)

    def _planned(self, question: str | Question, given: dict[str, Any]) -> Plan:
        if not isinstance(question, str | Question):
            raise QueryError(
                "A question is SQL text.", remedy="Write db.ask('SELECT COUNT(*) FROM ...', epsilon=0.1)."
            )
        if isinstance(question, Question):
            return self._emitted(make_plan(question, self.catalog, terms_of(**given)))
        check_text(question)
        text, clause, bounds = read_clause(question)
        parsed = read_sql(text, bounds)
        terms = terms_of(**given) if clause is None else with_clause(clause, given)
        plan = make_plan(parsed, self.catalog, terms)
        if clause is not None:
            check_unit(clause, plan)
        return self._emitted(plan)

    def _emitted(self, plan: Plan) -> Plan:
        """Write the engine's queries of a plan."""
        levels = (
            replace(level, parts=tuple(replace(p, sql=self._engine.emit(p.aggregation)) for p in level.parts))
            for level in plan.levels
        )
        return replace(plan, levels=tuple(levels))

    def ask(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        min_people: int | None = None,
        analyst: str | None = None,
        on_stage: Stage | None = None,
    ) -> Answer:
        """Answer a question: plan, recall or reserve, read, add noise, release. In that order.

        Args:
            question: SQL text, or a built question.
            epsilon: The loss of the whole question, by Laplace noise; or
            rho: in zCDP, by Gaussian noise.
            delta: Pays for choosing groups that nobody declared, and for `min_people`.
            max_rows: For how many rows one person may count, where it is not the declared number.
            max_groups: In how many groups one person may count, where groups are chosen or people counted.
            min_people: Show a group only when at least so many people stand behind it.
            analyst: Whose grant pays besides the table; the curator has none.
            on_stage: Called with the name of each stage as it begins.
        """
        stage = on_stage or (lambda _: None)
        stage("planning")
        asked = {"epsilon": epsilon, "rho": rho, "delta": delta}
        bounds = {"max_rows": max_rows, "max_groups": max_groups, "min_people": min_people}
        plan = self._planned(question, asked | bounds)
        text = encode(plan, FORMS)
        key = self._key(plan, text)
        debits = self._debits(plan, analyst)
        grants = debits[len(plan.costs) :]
        stored = self._ledger.recall(key, analyst=analyst or CURATOR, grant=grants or None)
        if stored is not None and stored.answer is not None:
            return self._answer(
                decode(stored.plan, PLAN_CLASSES, FORMS), stored.receipt, stored.answer, cached=True
            )
        for table in plan.read:
            self._engine.ready(table)
        stage("reserving")
        receipt = self._ledger.reserve(
            analyst=analyst or CURATOR,
            question=question if isinstance(question, str) else show_question(question),
            key=key,
            plan=text,
            debits=debits,
            resume=True,
        )
        return self._fulfil(receipt, plan, stage)

    def redeem(self, receipt: str, *, analyst: str | None = None, on_stage: Stage | None = None) -> Answer:
        """Give the one answer that a receipt stands for: the stored one, or its plan run as it was frozen."""
        reservation = self._ledger.begin(receipt, analyst=analyst)
        plan: Plan = decode(reservation.plan, PLAN_CLASSES, FORMS)
        if reservation.answer is not None:
            return self._answer(plan, receipt, reservation.answer, cached=True)
        return self._fulfil(receipt, plan, on_stage or (lambda _: None))

    def _fulfil(self, receipt: str, plan: Plan, stage: Stage) -> Answer:
        """Read the data, add the noise, store the answer, and only then let it leave."""
        stage("reading")
        try:
            stored = self._ledger.release(receipt, self._drawn(plan))
        except (EngineError, LedgerError) as problem:
            kind, message = type(problem), problem.message
        else:
            return self._answer(plan, receipt, stored, cached=False)
        # Raised anew: a traceback into the reading would carry exact or unreleased numbers in its frames.
        raise kind(message, remedy=f"Receipt {receipt} is paid and stays open: redeem it once this is mended.")

    def _drawn(self, plan: Plan) -> str:
        """Return one noisy draw, as text. The exact integers go no further than this."""
        failed: EngineError | None = None
        try:
            drawn = draw(plan, lambda part: self._engine.run(part.sql, plan.read))
        except EngineError as problem:
            failed = problem
        except Exception:
            failed = EngineError("The engine's result could not be used.")
        if failed is not None:
            # Raised anew: the frames of the drawing hold exact numbers.
            raise EngineError(failed.message, remedy=failed.remedy)
        return encode(drawn)

    @staticmethod
    def _answer(plan: Plan, receipt: str, stored: str, *, cached: bool) -> Answer:
        groups, noisy = decode(stored, ())
        levels = tuple(
            Released(
                level.places,
                all_groups([plan.keys[place] for place in level.places]) if groups is None else groups,
                tuple(getattr(part.mechanisms[i], "law", None) for part, i in level.releases),
                released,
            )
            for level, released in zip(plan.levels, noisy, strict=True)
        )
        release = Release(
            plan.question,
            plan.keys,
            plan.estimates,
            plan.aggregation.measures,
            levels,
            plan.selection,
            plan.told,
        )
        return Answer(release, plan.cost, receipt, cached, plan.costs)

    def _key(self, plan: Plan, text: str) -> str:
        """The cache's key: the frozen plan, and the versions that the curator advances. Nothing of the data."""
        versions = ""
        for table in plan.read:
            declared = self._ledger.declaration(table.name)
            assert declared is not None
            versions += f"{declared.version}\n{declared.data_version}\n"
        return hashlib.sha256((versions + text).encode()).hexdigest()

    def _debits(self, plan: Plan, analyst: str | None) -> tuple[Debit, ...]:
        """Charge every protected table what the question costs it, and the analyst's grants as much."""
        tables = tuple(Debit(table_account(name), cost) for name, cost in plan.costs)
        if analyst is None:
            return tables
        return tables + tuple(Debit(self._grant(analyst, name), cost) for name, cost in plan.costs)

    def _grant(self, analyst: str, table: str) -> str:
        account = grant_account(analyst, table)
        if self._ledger.budget(account) is None:
            raise CatalogError(
                f"{analyst} has no grant on {table}.",
                remedy=f"Ask the curator for db.grant({analyst!r}, {table!r}, jali.Budget(...)).",
            )
        return account

    # Budgets and receipts.

    def remaining(self, table: str, *, analyst: str | None = None) -> Remaining:
        """Return the largest loss that a further question on a table would be granted."""
        name = self.table_named(table).name
        accounts = [table_account(name)] + ([self._grant(analyst, name)] if analyst else [])
        each = [self._account(account).remaining for account in accounts]
        return Remaining(min(r.epsilon for r in each), min(r.rho for r in each))

    def _account(self, name: str) -> Account:
        budget, spent = self._ledger.budget(name), self._ledger.spent(name)
        assert budget is not None
        rule = Filter(budget)
        return Account(name, budget, spent, Remaining(rule.largest_epsilon(spent), rule.largest_rho(spent)))

    def accounts(self) -> tuple[Account, ...]:
        """Return every account with its budget, what was spent and what remains."""
        return tuple(self._account(name) for name in self._ledger.accounts())

    def receipts(self, *, analyst: str | None = None) -> tuple[Receipt, ...]:
        """Return the receipts of one analyst, or all, oldest first."""
        return self._ledger.receipts(analyst)

    def verify(self, *, noted: str | None = None) -> Verification:
        """Replay the ledger from its first entry, independently of the sums it keeps.

        Args:
            noted: A head of the chain that was noted elsewhere; a ledger that was cut or rewritten lacks it.
        """
        return self._ledger.verify(noted=noted)


@lru_cache(maxsize=256)
def _table(body: str) -> Table | Public:
    """Read a declaration; the same text is the same table."""
    table: Table | Public = decode(body, PLAN_CLASSES)
    return table


def _linked(table: Table | Public, tables: Mapping[str, Table | Public]) -> Table | Public:
    """Let a table that reaches its unit through another see that one as it is declared now."""
    if isinstance(table, Public) or table.reach is None:
        return table
    there = _linked(tables[table.reach.table.name], tables)
    assert isinstance(there, Table)
    return replace(table, reach=replace(table.reach, table=there))


def _analyst(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or name == CURATOR:
        raise CatalogError(f"An analyst needs a name other than {CURATOR!r}.")
    return name
