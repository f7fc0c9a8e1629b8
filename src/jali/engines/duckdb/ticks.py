"""What a stream takes from a table, in DuckDB's SQL: how many rows each owner has of a kind, tick by tick.

Everything here is total: a moment, key or value that cannot be read is NULL, and its row is left out.
"""

from __future__ import annotations

import datetime

from jali.engines.duckdb.expressions import Emitter, constant, double
from jali.engines.duckdb.key_lists import key_list
from jali.engines.duckdb.relations import RelationEmitter, needed_by, present, select
from jali.engines.duckdb.sources import scan
from jali.engines.duckdb.types import type_name
from jali.query.aggregation import KeySet
from jali.query.catalog import Table
from jali.query.followed import Followed
from jali.query.nodes import Call, Expression
from jali.query.relation import Keep, Relation, Scan


def emit_ticks(followed: Followed, span: tuple[datetime.datetime, datetime.datetime], most: int) -> str:
    """Write the query whose rows are owner, microseconds since 1970, cell, value, and how many rows are alike.

    Args:
        followed: What a stream follows.
        span: When the first and the last of the ticks begin that are looked at.
        most: Up to how many rows that are alike are counted.
    """
    conditions, rows = _apart(followed.rows)
    table = _bare(rows)
    emitter = RelationEmitter(rows) if table is None else Emitter(table)
    columns = [_owner(followed, emitter), _moment(followed, emitter, span)]
    columns += [_cell(followed.keys, emitter), _value(followed, emitter)]
    where = " AND ".join(emitter.write(condition) for condition in conditions)
    source = scan(table) if table is not None else f"({select(rows, needed_by(_used(followed, conditions)))})"
    # The columns are named outside: no name of the table can be mistaken for one of them.
    inner = f"SELECT {', '.join(columns)} FROM {source}" + (f" WHERE {where}" if where else "")
    names = ("owner", "moment", "cell", "value")
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return (
        f"SELECT {', '.join(names)}, least(count(*), {most}) FROM ({inner}) AS items({', '.join(names)})"
        f" WHERE {there} GROUP BY {', '.join(names)}"
    )


def _apart(rows: Relation) -> tuple[list[Expression], Relation]:
    conditions: list[Expression] = []
    while isinstance(rows, Keep):
        conditions.insert(0, rows.condition)
        rows = rows.source
    return conditions, rows


def _bare(rows: Relation) -> Table | None:
    """Return the table whose rows these are, under their own names; None where another one knows the owners."""
    if isinstance(rows, Scan) and isinstance(rows.table, Table) and not rows.prefix:
        return rows.table if rows.table.reach is None else None
    return None


def _used(followed: Followed, conditions: list[Expression]) -> list[Expression]:
    found = [followed.moment, *(key.expression for key in followed.keys), *conditions]
    return found + [e for e in (followed.owner, followed.value) if e is not None]


def _owner(followed: Followed, emitter: Emitter) -> str:
    """The owner as text: whole numbers and texts have one each."""
    return f"CAST({'owner' if followed.owner is None else emitter.write(followed.owner)} AS VARCHAR)"


def _moment(followed: Followed, emitter: Emitter, span: tuple[datetime.datetime, datetime.datetime]) -> str:
    """The beginning of the tick that a row happened in; infinite and far moments are told apart before."""
    begun = f"TRY_CAST({emitter.write(Call(f'trunc {followed.every}', (followed.moment,)))} AS TIMESTAMP)"
    within = f"{begun} BETWEEN {constant(span[0])} AND {constant(span[1])}"
    return f"CASE WHEN {within} THEN TRY(epoch_us({begun})) END"


def _cell(keys: tuple[KeySet, ...], emitter: Emitter) -> str:
    """The place of a row among all combinations of keys; NULL where a key is none of the declared ones."""
    found = "CAST(0 AS BIGINT)"
    for key in keys:
        found = f"({found} * {len(key.values or ())} + {_place(key, emitter)})"
    return found


def _place(key: KeySet, emitter: Emitter) -> str:
    values = key.values or ()
    written = f"TRY_CAST({emitter.write(key.expression)} AS {type_name(key.kind)})"
    missing = str(values.index(None)) if None in values else "NULL"
    known = key_list(values, key.kind)
    return f"CASE WHEN {written} IS NULL THEN {missing} ELSE list_position({known}, {written}) - 1 END"


def _value(followed: Followed, emitter: Emitter) -> str:
    """What a row adds, clamped; 1 where rows are counted. Adding 0 makes one zero of the two that doubles have."""
    value = followed.value
    if value is None:
        return "'1.0'::DOUBLE"
    shown = "'1.0'::DOUBLE"
    if followed.measure != "count":
        shown = f"greatest(least({emitter.real(value)}, {double(followed.high)}), {double(followed.low)}) + 0.0"
    return f"CASE WHEN {present(emitter, value)} THEN {shown} END"
