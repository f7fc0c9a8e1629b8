"""Run the demo step by step, and return what it does as data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.demo.hospital import ANALYST, MAX_COST, MAX_ROWS, WARDS, SyntheticTruth, open_hospital
from jali.errors import BudgetExceeded, CatalogError
from jali.privacy import decimal

if TYPE_CHECKING:
    from jali.database import Database
    from jali.planner import Plan

Listener = Callable[[str], None]

QUESTIONS = (
    ("How many visits were there?", "SELECT COUNT(*) AS visits FROM visits", "0.1"),
    ("How many of them by people of 65 or more?", "SELECT COUNT(*) AS visits FROM visits WHERE age >= 65", "0.1"),
    ("How many in each ward?", "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", "0.2"),
    ("How old are they, on average?", "SELECT ward, AVG(age) AS mean_age FROM visits GROUP BY ward", "0.3"),
    ("What did all visits cost?", "SELECT SUM(cost) AS total_cost FROM visits", "0.2"),
)
EXPLAINED = QUESTIONS[3]
REFUSED = ("How many people came?", "SELECT COUNT(DISTINCT patient_id) AS people FROM visits", "0.2")
_TABLE_FACTS = "SELECT sum(n), count(*), max(n) FROM (SELECT count(*) AS n FROM visits GROUP BY patient_id)"


@dataclass(frozen=True)
class TableStep:
    """The table, and what was declared about it."""

    visits: int
    patients: int
    most_visits: int
    wards: int
    max_rows: int
    max_cost: int
    kept: float
    analyst: str
    table_budget: str
    grant: str


@dataclass(frozen=True)
class AnswerLine:
    """One row of an answer beside the truth."""

    key: str | None
    value: float | None
    low: float | None
    high: float | None
    bounded: float | None
    raw: float | None

    @property
    def share_removed(self) -> float | None:
        """The share of the raw truth that bounding took away (negative: added)."""
        return None if not self.raw or self.bounded is None else 1 - self.bounded / self.raw


@dataclass(frozen=True)
class AnswerStep:
    """One question, its answer and the truth."""

    title: str
    sql: str
    column: str
    lines: tuple[AnswerLine, ...]
    cost: str
    left: str
    table_left: str
    receipt: str


@dataclass(frozen=True)
class PlanStep:
    """An explained plan."""

    sql: str
    plan: Plan


@dataclass(frozen=True)
class RefusalStep:
    """A question that the budget refuses."""

    title: str
    sql: str
    error: BudgetExceeded


Step = TableStep | AnswerStep | PlanStep | RefusalStep


@dataclass(frozen=True)
class DemoReport:
    """The whole demo."""

    steps: tuple[Step, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        document: dict[str, Any] = {"synthetic": True, "questions": []}
        for step in self.steps:
            if isinstance(step, TableStep):
                document["table"] = asdict(step)
            elif isinstance(step, AnswerStep):
                document["questions"].append(asdict(step))
            elif isinstance(step, PlanStep):
                from jali.explain import explain_plan

                document["explained"] = explain_plan(step.plan).to_json()
            else:
                numbers = ("requested", "remaining", "difference")
                document["refused"] = {"sql": step.sql, "account": step.error.account, "kind": step.error.kind}
                document["refused"] |= {name: str(getattr(step.error, name)) for name in numbers}
        return document


def run(*, keep: str | None = None, on_stage: Listener = lambda _: None) -> DemoReport:
    """Run the demo and return everything it found."""
    with open_directory(keep) as directory:
        return DemoReport(tuple(steps(directory, on_stage)))


@contextmanager
def open_directory(keep: str | None) -> Iterator[Path]:
    """Give a new directory: a temporary one, or one to keep."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="jali-demo-") as directory:
            yield Path(directory)
        return
    path = Path(keep).expanduser()
    if path.exists() and any(path.iterdir() if path.is_dir() else [path]):
        raise CatalogError("demo-directory-not-empty", directory=keep)
    path.mkdir(parents=True, exist_ok=True)
    yield path


def steps(directory: Path, on_stage: Listener) -> Iterator[Step]:
    """Take the steps of the demo, one by one."""
    with open_hospital(directory, on_stage) as database, SyntheticTruth(directory / "visits.parquet") as truth:
        yield _describe_table(database, truth)
        for title, sql, epsilon in QUESTIONS:
            on_stage(title)
            yield _ask_question(database, truth, title, sql, epsilon)
        yield PlanStep(EXPLAINED[1], database.explain(EXPLAINED[1], epsilon=EXPLAINED[2]))
        on_stage(REFUSED[0])
        yield from _ask_too_much(database)


def _describe_table(database: Database, truth: SyntheticTruth) -> TableStep:
    visits, patients, most = truth.compute_raw(_TABLE_FACTS)[0]
    plan = database.explain(QUESTIONS[0][1], epsilon=1)
    accounts = {account.name: account.budget for account in database.ledger.accounts()}
    table, grant = accounts.values()
    return TableStep(
        visits=int(visits),
        patients=patients,
        most_visits=most,
        wards=len(WARDS),
        max_rows=MAX_ROWS,
        max_cost=MAX_COST,
        kept=truth.compute_bounded(plan)[0][0] / visits,
        analyst=ANALYST,
        table_budget=str(table),
        grant=str(grant),
    )


def _ask_question(database: Database, truth: SyntheticTruth, title: str, sql: str, epsilon: str) -> AnswerStep:
    session = database.session(ANALYST)
    plan, answer = session.explain(sql, epsilon=epsilon), session.ask(sql, epsilon=epsilon)
    bounded = {row[:-1]: row[-1] for row in truth.compute_bounded(plan)}
    raw = {row[:-1]: row[-1] for row in truth.compute_raw(sql)}
    lines = []
    for row, spans in zip(answer.rows, answer.interval(), strict=True):
        low, high = spans[-1] or (None, None)
        key = str(row[0]) if len(row) > 1 else None
        lines.append(AnswerLine(key, row[-1], low, high, bounded.get(row[:-1]), _read_number(raw.get(row[:-1]))))
    return AnswerStep(
        title=title,
        sql=sql,
        column=answer.columns[-1],
        lines=tuple(lines),
        cost=str(answer.cost),
        left=decimal(session.remaining("visits").epsilon),
        table_left=decimal(database.remaining("visits").epsilon),
        receipt=answer.receipt,
    )


def _read_number(value: Any) -> float | None:
    return None if value is None else float(value)


def _ask_too_much(database: Database) -> Iterator[RefusalStep]:
    title, sql, epsilon = REFUSED
    try:
        database.session(ANALYST).ask(sql, epsilon=epsilon)
    except BudgetExceeded as error:
        yield RefusalStep(title, sql, error)
