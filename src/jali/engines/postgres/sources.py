"""Where Postgres finds the rows of a table, what its catalog says of it, and the kinds of its column types.

The type of a column is frozen when a table is protected, and every read expects it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Field, Kind
from jali.catalog.tables import Source
from jali.engines.sql.dialect import quote

if TYPE_CHECKING:
    import psycopg


NAMES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.OTHER: "text",
}
_WHOLE = frozenset({"smallint", "integer", "bigint"})
_TEXTS = ("text", "character", "uuid", "name", "citext", '"char"')
_DIGITS = re.compile(r"numeric\((\d+),(-?\d+)\)")
# Powers of ten that doubles can hold, on either side of 1.
_HELD = 307
_KINDS = {"boolean": Kind.BOOLEAN, "date": Kind.DATE}


def field_of(name: str, written: str, *, enum: bool = False) -> Field:
    """Return the column of a type as `format_type` writes it.

    Decimals and single-precision numbers are read as doubles. A time with a time zone is no plain time: which day
    it is on depends on who looks.
    """
    if written.endswith("[]"):
        kind = Kind.OTHER
    elif written in _WHOLE:
        kind = Kind.INTEGER
    elif written.startswith("numeric") or written in ("real", "double precision"):
        kind = Kind.REAL
    elif enum or written.startswith(_TEXTS):
        kind = Kind.TEXT
    elif written.startswith("timestamp") and "without" in written:
        kind = Kind.TIMESTAMP
    else:
        kind = _KINDS.get(written, Kind.OTHER)
    return Field(name, kind, type=written)


def is_beyond_doubles(written: str) -> bool:
    """Say whether a type of decimals has values that no double can hold: Postgres raises when they are cast.

    Example:
        >>> is_beyond_doubles("numeric"), is_beyond_doubles("numeric(400,0)"), is_beyond_doubles("numeric(10,2)")
        (True, True, False)
    """
    if not written.startswith("numeric"):
        return False
    digits = _DIGITS.fullmatch(written)
    return digits is None or int(digits[1]) - int(digits[2]) > _HELD or int(digits[2]) > _HELD


# Tables that this role may read, also those in partitions. A view may be drawn at random, or read another
# protected table; a materialised one cannot be held while it is read, and what a foreign table reads is not known.
_READABLE = "('r', 'p')"
_WHERE = f"""n.nspname = %s AND c.relname = %s AND c.relkind IN {_READABLE}
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"""
_COLUMNS = f"""
    SELECT a.attname, format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE a.atttypid END,
                                  CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END), t.typtype = 'e'
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE {_WHERE} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
# A scan of a table reads those that inherit from it: all tables that are so related count as one.
IDENTITY = f"""
    WITH RECURSIVE asked AS (
        SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_WHERE}
    ), related AS (
        SELECT oid FROM asked
        UNION SELECT CASE WHEN i.inhrelid = related.oid THEN i.inhparent ELSE i.inhrelid END
        FROM related JOIN pg_inherits i ON related.oid IN (i.inhrelid, i.inhparent)
    )
    SELECT (SELECT system_identifier FROM pg_control_system()),
        (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
        coalesce(pg_partition_root(asked.oid)::oid, (SELECT min(oid) FROM related))
    FROM asked
"""
_KEYS = f"""
    SELECT a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_index i ON i.indrelid = c.oid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    WHERE {_WHERE} AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indnkeyatts = 1
    AND i.indpred IS NULL
"""


def quote_relation(source: Source) -> str:
    """Write the name of a relation, in its schema."""
    return ".".join(map(quote, split_name(source)))


def split_name(source: Source) -> tuple[str, str]:
    """Return schema and name of a relation."""
    schema, _, name = source.relation.rpartition(".")
    return schema or "public", name


def read_columns(connection: psycopg.Connection[Any], source: Source) -> tuple[Field, ...]:
    """Read the columns of a table; none where there is no such table."""
    rows = connection.execute(_COLUMNS, split_name(source)).fetchall()
    return tuple(field_of(name, written, enum=enum) for name, written, enum in rows)


def read_unique_columns(connection: psycopg.Connection[Any], source: Source) -> set[str]:
    """Read which columns a key of the table keeps unique, each by itself."""
    return {name for (name,) in connection.execute(_KEYS, split_name(source)).fetchall()}
