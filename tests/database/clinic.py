"""A small clinic on disk, for tests of the whole walk of a question; importable by child processes."""

from __future__ import annotations

import inspect
import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.parquet import write_parquet

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.execution import ask
from jali.execution.ask import QuestionRunner
from jali.ledger import SqliteLedger
from jali.mechanisms import LInfinity
from jali.sql.reader.read_select import read_sql

COLUMNS: dict[str, jali.Range | jali.Keys] = {
    "age": jali.Range(0, 120),
    "ward": jali.Keys(["A", "B", "C"]),
    "cost": jali.Range(0, 100),
}

# The walk of one question, in order: where a process may die. Each is tried before and after.
STEPS: tuple[tuple[Any, str], ...] = (
    (QuestionRunner, "plan"),
    (QuestionRunner, "freeze"),
    (SqliteLedger, "look_up"),
    (SqliteLedger, "reserve"),
    (DuckDBEngine, "run"),
    (LInfinity, "noise"),
    (SqliteLedger, "release"),
    (ask, "answer_of"),
)

# The first question makes the parser's tables: children that are forked after this import find them made.
read_sql("SELECT ward, COUNT(*), AVG(age) FROM visits WHERE cost <> 1 GROUP BY ward")


def make_visits(path: Path, rows: int = 500) -> Path:
    select = f"""SELECT (i % 97)::INTEGER AS patient_id, (20 + i % 60)::INTEGER AS age,
        ['A', 'B', 'C', 'D'][1 + (i % 4)::INTEGER] AS ward, (i % 1000) / 10.0::DOUBLE AS cost
        FROM range({rows}) t(i)"""
    return write_parquet(select, path)


def open_clinic(directory: Path, epsilon: Any = 1, *, place: str | None = None, **options: Any) -> jali.Database:
    """Open the clinic's database, there or in another place, protecting its table if that was not done."""
    source = directory / "visits.parquet"
    if not source.exists():
        make_visits(source)
    db = jali.connect(place or str(directory / "clinic.jali"))
    arguments: dict[str, Any] = {"unit": "patient_id", "max_rows": 5, "columns": COLUMNS} | options
    db.protect("visits", source, budget=jali.Budget(epsilon=epsilon), **arguments)
    return db


def die_at(step: int, after: bool) -> None:
    """Make this process kill itself at one step of the next question. Hooks live here, never in the package."""
    owner, name = STEPS[step]
    real = getattr(owner, name)
    static = isinstance(inspect.getattr_static(owner, name), staticmethod)

    def deadly(*arguments: Any, **named: Any) -> Any:
        if after:
            real(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, staticmethod(deadly) if static else deadly)


def die_at_statement(count: int) -> None:
    """Make this process kill itself at its n-th statement to SQLite from now on."""
    import sqlite3

    real, left = sqlite3.connect, [count]

    class Deadly(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().execute(*arguments)

    sqlite3.connect = lambda *a, **k: real(*a, **k, factory=Deadly)  # type: ignore[assignment]


def ask_once(directory: Path, number: int, deadly: Any, arguments: tuple[Any, ...]) -> None:
    """Ask one question in this process, having arranged its death; write the answer down if there is one."""
    deadly(*arguments)
    with open_clinic(directory, epsilon=1000) as db:
        sql = f"SELECT ward, COUNT(*), AVG(age) FROM visits WHERE cost <> {number} GROUP BY ward"
        answer = db.ask(sql, epsilon="1/10")
        (directory / f"answer-{number}").write_text(repr(answer.rows))


def ask_many(directory: Path, first: int, count: int, epsilon: str, budget: Fraction) -> None:
    """Ask different questions until the budget refuses; write down how many were answered."""
    answered = 0
    with open_clinic(directory, epsilon=budget) as db:
        for number in range(first, first + count):
            try:
                db.ask(f"SELECT COUNT(*) FROM visits WHERE cost > {number}", epsilon=epsilon)
                answered += 1
            except jali.BudgetExceeded:
                pass
    (directory / f"count-{first}").write_text(str(answered))
