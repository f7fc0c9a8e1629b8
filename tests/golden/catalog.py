"""The declared tables of the golden questions, over small files and frames, and the same rows in plain DuckDB."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from tests.golden import rows

import jali
from jali.catalog.tables import Catalog, Public, Table
from jali.engines.duckdb import DuckDBEngine
from jali.ledger import SqliteLedger

BUDGET = jali.Budget(epsilon=10**9, delta="1/2")
DATA = "/data"
Declared: TypeAlias = dict[str, jali.Range | jali.Keys | str]
_VISITS: Declared = {
    "age": jali.Range(0, 120),
    "cost": jali.Range(0, 1000),
    "level": jali.Keys([1, 2, 3]),
    "ward": jali.Keys(["A", "B", "it's", None]),
    "paid": jali.Keys([True, False]),
    "day": jali.Keys([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]),
}
_YEAR = jali.Range(datetime.date(2025, 1, 1), datetime.date(2025, 12, 31))
_MOMENTS = jali.Range(datetime.datetime(2025, 1, 1), datetime.datetime(2025, 12, 31, 23, 59, 59))  # noqa: DTZ001


@dataclass(frozen=True)
class Clinic:
    """The database that is asked, the catalog as the files show it, and plain DuckDB over the owned rows."""

    db: jali.Database
    catalog: Catalog
    plain: duckdb.DuckDBPyConnection


@contextmanager
def clinic() -> Iterator[Clinic]:
    """Write the files, declare every table, and load the rows that have an owner into plain DuckDB."""
    with TemporaryDirectory() as folder, SqliteLedger(None) as ledger, duckdb.connect() as plain:
        place = Path(folder).resolve()
        db = jali.Database(ledger, engine := DuckDBEngine())
        try:
            _protect(db, place)
            _load(plain)
            yield Clinic(
                db, Catalog(tuple(_shown(table, str(place)) for table in db.tables.catalog.tables)), plain
            )
        finally:
            engine.close()


def _protect(db: jali.Database, folder: Path) -> None:
    pq.write_table(rows.visits(), folder / "visits.parquet")
    _write_csv(rows.orders(), folder / "orders.csv")
    with duckdb.connect(str(folder / "clinic.duckdb")) as file:
        file.from_arrow(rows.visits()).create("stays")
    whole: dict[str, Any] = {"rows": 200_000, "budget": BUDGET}
    # Each person may count for 5 visits.
    db.protect("visits", folder / "visits.parquet", unit="patient_id", max_rows=5, columns=_VISITS, **whole)
    # The same visits where the number of patients is public.
    db.protect(
        "stays",
        folder / "clinic.duckdb",
        unit="patient_id",
        max_rows=5,
        columns=_VISITS,
        adjacency="replace-one",
        **whole,
    )
    # Each row is a person.
    db.protect("people", rows.people(), unit=None, columns=_VISITS, **whole)
    # The same people, in another order: the same values in one frame would be the same source.
    db.protect("voters", _reversed(rows.people()), unit=None, columns=_VISITS, adjacency="replace-one", **whole)
    # A CSV file: every column is text, read as its declared kind.
    db.protect(
        "orders",
        folder / "orders.csv",
        unit="client",
        max_rows=2,
        budget=BUDGET,
        columns={
            "item": jali.Keys(["pen", "ink"]),
            "price": jali.Range(0, "99.99"),
            "pieces": jali.Keys([1, 2]),
            "sent": "date",
            "gift": "boolean",
            "order total": jali.Range(-50, 50),
        },
    )
    _protect_related(db)
    db.publish("wards", rows.wards())
    db.publish("drugs", rows.drugs())


def _reversed(table: pa.Table) -> pa.Table:
    return table.take(pa.array(range(table.num_rows - 1, -1, -1)))


def _protect_related(db: jali.Database) -> None:
    """Tables that meet others: by their unit, or through a key."""
    born = jali.Range(datetime.date(1920, 1, 1), datetime.date(2020, 12, 31))
    known: Declared = {"sex": jali.Keys(["f", "m", None]), "born": born, "height": jali.Range(50, 250)}
    db.protect("patients", rows.patients(), unit="patient_id", max_rows=1, budget=BUDGET, columns=known)
    taken: Declared = {"dose": jali.Range(0, 100), "pieces": jali.Range(0, 30), "given": _YEAR, "taken": _MOMENTS}
    db.protect("prescriptions", rows.prescriptions(), unit="patient_id", max_rows=4, budget=BUDGET, columns=taken)
    sold: Declared = {"shop": jali.Keys(["north", "south"]), "sold": _YEAR}
    db.protect("sales", rows.sales(), unit="customer", max_rows=3, budget=BUDGET, columns=sold)
    via = jali.Via("sales", on="sale_id = sale_id", unit="customer")
    bought: Declared = {"amount": jali.Range(0, 500), "quantity": jali.Range(0, 20)}
    db.protect("lines", rows.lines(), unit=via, max_rows=8, budget=BUDGET, columns=bought)
    via = jali.Via("lines", on="line_id = line_id", unit="customer")
    db.protect(
        "refunds", rows.refunds(), unit=via, max_rows=4, budget=BUDGET, columns={"refund": jali.Range(0, 500)}
    )
    # The curator shows no group of fewer than 10 people.
    asked: Declared = {"answer": jali.Keys(["yes", "no", "perhaps", "never"]), "score": jali.Range(0, 10)}
    db.protect("surveys", rows.surveys(), unit="person", max_rows=1, budget=BUDGET, columns=asked, min_people=10)


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow("" if value is None else value for value in row.values())


def _load(plain: duckdb.DuckDBPyConnection) -> None:
    """Rows without an owner are in no answer: they are left out here, once."""
    tables = {"visits": rows.visits(), "stays": rows.visits(), "people": rows.people(), "voters": rows.people()}
    tables |= {"orders": rows.orders(), "patients": rows.patients(), "prescriptions": rows.prescriptions()}
    tables |= {"sales": rows.sales(), "lines": rows.lines(), "refunds": rows.refunds(), "surveys": rows.surveys()}
    tables |= {"wards": rows.wards(), "drugs": rows.drugs()}
    for name, table in tables.items():
        plain.from_arrow(table).create(name)
    plain.execute("DELETE FROM visits WHERE patient_id IS NULL; DELETE FROM stays WHERE patient_id IS NULL")
    plain.execute("DELETE FROM lines WHERE sale_id NOT IN (SELECT sale_id FROM sales)")
    plain.execute("DELETE FROM refunds WHERE line_id NOT IN (SELECT line_id FROM lines)")


def _shown(table: Table | Public, folder: str) -> Table | Public:
    """Return a table as if its files were in /data: golden files name no other folder."""
    source = replace(table.source, location=table.source.location.replace(folder, DATA))
    if isinstance(table, Table) and table.reach is not None:
        reached = _shown(table.reach.table, folder)
        assert isinstance(reached, Table)
        return replace(table, source=source, reach=replace(table.reach, table=reached))
    return replace(table, source=source)
