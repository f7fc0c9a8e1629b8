"""Trace one question through the packages of jali: `python -m benchmarks.trace_ask`.

Prints the hops from package to package, and how often the walk comes back to a package that it has left. A hop is
a call of a function of another package than the one called last. `execution` and the public objects lead through
the steps, so that coming back to them is not counted. Nor are modules that hold data alone, and the methods that
dataclasses make. This is how the returns of the tree before were counted: there were 42 of them.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb

import jali
from jali import Budget, Database, Keys, Range

QUESTION = "SELECT ward, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY ward"
# Who leads through the steps.
LEADERS = frozenset({"execution", "database", "session"})
# Modules of frozen nodes, records and exact numbers, by the beginnings of their names: no step of the walk.
DATA = (
    "jali.catalog",
    "jali.engines.base",
    "jali.errors",
    "jali.ir",
    "jali.numbers",
    "jali.planner.measured_query",
    "jali.planner.plan",
    "jali.planner.plan_schema",
    "jali.privacy.adjacency",
    "jali.privacy.budget",
    "jali.privacy.event",
    "jali.privacy.losses",
    "jali.privacy.rationals",
    "jali.serialization",
)


@dataclass(frozen=True)
class Walk:
    """The packages that one question walks through, one hop after the other.

    Attributes:
        calls: How many functions of jali were called.
        hops: Each package that was entered, with the function that was called there.
    """

    calls: int
    hops: tuple[tuple[str, str], ...]

    @property
    def returns(self) -> Counter[str]:
        """How often each package was entered again after it was left; without those who lead."""
        entered = Counter(package for package, _ in self.hops)
        return Counter({package: n - 1 for package, n in entered.items() if n > 1 and package not in LEADERS})


def trace_question(db: Database, question: str = QUESTION) -> Walk:
    """Ask a question and follow it."""
    called: list[tuple[str, str]] = []
    calls = 0

    def follow(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("jali."):
            return
        calls += 1
        if frame.f_code.co_filename.startswith("<"):
            return
        if not any(module == name or module.startswith(f"{name}.") for name in DATA):
            called.append((module.split(".")[1], f"{module}:{frame.f_code.co_qualname}"))

    session = db.session("ana")
    sys.setprofile(follow)
    try:
        session.ask(question, epsilon=0.1)
    finally:
        sys.setprofile(None)
    hops = called[:1] + [after for before, after in pairwise(called) if before[0] != after[0]]
    return Walk(calls, tuple(hops))


def open_clinic(folder: Path) -> Database:
    """Open a database with one small table, in which a question like the traced one was answered before."""
    file = str(folder / "visits.parquet")
    rows = "SELECT i AS patient, 'ABC'[1 + i % 3] AS ward, i % 90 AS age FROM range(300) AS numbers(i)"
    duckdb.sql(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
    db = jali.connect(folder / "clinic.jali")
    columns: Any = {"ward": Keys(["A", "B", "C"]), "age": Range(0, 120)}
    db.protect("visits", file, unit="patient", budget=Budget(epsilon=10), max_rows=1, rows=300, columns=columns)
    db.grant("ana", "visits", Budget(epsilon=5))
    # Modules are imported, as in a process that runs. The traced question is parsed for the first time.
    db.session("ana").ask(f"{QUESTION} ORDER BY ward", epsilon=0.2)
    return db


def main() -> int:
    """Print the walk."""
    with tempfile.TemporaryDirectory() as folder, open_clinic(Path(folder)) as db:
        walk = trace_question(db)
    for package, function in walk.hops:
        print(f"{package:12} {function}")
    packages = {package for package, _ in walk.hops}
    print(f"\n{walk.calls:,} calls, {len(walk.hops)} hops over {len(packages)} packages")
    print(f"returns to packages that were left: {walk.returns.total()}, {dict(walk.returns.most_common())}")
    print(f"not counted, as they lead: {', '.join(sorted(LEADERS))}; as they hold data alone: {', '.join(DATA)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
