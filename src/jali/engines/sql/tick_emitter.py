"""Emit what a stream reads from a table: how many rows of each kind each owner has, tick by tick.

Everything here is total: a moment, key or value that cannot be read is NULL, and its row is left out.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction

from jali.engines.sql.dialect import Dialect
from jali.engines.sql.expression_emitter import Emitter
from jali.engines.sql.relation_emitter import find_columns, present, select
from jali.ir.aggregates import KeySet
from jali.ir.expressions import Call, Expression
from jali.ir.relations import find_plain_table, split_conditions
from jali.ir.stream_input import StreamInput


def emit_ticks(
    followed: StreamInput, span: tuple[datetime.datetime, datetime.datetime], most: int, dialect: Dialect
) -> str:
    """Write the query whose rows are owner, microseconds since 1970, cell, value, and how many rows are alike.

    Args:
        followed: What a stream follows.
        span: When the first and the last of the ticks begin that are looked at.
        most: Up to how many rows that are alike are counted.
        dialect: The words of the engine.
    """
    rows, conditions = split_conditions(followed.rows)
    table = find_plain_table(rows)
    emitter = Emitter(rows if table is None else table, dialect)
    columns = [_owner(followed, emitter), _moment(followed, emitter, span)]
    columns += [_cell(followed.keys, emitter), _value(followed, emitter)]
    where = " AND ".join(emitter.condition(condition) for condition in conditions)
    wanted = find_columns(_find_expressions(followed, conditions))
    source = dialect.nest_query(select(dialect, rows, wanted)) if table is None else dialect.scan(table, wanted)
    # The columns are named outside: no name of the table can be mistaken for one of them.
    inner = f"SELECT {', '.join(columns)} FROM {source}" + (f" WHERE {where}" if where else "")
    names = ("owner", "moment", "cell", "value")
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return (
        f"SELECT {', '.join(names)}, least(count(*), {most}) FROM ({inner}) AS items({', '.join(names)})"
        f" WHERE {there} GROUP BY {', '.join(names)}"
    )


def _find_expressions(followed: StreamInput, conditions: Sequence[Expression]) -> list[Expression]:
    found = [followed.moment, *(key.expression for key in followed.keys), *conditions]
    return found + [e for e in (followed.owner, followed.value) if e is not None]


def _owner(followed: StreamInput, emitter: Emitter) -> str:
    """The owner as text: whole numbers and texts have one each."""
    return emitter.dialect.cast_to_text("owner" if followed.owner is None else emitter.write(followed.owner))


def _moment(followed: StreamInput, emitter: Emitter, span: tuple[datetime.datetime, datetime.datetime]) -> str:
    """The beginning of the tick that a row happened in; infinite and far moments are told apart before."""
    dialect = emitter.dialect
    begun = dialect.timestamp(emitter.write(Call(f"trunc {followed.every}", (followed.moment,))))
    within = f"{begun} BETWEEN {dialect.constant(span[0])} AND {dialect.constant(span[1])}"
    return f"CASE WHEN {within} THEN {dialect.ticks(begun)} END"


def _cell(keys: tuple[KeySet, ...], emitter: Emitter) -> str:
    """The place of a row among all combinations of keys; NULL where a key is none of the declared ones."""
    found = f"CAST(0 AS {emitter.dialect.large})"
    for key in keys:
        found = f"({found} * {len(key.values or ())} + {_place(key, emitter)})"
    return found


def _place(key: KeySet, emitter: Emitter) -> str:
    values = key.values or ()
    written = emitter.write_key(key.expression, key.kind)
    missing = str(values.index(None)) if None in values else "NULL"
    found = emitter.dialect.place(written, values, key.kind)
    return f"CASE WHEN {written} IS NULL THEN {missing} ELSE {found} END"


def _value(followed: StreamInput, emitter: Emitter) -> str:
    """What a row adds, clamped; 1 where rows are counted. Adding 0 makes one zero of the two that doubles have."""
    value, dialect = followed.value, emitter.dialect
    shown = dialect.double(Fraction(1))
    if value is None:
        return shown
    if followed.measure != "count":
        ends = dialect.double(followed.low), dialect.double(followed.high)
        shown = f"{dialect.clamp(emitter.real(value), *ends)} + 0.0"
    return f"CASE WHEN {present(emitter, value)} THEN {shown} END"
