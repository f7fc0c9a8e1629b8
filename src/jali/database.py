"""The database: catalog, ledger and engine. The only place where data, budget and randomness meet."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.answer import Answer, Release
from jali.declare import declare_table
from jali.errors import CatalogError, EngineError, LedgerError, QueryError
from jali.ledger import Debit, Receipt, SqliteLedger, Verification, grant_account, table_account
from jali.numerals import decimal
from jali.planner import FORMS, PLAN_CLASSES, Plan, make_plan
from jali.planner.show_expression import show_question
from jali.privacy import Adjacency, Budget, Concentrated, Event, Filter, Loss, Pure
from jali.privacy.rationals import Number
from jali.query.catalog import Declared, Table
from jali.query.codec import decode, encode
from jali.query.nodes import Question
from jali.query.read_sql import read_sql

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
        unit: str | None,
        budget: Budget,
        max_rows: int | None = None,
        columns: Mapping[str, Declared | str] | None = None,
        adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
        rows: int | None = None,
        relation: str | None = None,
    ) -> Table:
        """Protect a table: from now on it is read only through noise.

        Args:
            name: What questions call it.
            source: A path to Parquet, CSV or a DuckDB file; or a pandas, polars or Arrow table.
            unit: The column that names the person; None if each row is a person.
            budget: What may ever be spent on it, over all analysts: they may collude.
            max_rows: For how many rows one person may count (needed with a unit).
            columns: Public knowledge about columns: `Range(low, high)`, `Keys([...])`, or a kind such as "date"
                for a column of a CSV file.
            adjacency: "add-remove" or "replace-one".
            rows: A public guess of the number of rows, for forecasts only.
            relation: The table inside a DuckDB file, if it has another name.

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
            others=self._tables(),
        )
        self._engine.check(table)
        body = encode(table)
        if decode(body, PLAN_CLASSES) != table:
            raise CatalogError("This declaration cannot be stored.")
        self._ledger.open_account(table_account(table.name), budget)
        self._ledger.declare(table.name, body)
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

    def attach(self, table: str, frame: Any) -> None:
        """Give the in-memory frame of a protected table again, after the database was reopened."""
        found = self.table_named(table)
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
        return tuple(self._tables().values())

    def table_named(self, name: str) -> Table:
        """Return a protected table, or refuse and name those there are."""
        lowered = name.lower()
        for table in self._tables().values():
            if table.name.lower() == lowered:
                return table
        known = ", ".join(self._tables()) or "none yet"
        raise QueryError(f"There is no protected table {name}.", remedy=f"Protected tables: {known}.")

    def _tables(self) -> dict[str, Table]:
        return {d.name: _table(d.body) for d in self._ledger.declarations()}

    # Questions.

    def session(self, analyst: str) -> Session:
        """Return one analyst's view of the database."""
        from jali.session import Session

        return Session(self, _analyst(analyst))

    def explain(
        self, question: str | Question, *, epsilon: Number | None = None, rho: Number | None = None
    ) -> Plan:
        """Plan a question without asking it. Free: no data is read and nothing is spent."""
        if not isinstance(question, str | Question):
            raise QueryError(
                "A question is SQL text.", remedy="Write db.ask('SELECT COUNT(*) FROM ...', epsilon=0.1)."
            )
        parsed = read_sql(question) if isinstance(question, str) else question
        plan = make_plan(parsed, self.table_named(parsed.table), loss_of(epsilon, rho))
        return replace(plan, sql=self._engine.emit(plan.aggregation))

    def ask(
        self,
        question: str | Question,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        analyst: str | None = None,
        on_stage: Stage | None = None,
    ) -> Answer:
        """Answer a question: plan, recall or reserve, read, add noise, release. In that order.

        Args:
            question: SQL text, or a built question.
            epsilon: The loss of the whole question, by Laplace noise; or
            rho: in zCDP, by Gaussian noise.
            analyst: Whose grant pays besides the table; the curator has none.
            on_stage: Called with the name of each stage as it begins.
        """
        stage = on_stage or (lambda _: None)
        stage("planning")
        plan = self.explain(question, epsilon=epsilon, rho=rho)
        text = encode(plan, FORMS)
        key = self._key(plan.table, text)
        debits = self._debits(plan, analyst)
        stored = self._ledger.recall(key, analyst=analyst or CURATOR, grant=debits[1] if analyst else None)
        if stored is not None and stored.answer is not None:
            return self._answer(
                decode(stored.plan, PLAN_CLASSES, FORMS), stored.receipt, stored.answer, cached=True
            )
        self._engine.ready(plan.table)
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
        exact = self._engine.run(plan.sql, plan.table)
        try:
            noisy = _with_noise(plan, exact) if len(exact) == plan.aggregation.groups else None
        except Exception:
            noisy = None
        finally:
            exact.clear()
        if noisy is None:
            raise EngineError("The engine's result could not be used.")
        return encode(noisy)

    @staticmethod
    def _answer(plan: Plan, receipt: str, stored: str, *, cached: bool) -> Answer:
        laws = tuple(mechanism.law for mechanism in plan.mechanisms)
        noisy = decode(stored, ())
        release = Release(plan.question, plan.aggregation.keys, plan.estimates, laws, noisy)
        return Answer(release, plan.cost, receipt, cached)

    def _key(self, table: Table, plan: str) -> str:
        """The cache's key: the frozen plan, and the versions that the curator advances. Nothing of the data."""
        declared = self._ledger.declaration(table.name)
        assert declared is not None
        whole = f"{declared.version}\n{declared.data_version}\n{plan}"
        return hashlib.sha256(whole.encode()).hexdigest()

    def _debits(self, plan: Plan, analyst: str | None) -> tuple[Debit, ...]:
        table = Debit(table_account(plan.table.name), plan.cost)
        if analyst is None:
            return (table,)
        return table, Debit(self._grant(analyst, plan.table.name), plan.cost)

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
def _table(body: str) -> Table:
    """Read a declaration; the same text is the same table."""
    table: Table = decode(body, PLAN_CLASSES)
    return table


def _analyst(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or name == CURATOR:
        raise CatalogError(f"An analyst needs a name other than {CURATOR!r}.")
    return name


def loss_of(epsilon: Number | None, rho: Number | None) -> Loss:
    """Return the loss that a question names: exactly one of epsilon and rho."""
    if (epsilon is None) == (rho is None):
        raise QueryError("A question needs one loss.", remedy="Give epsilon=0.1, or rho=0.005 for Gaussian noise.")
    return Pure(epsilon) if epsilon is not None else Concentrated(rho or 0)


def _with_noise(plan: Plan, exact: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Add noise to each measure, over all groups at once. The exact integers go no further."""
    import numpy as np

    noisy = []
    for index, mechanism in enumerate(plan.mechanisms):
        column = np.array([int(row[index]) for row in exact], dtype=object)
        noisy.append(tuple(int(value) for value in mechanism.release_integers(column)))
    return tuple(noisy)
