"""Prepared copies in Spark: a table of Parquet files, each person in one of them, in the order of people.

Statement:
    Counting the rows of each person, and joining them with the counts, moves no row: all rows of a person are in
    one file, one after the other. Whether Spark makes use of that changes no answer.
Proof:
    Of the ranks: docs/proofs/prepared.md. Spark writes a row to the bucket that a hash of its unit tells, and the
    number of buckets is part of the copy's name: nobody reads a copy with another number than it has.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.catalog.copy_names import SCHEMA
from jali.catalog.tables import Source, Table
from jali.engines.copy_storage import CopyDirectory, PreparedCopies, require_copies
from jali.engines.spark.connections import is_here
from jali.engines.spark.dialect import SPARK
from jali.engines.spark.literals import quote, text
from jali.engines.spark.sources import KEPT, catalog_name, name_copy, scan
from jali.engines.sql.prepared_rows import rank_column, rank_rows, rename_columns
from jali.errors import CatalogError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS = "spark.sql.shuffle.partitions"
# A bucket is read by one task: so many rows, by the public guess, are not too many for one.
_ROWS = 5_000_000
# How the name of a table ends that is being written.
_UNFINISHED = "_new_[0-9a-f]+"


def find_home(session: SparkSession, copies: PreparedCopies | None, table: Table) -> FileCopies | CatalogCopies:
    """Return where copies of a table are kept: in the catalog, if that lasts, or beside the database.

    Raises:
        CatalogError: if there is no place that lasts: the catalog of a cluster is forgotten with it.
    """
    found = require_copies(copies, table.name)
    if session.conf.get("spark.sql.catalogImplementation") == "hive":
        return CatalogCopies(session)
    if _is_local(session) and found.directory is not None:
        return FileCopies(session, found.directory)
    raise CatalogError("spark-copy-without-place", table=table.name)


def name_buckets(session: SparkSession, name: str, table: Table) -> str:
    """Return the name of a copy, with the number of its buckets: by public facts alone."""
    return f"{name}_{max(int(str(session.conf.get(_PARTS))), (table.rows or 0) // _ROWS)}"


def register(session: SparkSession, table: Table) -> bool:
    """Let Spark's catalog know a copy; say whether there is one, with the columns that questions read."""
    assert table.copy is not None
    name = scan(table.copy)
    if table.copy.relation.startswith(KEPT):
        folder = Path(table.copy.relation.removeprefix(KEPT))
        if not (folder / "_SUCCESS").is_file():
            return False
        if not _has_columns(session, name, table):
            _create(session, name, table, folder)
    # Another process may have written it again since its files were listed.
    session.catalog.refreshTable(name)
    return _has_columns(session, name, table)


def _create(session: SparkSession, name: str, table: Table, folder: Path) -> None:
    """Let the catalog know a copy that it does not know, or that another process wrote with other columns."""
    if _has_columns(session, f"parquet.{quote(str(folder))}", table):
        session.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog_name(SCHEMA)}")
        # A table of files that are elsewhere: they stay.
        session.sql(f"DROP TABLE IF EXISTS {name}")
        shape = f"({_schema(table)}) {_buckets(table, folder.name)}"
        session.sql(f"CREATE TABLE {name} {shape} LOCATION {text(str(folder))}")


def _has_columns(session: SparkSession, name: str, table: Table) -> bool:
    """Say whether there is such a table, with the columns of a copy."""
    try:
        found = {(c.name, c.dataType.simpleString()) for c in session.sql(f"SELECT * FROM {name}").schema.fields}
    except Exception:
        return False
    wanted = {(field.name, field.type.lower()) for field in table.columns}
    return found == wanted | {(rank_column(table), "int")}


class FileCopies:
    """Copies as folders beside the database, for a Spark on this machine whose catalog is forgotten with it."""

    def __init__(self, session: SparkSession, directory: Path) -> None:
        self._session = session
        self._folders = CopyDirectory(directory)

    def place(self, table: Table, name: str) -> Source:
        """Return where the copy of that name is read."""
        return Source(table.source.format, table.source.location, f"{KEPT}{self._folders.place(name)}")

    def sweep(self, name: str) -> None:
        """Delete what was cut off."""
        del name
        self._folders.sweep()

    @contextmanager
    def write(self, table: Table, name: str, key: str) -> Iterator[Callable[[], None]]:
        """Write a copy, and give what puts it in place; what is not put is deleted."""
        with self._folders.stage_copy(name) as folder:
            new = name_copy(folder)
            self._session.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog_name(SCHEMA)}")
            self._session.sql(f"DROP TABLE IF EXISTS {new}")
            _write(self._session, new, table, name, key, f" LOCATION {text(str(folder))}")
            # A table of files that are elsewhere: they stay.
            self._session.sql(f"DROP TABLE {new}")
            with self._folders.lock():
                yield lambda: self._put(folder, name)

    def _put(self, folder: Path, name: str) -> None:
        if not self._folders.put(folder, name):
            raise OSError
        self._forget(self._folders.place(name))

    def _forget(self, folder: Path) -> None:
        self._session.sql(f"DROP TABLE IF EXISTS {name_copy(folder)}")

    def delete(self, name: str, keep: str = "") -> None:
        """Delete all copies whose names begin so, but one, and what was cut off."""
        self._folders.sweep()
        for path in self._folders.place(name).parent.iterdir():
            if re.fullmatch(rf"{name}_\d+", path.name) and path.name != keep:
                self._forget(path)
                self._folders.delete(path.name)


