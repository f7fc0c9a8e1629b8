"""Reading and writing golden files: titled question, facts of its plan, queries for the engine.

A file is a list of cases:

    -- # What the question is about
    -- loss: epsilon 1/2, delta 1e-6, max_rows 4, part ward=A
    -- tolerance: 1e-6
    SELECT COUNT(*) FROM visits;

    -- plain
    SELECT ...;

    -- plan
    --   facts, one per line

    -- engine
    SELECT ...;

The tolerance is 1e-9 where none is written. `plain` is written only where DuckDB does not know the question's own
words; otherwise the question itself must give the same in plain DuckDB. What stands below `plan` is expected text:
`JALI_REGENERATE_GOLDEN=1 pytest tests/golden` writes it anew; read the difference before you keep it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.golden.facts import facts

from jali.catalog.tables import Catalog
from jali.engines.duckdb.dialect import emit
from jali.planner import Plan, make_plan
from jali.planner.bigquery_terms import check_unit, merge_clause
from jali.planner.terms import read_terms
from jali.sql.bigquery import read_clause
from jali.sql.reader.read_select import read_sql

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.sql"))
_TOLERANCE = "1e-9"
_WHOLE = ("max_rows", "max_groups", "min_people")


@dataclass(frozen=True)
class Case:
    """One titled question, and what is expected of it."""

    title: str
    loss: str
    question: str
    tolerance: str = _TOLERANCE
    plain: str = ""
    plan: str = ""
    engine: str = ""

    def text(self) -> str:
        """Write the case as it stands in a file."""
        near = "" if self.tolerance == _TOLERANCE else f"-- tolerance: {self.tolerance}\n"
        plain = f"-- plain\n{self.plain};\n\n" if self.plain else ""
        plan = "\n".join(f"--   {line}".rstrip() for line in self.plan.splitlines())
        return (
            f"-- # {self.title}\n-- loss: {self.loss}\n{near}{self.question};\n\n{plain}"
            f"-- plan\n{plan}\n\n-- engine\n{self.engine};\n"
        )

    @property
    def terms(self) -> dict[str, Any]:
        """The arguments of `ask` besides the question; none where BigQuery's clause says all."""
        pairs = [] if self.loss == "as the clause says" else [term.split() for term in self.loss.split(", ")]
        return {name: _term(name, value) for name, value in pairs}


def _term(name: str, value: str) -> Any:
    if name == "part":
        by, _, key = value.partition("=")
        return {by: key}
    return int(value) if name in _WHOLE else value


def read_cases(path: Path) -> list[Case]:
    """Read all cases of a file."""
    return [_read_case(block) for block in path.read_text().split("-- # ")[1:]]


def write_cases(path: Path, cases: list[Case]) -> None:
    """Write a file, under its own introduction."""
    head = path.read_text().split("-- # ")[0]
    path.write_text(head + "\n\n".join(case.text() for case in cases))


def _read_case(block: str) -> Case:
    title, rest = block.split("\n", 1)
    loss, rest = rest.removeprefix("-- loss: ").split("\n", 1)
    tolerance = _TOLERANCE
    if rest.startswith("-- tolerance: "):
        tolerance, rest = rest.removeprefix("-- tolerance: ").split("\n", 1)
    question, _, rest = rest.partition(";\n")
    plain, _, rest = rest.partition("-- plan\n")
    facts, _, engine = rest.partition("-- engine\n")
    lines = [line.removeprefix("--   ") for line in facts.strip().splitlines()]
    alone = plain.strip().removeprefix("-- plain").strip().removesuffix(";")
    return Case(title, loss, question, tolerance, alone, "\n".join(lines), engine.strip().removesuffix(";"))


def plan_of(case: Case, catalog: Catalog) -> Plan:
    """Plan a case's question."""
    text, clause, bounds = read_clause(case.question)
    if clause is None:
        return make_plan(read_sql(text, bounds), catalog, read_terms(**case.terms))
    plan = make_plan(read_sql(text, bounds), catalog, read_terms(**merge_clause(clause, case.terms)))
    check_unit(clause, plan)
    return plan


def made(case: Case, catalog: Catalog) -> Case:
    """Return the case with what is really planned and emitted."""
    plan = plan_of(case, catalog)
    queries = ";\n\n".join(emit(part.aggregation) for part in plan.parts)
    return replace(case, plan=facts(plan), engine=queries)
