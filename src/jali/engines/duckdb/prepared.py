"""Prepared copies: a table as a DuckDB file of its own, with its people numbered and their rows ranked.

Statement and proof are those of all copies: `engines/sql/prepared.py`, docs/proofs/prepared.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.duckdb.expressions import Emitter
from jali.engines.duckdb.literals import quoted, text
from jali.engines.duckdb.sources import COPIED
from jali.engines.sql.prepared import drawn_key, person_column, rank_column, unit_of
from jali.noise import BitSource, system_bits
from jali.query.catalog import Table
from jali.query.nodes import Column

if TYPE_CHECKING:
    import duckdb

_WRITING = "copy being written"
_PEOPLE = "people of the copy"


def write_copy(
    cursor: duckdb.DuckDBPyConnection,
    table: Table,
    target: Path,
    stage: Callable[[str], None],
    bits: BitSource | None = None,
) -> None:
    """Write the copy of a table into a file that is not there yet."""
    cursor.execute(f"ATTACH {text(str(target))} AS {quoted(_WRITING)}")
    target.chmod(0o600)
    stage("numbering people")
    cursor.execute(_people(table))
    stage("ranking rows")
    cursor.execute(_ranked(table, drawn_key(bits or system_bits())))
    cursor.execute(f"CHECKPOINT {quoted(_WRITING)}")
    cursor.execute(f"DETACH {quoted(_WRITING)}")


def _people(table: Table) -> str:
    """Number the people, in any order."""
    unit = unit_of(table, DUCKDB)
    people = f"SELECT DISTINCT {unit} AS unit FROM {DUCKDB.scan(table)} WHERE {unit} IS NOT NULL"
    return f"CREATE TEMP TABLE {quoted(_PEOPLE)} AS SELECT unit, row_number() OVER () AS person FROM ({people})"


def _ranked(table: Table, key: str) -> str:
    """Write the rows with their codes and ranks, person by person. Rows without an owner are left out."""
    emitter, fields = Emitter(table), list(enumerate(table.columns))
    columns = ", ".join(f"{emitter.write(Column(field.name))} AS c{i}" for i, field in fields)
    rows = f"SELECT {columns}, {unit_of(table, DUCKDB)} AS unit FROM {DUCKDB.scan(table)}"
    content = " || ".join(_spelled(f"c{i}") for i, _ in fields)
    joined = f"SELECT r.*, person, {content} AS content FROM ({rows}) AS r JOIN {quoted(_PEOPLE)} USING (unit)"
    order = f"hash({text(key)} || content), content"
    shown = ", ".join(f"c{i} AS {quoted(field.name)}" for i, field in fields)
    rank = f"row_number() OVER (PARTITION BY person ORDER BY {order})"
    return (
        f"CREATE TABLE {quoted(_WRITING)}.{quoted(COPIED)} AS SELECT {shown},"
        f" person AS {quoted(person_column(table))},"
        f" {rank} AS {quoted(rank_column(table))} FROM ({joined}) ORDER BY person"
    )


def _spelled(column: str) -> str:
    """Write a value so that different rows have different contents: its length comes first. -0.0 is not 0.0."""
    return f"coalesce(strlen(CAST({column} AS VARCHAR)) || ':' || CAST({column} AS VARCHAR), '-')"
