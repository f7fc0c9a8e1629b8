"""TPC-H's tables: generated as Parquet, and protected as a curator would, with the customer as the person."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import duckdb

import jali
from jali.catalog.columns import Declared

PUBLIC = ("region", "nation", "supplier", "part", "partsupp")
PROTECTED = ("customer", "orders", "lineitem")
# Answers are asked by the hundred: the budget is that of a benchmark, not of a curator.
BUDGET = jali.Budget(epsilon=10**12, delta=1e-6)

# Twice what the specification leads one to expect of the two customers in three who order at all: 15 orders of
# 4 lines on average.
MAX_ORDERS, MAX_LINES = 30, 120
# Sections 4.2.2 and 4.2.3 of the specification say from which sets and ranges columns are drawn.
DATES = jali.Range(date(1992, 1, 1), date(1998, 12, 31))
CUSTOMER: dict[str, Declared | str] = {
    "c_acctbal": jali.Range("-999.99", "9999.99"),
    "c_nationkey": jali.Keys(range(25)),
    "c_mktsegment": jali.Keys(["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]),
}
ORDERS: dict[str, Declared | str] = {
    "o_orderdate": DATES,
    "o_orderstatus": jali.Keys(["F", "O", "P"]),
    "o_orderpriority": jali.Keys(["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]),
}
LINEITEM: dict[str, Declared | str] = {
    "l_quantity": jali.Range(1, 50),
    "l_extendedprice": jali.Range(900, 104950),
    "l_discount": jali.Range(0, "0.10"),
    "l_tax": jali.Range(0, "0.08"),
    "l_returnflag": jali.Keys(["A", "N", "R"]),
    "l_linestatus": jali.Keys(["F", "O"]),
    "l_shipinstruct": jali.Keys(["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]),
    "l_shipmode": jali.Keys(["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]),
    "l_shipdate": DATES,
    "l_commitdate": DATES,
    "l_receiptdate": DATES,
}


def generator() -> str | None:
    """Return the program that makes the tables, or None where it is not installed."""
    return shutil.which("tpchgen-cli", path=Path(sys.executable).parent) or shutil.which("tpchgen-cli")


def generated(directory: Path, scale: str) -> Path:
    """Make the tables of a scale in a directory, unless they are there."""
    program = generator()
    if program is None:
        raise SystemExit(
            "The tables are made by tpchgen-cli: pip install -c requirements/constraints.txt tpchgen-cli"
        )
    if not (directory / "lineitem.parquet").exists():
        command = [program, "parquet", "--scale-factor", scale, "--output-dir", str(directory), "--quiet"]
        subprocess.run(command, check=True)
    return directory


def plain(directory: Path) -> duckdb.DuckDBPyConnection:
    """Open the tables in DuckDB as they are."""
    connection = duckdb.connect()
    for name in (*PUBLIC, *PROTECTED):
        connection.execute(f"create view {name} as from '{directory / name}.parquet'")
    return connection


def protected(directory: Path) -> jali.Database:
    """Open the tables in Jali: three are protected, the others public."""
    db = jali.connect()
    for name in PUBLIC:
        db.publish(name, directory / f"{name}.parquet")
    through_orders = jali.Via("orders", on="l_orderkey = o_orderkey", unit="o_custkey")
    declarations: tuple[tuple[str, str | jali.Via, int, dict[str, Declared | str]], ...] = (
        ("customer", "c_custkey", 1, CUSTOMER),
        ("orders", "o_custkey", MAX_ORDERS, ORDERS),
        ("lineitem", through_orders, MAX_LINES, LINEITEM),
    )
    for name, unit, most, columns in declarations:
        source = directory / f"{name}.parquet"
        db.protect(name, source, unit=unit, max_rows=most, columns=columns, budget=BUDGET)
    return db
