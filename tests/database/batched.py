"""A batch asked in a process that dies; importable by child processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from tests.database.clinic import open_clinic

from jali.engines.duckdb import DuckDBEngine
from jali.execution import ask_batch
from jali.ledger import SqliteLedger

QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE age > 50",
    "SELECT CDF(age, [30, 40, 50, 60]) AS ages FROM visits",
)
# The walk of a batch: where a process may die. Each is tried before and after.
STEPS: tuple[tuple[Any, str], ...] = (
    (SqliteLedger, "look_up"),
    (SqliteLedger, "reserve"),
    (DuckDBEngine, "run"),
    (ask_batch, "measure"),
    (SqliteLedger, "release"),
    (ask_batch, "batch_of"),
)


def ask_and_die(directory: Path, number: int, step: int, after: bool) -> None:
    """Ask a batch of its own in this process, and kill it at one step; write the answers down if there are any."""
    owner, name = STEPS[step]
    real = getattr(owner, name)

    def deadly(*arguments: Any, **named: Any) -> Any:
        if after:
            real(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, deadly)
    with open_clinic(directory, epsilon=1000) as db:
        with db.batch(epsilon="1/10") as batch:
            for sql in QUESTIONS:
                batch.ask(sql)
            batch.ask(f"SELECT COUNT(*) FROM visits WHERE cost <> {number}")
        (directory / f"answer-{number}").write_text(repr([answer.rows for answer in batch.answers]))