class CatalogCopies:
    """Copies as tables of the catalog, where that lasts: Spark keeps their files with those of other tables."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def place(self, table: Table, name: str) -> Source:
        """Return where the copy of that name is read."""
        return Source(table.source.format, table.source.location, catalog_name(SCHEMA, name))

    def sweep(self, name: str) -> None:
        """Delete what was cut off: tables, and folders that were not yet tables."""
        for found in self._tables(name, _UNFINISHED):
            self._drop(found)
        if is_here(self._session):
            _delete_folders(self._session, f"{name}_\\d+{_UNFINISHED}")

    def _drop(self, name: str) -> None:
        self._session.sql(f"DROP TABLE IF EXISTS {catalog_name(SCHEMA, name)} PURGE")

    @contextmanager
    def write(self, table: Table, name: str, key: str) -> Iterator[Callable[[], None]]:
        """Write a copy, and give what puts it in place; what is not put is deleted."""
        # Another name each time: files of one that was cut off are in nobody's way.
        new = f"{name}_new_{secrets.token_hex(4)}"
        self._session.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog_name(SCHEMA)}")
        try:
            _write(self._session, catalog_name(SCHEMA, new), table, name, key, "")
            yield lambda: self._put(new, name)
        finally:
            self._drop(new)

    def _put(self, new: str, name: str) -> None:
        self._drop(name)
        # Within one catalog, which the new name does not name.
        renamed = f"{quote(SCHEMA)}.{quote(name)}"
        self._session.sql(f"ALTER TABLE {catalog_name(SCHEMA, new)} RENAME TO {renamed}")

    def delete(self, name: str, keep: str = "") -> None:
        """Delete all copies whose names begin so, but one, and what was cut off."""
        self.sweep(name)
        for found in self._tables(name, ""):
            if found != keep:
                self._drop(found)

    def _tables(self, name: str, ending: str) -> list[str]:
        if not self._session.catalog.databaseExists(catalog_name(SCHEMA)):
            return []
        shown = self._session.sql(f"SHOW TABLES IN {catalog_name(SCHEMA)} LIKE {text(name + '_*')}").collect()
        return [row.tableName for row in shown if re.fullmatch(rf"{name}_\d+{ending}", row.tableName)]


def _delete_folders(session: SparkSession, pattern: str) -> None:
    """Delete folders where Spark keeps the files of copies: no table names what a killed process left there."""
    if not session.catalog.databaseExists(catalog_name(SCHEMA)):
        return
    described = session.sql(f"DESCRIBE SCHEMA {catalog_name(SCHEMA)}").collect()
    (location,) = (row.info_value for row in described if row.info_name == "Location")
    driver: Any = session
    place = driver._jvm.org.apache.hadoop.fs.Path(location)
    files = place.getFileSystem(driver._jsc.hadoopConfiguration())
    for found in files.listStatus(place) if files.exists(place) else ():
        if re.fullmatch(pattern, found.getPath().getName()):
            files.delete(found.getPath(), True)


def _write(session: SparkSession, new: str, table: Table, name: str, key: str, location: str) -> None:
    """Write the rows with their ranks, person by person, one file for each bucket."""
    # Spread by person before ranks are counted: each task then has a bucket, and writes it as one file.
    spread = f"/*+ REPARTITION({_count(name)}, unit) */ "
    rows = SPARK.nest_query(rank_rows(table, SPARK, key, spread))
    ranked = f"SELECT {rename_columns(table, SPARK)}, place AS {quote(rank_column(table))} FROM {rows}"
    session.sql(f"CREATE TABLE {new} {_buckets(table, name)}{location} AS {ranked}")


def _buckets(table: Table, name: str) -> str:
    assert table.unit is not None
    unit = quote(table.unit)
    return f"USING parquet CLUSTERED BY ({unit}) SORTED BY ({unit}) INTO {_count(name)} BUCKETS"


def _count(name: str) -> int:
    """Return the number of buckets, which the name of a copy ends with."""
    return int(name.rpartition("_")[2])


def _schema(table: Table) -> str:
    fields = ", ".join(f"{quote(field.name)} {field.type}" for field in table.columns)
    return f"{fields}, {quote(rank_column(table))} INT"


def _is_local(session: SparkSession) -> bool:
    """Say whether Spark runs in a process of ours, on this machine: its files are ours."""
    return is_here(session) and str(session.sparkContext.master).startswith("local")
