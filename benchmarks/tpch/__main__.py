"""`make tpch`: five questions of TPC-H at scale 1 with the customer as the person; relative error against epsilon.

`python -m benchmarks.tpch SCALE FOLDER` takes another scale, and keeps the tables in a folder.
"""

from __future__ import annotations

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import duckdb
from benchmarks.measure import best_of
from benchmarks.tpch.errors import Errors, ask, errors, lost, reading_once, truth
from benchmarks.tpch.picture import draw
from benchmarks.tpch.questions import Q1, QUESTIONS, Asked
from benchmarks.tpch.tables import MAX_LINES, generated, plain, protected

import jali

EPSILONS = tuple(Fraction(epsilon) for epsilon in ("0.1", "0.3", "1", "3", "10"))
# Every median is over at least so many answers, and so many numbers in them.
ANSWERS, NUMBERS = 20, 200
SMALLEST = ("N", "F")  # of Q1's groups it has 1 row in 150

Found = dict[str, list[Errors]]


class Bench:
    """The tables, in DuckDB and in Jali."""

    def __init__(self, directory: Path) -> None:
        self.plain: duckdb.DuckDBPyConnection = plain(directory)
        self.jali: jali.Database = protected(directory)

    def errors(self, asked: Asked, epsilon: Fraction, max_rows: int | None, group: object = None) -> Errors:
        """Return the errors of one question, or of one of its groups."""
        exact = truth(self.plain, asked)
        kept = {key: row for key, row in exact.items() if group in (None, key)}
        answers = max(ANSWERS, NUMBERS // sum(map(len, kept.values())))
        return errors(self.jali, asked, kept, epsilon, answers=answers, max_rows=max_rows)

    def by_epsilon(self, asked: Asked, max_rows: int | None, group: object = None) -> list[Errors]:
        """Return the errors of one question at each loss."""
        return [self.errors(asked, epsilon, max_rows, group) for epsilon in EPSILONS]


def main(scale: str = "1", folder: str | None = None) -> None:
    """Print the tables of docs/tpch.md, and draw its picture at scale 1."""
    with tempfile.TemporaryDirectory() as made:
        bench = Bench(generated(Path(folder or made), scale))
        _bounds(bench)
        with reading_once():
            written, tuned = _errors(bench)
            _steps(bench, written, tuned)
        _seconds(bench)
    if scale == "1":
        draw([float(epsilon) for epsilon in EPSILONS], _whole(written), _whole(tuned))


def _bounds(bench: Bench) -> None:
    _row("question", "max_rows", "rows lost", f"lost at {MAX_LINES}", "lost at half of max_rows")
    for asked in QUESTIONS:
        most = (asked.max_rows, MAX_LINES, asked.max_rows // 2)
        _row(asked.name, asked.max_rows, *(f"{lost(bench.plain, asked, k):.2%}" for k in most))


def _errors(bench: Bench) -> tuple[Found, Found]:
    """Print the errors at every loss, and return those of the questions as written and as tuned."""
    written, tuned = {}, {}
    _row("question", *(f"epsilon {float(epsilon):g}" for epsilon in EPSILONS), "of this, bounding")
    for asked in QUESTIONS:
        written[asked.name] = _line(f"{asked.name} as written", bench.by_epsilon(asked, None))
        tuned[asked.name] = _line(f"{asked.name} tuned", bench.by_epsilon(asked.edited, asked.max_rows))
    _line(f"Q1 tuned, group {' '.join(SMALLEST)} alone", bench.by_epsilon(Q1.edited, Q1.max_rows, SMALLEST))
    return written, tuned


def _line(title: str, found: list[Errors]) -> list[Errors]:
    _row(title, *(f"{each.whole:.2%}" for each in found), f"{found[-1].bounding:.2%}")
    return found


def _whole(found: Found) -> dict[str, list[float]]:
    return {name: [each.whole for each in line] for name, line in found.items()}


def _steps(bench: Bench, written: Found, tuned: Found) -> None:
    """Print at one loss what the bound gains, and what the edit gains besides."""
    one = EPSILONS.index(Fraction(1))
    _row("question at epsilon 1", "as written", "with max_rows", "edited besides")
    for asked in QUESTIONS:
        bounded = bench.errors(asked, Fraction(1), asked.max_rows) if asked.edit else tuned[asked.name][one]
        edited = _parts(tuned[asked.name][one]) if asked.edit else ""
        _row(asked.name, _parts(written[asked.name][one]), _parts(bounded), edited)


def _parts(found: Errors) -> str:
    return f"{found.bounding:.2%} + {found.noise:.2%}"


def _seconds(bench: Bench) -> None:
    _row("question", "plain DuckDB, CPU s", "Jali, CPU s", "ratio")
    for asked in QUESTIONS:
        seconds = best_of(
            {
                "plain": lambda asked=asked: bench.plain.execute(asked.sql).fetchall(),  # type: ignore[misc]
                "jali": lambda asked=asked: ask(bench.jali, asked, Fraction(1), asked.max_rows),  # type: ignore[misc]
            },
            rounds=5,
        )
        ratio = seconds["jali"] / seconds["plain"]
        _row(asked.name, f"{seconds['plain']:.2f}", f"{seconds['jali']:.2f}", f"{ratio:.1f}")


def _row(title: str, *cells: object) -> None:
    if title.startswith("question"):
        print()
    print("| " + " | ".join([title, *map(str, cells)]) + " |", flush=True)
    if title.startswith("question"):
        print("|" + "---|" * (1 + len(cells)))


if __name__ == "__main__":
    main(*sys.argv[1:])
