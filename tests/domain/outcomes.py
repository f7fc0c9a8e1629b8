"""Outcomes of questions, and of two tables that differ in one person: the same class, and the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.domain.columns import Column
from tests.domain.questions import DATED, FORMS
from tests.domain.sources import Source, Stored

import jali
from jali.catalog.columns import Kind

TABLES = ("plain", "harsh")  # of one length, so that places in questions are the same
BUDGET = jali.Budget(epsilon=10**9, delta="1/2")
TERMS: dict[str, Any] = {"epsilon": 1, "delta": "1/1000000000"}
_KNOWN: dict[Kind, pa.Array] = {
    Kind.INTEGER: pa.array([1, 2]),
    Kind.REAL: pa.array([0.5, 1e300]),
    Kind.TEXT: pa.array(["A", ""]),
    Kind.BOOLEAN: pa.array([True, None]),
    Kind.DATE: pa.array([20_000, None], pa.int32()).view(pa.date32()),
    Kind.TIMESTAMP: pa.array([90_000_000_000, None], pa.int64()).view(pa.timestamp("us")),
}


@dataclass(frozen=True)
class Outcome:
    """What anybody sees of a question besides numbers: answered, or how it was refused."""

    kind: str
    words: str = ""


def outcome(db: jali.Database, sql: str, table: str, terms: Mapping[str, Any] = TERMS) -> Outcome:
    """Ask about one of the tables. A failure of the engine says why, in the engine's words."""
    before = len(db.receipts())
    try:
        db.ask(sql, **terms)
    except jali.errors.EngineError as problem:
        found = db.receipts()
        said = db.ledger.failure(found[-1].id) if len(found) > before else None
        db.tables.check(table)
        return Outcome("failed", f"{problem} {said}")
    except jali.errors.QueryError as refusal:
        assert len(db.receipts()) == before, "a refused question was charged"
        return Outcome("refused", str(refusal).replace(table, "TABLE"))
    return Outcome("answered")


def declared(column: Column) -> dict[str, Any]:
    """Return what is said of a column: dates and times have a range, so that they have ends and medians."""
    if column.kind not in DATED:
        return {}
    low, high = ("2025-01-01", "2025-02-03")
    if column.kind is Kind.TIMESTAMP:
        low, high = f"{low} 00:00:00", f"{high} 00:00:00"
    return {column.name: jali.Range(low, high)}


def protect(db: jali.Database, name: str, stored: Stored, source: Source, **terms: Any) -> None:
    """Protect a source."""
    columns = stored.options.get("columns", {}) | {k: v for c in source.columns for k, v in declared(c).items()}
    options: dict[str, Any] = (
        {"unit": "uid", "max_rows": 50, "budget": BUDGET} | stored.options | {"columns": columns}
    )
    db.protect(name, stored.source, **options | terms)


def publish_known(db: jali.Database, source: Source) -> None:
    """Publish a table with a value or two of each column."""
    known = {c.name: _KNOWN[c.kind] for c in source.columns if c.kind is not None}
    db.publish("known", pa.table({"label": ["one", "two"], **known}))


@contextmanager
def neighbours(source: Source, folder: Path, **terms: Any) -> Iterator[jali.Database]:
    """A database with two tables: that of everybody, and that of everybody and Bob."""
    rows = {"plain": source.everybody(), "harsh": [*source.everybody(), *source.bob()]}
    with jali.connect() as db:
        for name in TABLES:
            protect(db, name, source.write(folder, name, rows[name]), source, **terms)
        publish_known(db, source)
        yield db


def apart(db: jali.Database, sql: str, column: str) -> tuple[Outcome, Outcome]:
    """Ask the same of both tables."""
    plain, hostile = (outcome(db, sql.format(t=name, c=f'"{column}"'), name) for name in TABLES)
    return plain, hostile


def forms(column: Column) -> dict[str, str]:
    """Return the positions that a column of a kind can stand in."""
    return {name: form.sql for name, form in FORMS.items() if column.kind in form.kinds}
