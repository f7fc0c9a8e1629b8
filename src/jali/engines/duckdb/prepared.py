"""Prepared copies: a table as a DuckDB file of its own, with its people numbered and their rows ranked.

Statement and proof are those of all copies: `engines/sql/prepared_rows.py`, docs/proofs/prepared.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jali.catalog.tables import Table
from jali.engines.duckdb.dialect import DUCKDB, DuckDBEmitter
from jali.engines.duckdb.sources import COPY_TABLE
from jali.engines.sql.dialect import quote, text
from jali.engines.sql.prepared_rows import draw_key, person_column, rank_column, unit_of, write_content
from jali.ir.expressions import Column
from jali.sampling import BitSource, system_bits

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
    cursor.execute(f"ATTACH {text(str(target))} AS {quote(_WRITING)}")
    target.chmod(0o600)
    stage("numbering people")
    cursor.execute(_number_people(table))
    stage("ranking rows")
    cursor.execute(_rank_rows(table, draw_key(bits or system_bits())))
    cursor.execute(f"CHECKPOINT {quote(_WRITING)}")
    cursor.execute(f"DETACH {quote(_WRITING)}")


def _number_people(table: Table) -> str:
    """Number the people, in any order."""
    unit = unit_of(table, DUCKDB)
    people = f"SELECT DISTINCT {unit} AS unit FROM {DUCKDB.scan(table)} WHERE {unit} IS NOT NULL"
    return f"CREATE TEMP TABLE {quote(_PEOPLE)} AS SELECT unit, row_number() OVER () AS person FROM ({people})"


def _rank_rows(table: Table, key: str) -> str:
    """Write the rows with their codes and ranks, person by person. Rows without an owner are left out."""
    emitter, fields = DuckDBEmitter(table), list(enumerate(table.columns))
    columns = ", ".join(f"{emitter.write(Column(field.name))} AS c{i}" for i, field in fields)
    rows = f"SELECT {columns}, {unit_of(table, DUCKDB)} AS unit FROM {DUCKDB.scan(table)}"
    content = " || ".join(write_content(f"c{i}", DUCKDB) for i, _ in fields)
    joined = f"SELECT r.*, person, {content} AS content FROM ({rows}) AS r JOIN {quote(_PEOPLE)} USING (unit)"
    order = f"hash({text(key)} || content), content"
    shown = ", ".join(f"c{i} AS {quote(field.name)}" for i, field in fields)
    rank = f"row_number() OVER (PARTITION BY person ORDER BY {order})"
    return (
        f"CREATE TABLE {quote(_WRITING)}.{quote(COPY_TABLE)} AS SELECT {shown},"
        f" person AS {quote(person_column(table))},"
        f" {rank} AS {quote(rank_column(table))} FROM ({joined}) ORDER BY person"
    )
