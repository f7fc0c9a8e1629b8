"""The golden tables in other engines: the same rows, the same declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql
from tests.golden import rows

from jali.catalog.columns import Field
from jali.catalog.tables import Catalog, Public, Source, Table
from jali.engines import Engine

TABLES: Mapping[str, pa.Table] = MappingProxyType(
    {
        "visits": rows.visits(),
        "stays": rows.visits(),
        "people": rows.people(),
        "voters": rows.people(),
        "orders": rows.orders(),
        "patients": rows.patients(),
        "prescriptions": rows.prescriptions(),
        "sales": rows.sales(),
        "lines": rows.lines(),
        "refunds": rows.refunds(),
        "surveys": rows.surveys(),
        "wards": rows.wards(),
        "drugs": rows.drugs(),
    }
)
_POSTGRES = {
    pa.int64(): "bigint",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}


def load_postgres(connection: psycopg.Connection[Any], name: str, table: pa.Table, schema: str = "public") -> None:
    """Make a table of these rows in Postgres."""
    place = sql.Identifier(schema, name)
    columns = [sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(_POSTGRES[f.type])) for f in table.schema]
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(place, sql.SQL(", ").join(columns)))
    with connection.cursor() as cursor, cursor.copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
        for row in table.to_pylist():
            copy.write_row(tuple(row.values()))


@contextmanager
def schema_of(url: str, tables: Mapping[str, pa.Table] = TABLES) -> Iterator[str]:
    """Make these tables in a schema of their own, which is dropped with the block."""
    name = f"t{id(tables):x}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        try:
            for table, content in tables.items():
                load_postgres(connection, table, content, name)
            yield name
        finally:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


def moved(catalog: Catalog, engine: Engine, place: dict[str, Source]) -> Catalog:
    """Return the same declarations over tables of another engine, with the types that it has."""
    return Catalog(tuple(_moved(table, engine, place) for table in catalog.tables))


def _moved(table: Table | Public, engine: Engine, place: dict[str, Source]) -> Any:
    source = place[table.name]
    types = {field.name: field for field in engine.fields(source, {})}
    fields = tuple(_retyped(field, types[field.name]) for field in table.fields)
    if isinstance(table, Table) and table.reach is not None:
        reach = replace(table.reach, table=_moved(table.reach.table, engine, place))
        return replace(table, source=source, fields=fields, reach=reach)
    return replace(table, source=source, fields=fields)


def _retyped(field: Field, other: Field) -> Field:
    assert field.kind is other.kind, (field, other)
    return replace(field, type=other.type)
