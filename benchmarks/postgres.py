"""Whole questions against the same plain query in Postgres, over 10 million rows: CPU seconds here and there."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from benchmarks.measure import Row, at_most, reported
from tests.servers.postgres import MISSING, Postgres, postgres_binaries, running_postgres

import jali

ROWS = 10_000_000
GROUPS = 1000
PEOPLE = 1_000_000
SQL = "SELECT city, COUNT(*), SUM(fare) FROM {} GROUP BY city"
FILTERED = "SELECT city, COUNT(*), SUM(fare) FROM {} WHERE fare > 5 GROUP BY city"
ROUNDS = 3
_HASHED = "abs(hashint8(i * {} + {}))"
_MAKE = f"""CREATE TABLE rides AS SELECT {_HASHED.format(1, 0)} % {GROUPS} AS city,
    ({_HASHED.format(1, 7)} % 15000) / 100::float8 AS fare, ({_HASHED.format(3, 1)} % {PEOPLE})::bigint AS user_id
    FROM generate_series(1, {{}}::bigint) AS i"""


def rows(size: int = ROWS) -> list[Row]:
    """Measure questions by 1,000 groups: at row level, and at person level with and without a prepared copy."""
    if postgres_binaries() is None:
        print(f"  {MISSING}: not measured")
        return []
    with running_postgres() as server, tempfile.TemporaryDirectory() as folder:
        _configure(server)
        _make(server, size)
        return _compared(server, Path(folder))


def _configure(server: Postgres) -> None:
    """As a small server has it: the tables fit its memory."""
    with psycopg.connect(server.superuser, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET shared_buffers = '2GB'")
        connection.execute("ALTER SYSTEM SET max_wal_size = '8GB'")
    server.restart()


def _make(server: Postgres, size: int) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(_MAKE.format(size).encode())
        connection.execute("CREATE TABLE ordered AS SELECT * FROM rides ORDER BY user_id")
        connection.execute("CREATE INDEX ON ordered (user_id)")
        # The same rows once more: one source has one budget.
        connection.execute("CREATE TABLE plain_rows AS TABLE rides")
        connection.execute("CREATE TABLE copied AS TABLE rides")
        connection.execute("VACUUM ANALYZE")


def _compared(server: Postgres, folder: Path) -> list[Row]:
    losses = (f"0.{number:06d}" for number in count(1))
    with jali.connect(folder / "rides.jali") as db, psycopg.connect(server.url, autocommit=True) as plain:
        columns: Any = {"city": jali.Keys(list(range(GROUPS))), "fare": jali.Range(0, 100)}
        for name in ("plain_rows", "rides", "ordered", "copied"):
            unit, bound = (None, None) if name == "plain_rows" else ("user_id", 5)
            budget = jali.Budget(epsilon=10**6)
            db.protect(name, server.url, unit=unit, budget=budget, columns=columns, max_rows=bound)
        start = time.perf_counter()
        db.prepare("copied")
        prepared = time.perf_counter() - start

        def asked(name: str, sql: str = SQL) -> Callable[[], object]:
            return lambda: db.ask(sql.format(name), epsilon=next(losses))

        def straight(sql: str) -> Callable[[], object]:
            return lambda: plain.execute(sql.format("rides").encode()).fetchall()

        took = _best(
            server,
            {
                "plain": straight(SQL),
                "row level": asked("plain_rows"),
                "person level, prepared": asked("copied"),
                "plain, filtered": straight(FILTERED),
                "person level, prepared, filtered": asked("copied", FILTERED),
                "person level, not prepared, in the order of people, with an index": asked("ordered"),
                "person level, not prepared": asked("rides"),
            },
        )
    return _rows(took, prepared)


def _rows(took: Mapping[str, float], prepared: float) -> list[Row]:
    found = []
    for name in took:
        beside = "plain, filtered" if name.endswith("filtered") else "plain"
        if name != beside:
            most = 2 if name == "row level" else 4
            found.append(at_most(f"{name} / {beside} Postgres", took[name] / took[beside], most, digits=3))
    found.append(reported("plain Postgres, CPU seconds", took["plain"], digits=3))
    return [*found, reported("preparing the copy, seconds", prepared, digits=3)]


def _best(server: Postgres, actions: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Run all actions in turn, several times, and return the least CPU seconds of each, here and at the server."""
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(ROUNDS):
        for name, action in actions.items():
            start = _server_seconds(server) + time.process_time()
            action()
            best[name] = min(best[name], _server_seconds(server) + time.process_time() - start)
    return best


def _server_seconds(server: Postgres) -> float:
    """CPU seconds of the server's processes, and of those that have ended."""
    first = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
    total = 0
    for process in (path for path in Path("/proc").iterdir() if path.name.isdigit()):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        # Fields 4, 14 to 17 of proc(5): parent, and ticks of the process and of its children that have ended.
        if int(process.name) == first:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == first:
            total += sum(map(int, fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        print(f"  {row}")
