"""Declared tables for tests of plans. There are no files behind them: plans need none."""

from __future__ import annotations

import datetime
from dataclasses import replace

from jali.catalog.columns import Field, Keys, Kind, Range
from jali.catalog.tables import Source, Table
from jali.privacy import Adjacency, Budget

# Each person may count for 5 visits.
VISITS = Table(
    name="visits",
    source=Source("parquet", "/data/visits.parquet"),
    unit="patient_id",
    max_rows=5,
    adjacency=Adjacency.ADD_REMOVE,
    fields=(
        Field("patient_id", Kind.INTEGER, "BIGINT"),
        Field("age", Kind.INTEGER, "BIGINT", range=Range(0, 120)),
        Field("cost", Kind.REAL, "DOUBLE", range=Range(0, 1000)),
        Field("weight", Kind.REAL, "DOUBLE"),
        Field("level", Kind.INTEGER, "BIGINT", keys=Keys([1, 2, 3])),
        Field("ward", Kind.TEXT, "VARCHAR", keys=Keys(["A", "B", "it's", None])),
        Field("note", Kind.TEXT, "VARCHAR"),
        Field("paid", Kind.BOOLEAN, "BOOLEAN", keys=Keys([True, False])),
        Field("day", Kind.DATE, "DATE", keys=Keys([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)])),
        Field("at", Kind.TIMESTAMP, "TIMESTAMP"),
    ),
    budget=Budget(3, 1e-6),
    rows=200_000,
)
# The same visits where the number of patients is public.
STAYS = replace(
    VISITS, name="stays", source=Source("duckdb", "/data/clinic.duckdb", "stays"), adjacency=Adjacency.REPLACE_ONE
)
# Each row is a person.
PEOPLE = replace(VISITS, name="people", source=Source("frame", "people"), unit=None, max_rows=1)
VOTERS = replace(PEOPLE, name="voters", source=Source("frame", "voters"), adjacency=Adjacency.REPLACE_ONE)
# A CSV file: every column is text, read as its declared kind.
ORDERS = Table(
    name="orders",
    source=Source("csv", "/data/orders.csv"),
    unit="client",
    max_rows=2,
    adjacency=Adjacency.ADD_REMOVE,
    fields=(
        Field("client", Kind.TEXT, "VARCHAR"),
        Field("item", Kind.TEXT, "VARCHAR", keys=Keys(["pen", "ink"])),
        Field("price", Kind.REAL, "DOUBLE", range=Range(0, "99.99")),
        Field("pieces", Kind.INTEGER, "BIGINT", keys=Keys([1, 2])),
        Field("sent", Kind.DATE, "DATE"),
        Field("gift", Kind.BOOLEAN, "BOOLEAN"),
        Field("order total", Kind.REAL, "DOUBLE", range=Range(-50, 50)),
    ),
    budget=Budget(1),
)
TABLES = {table.name: table for table in (VISITS, STAYS, PEOPLE, VOTERS, ORDERS)}
