"""Prepared copies: a table as a DuckDB file of its own, with its people numbered and their rows ranked.

Statement:
    In a copy each row has the code of its person and its rank among the rows of that person: 1, 2, ... by a keyed
    hash of the row's content, and then by the content itself. The key is drawn for each copy and forgotten.
    Whatever the key, a person's rows and their ranks depend on that person's rows alone, up to the order of rows
    that are equal in everything; so at most k rows of each person have rank <= k, whoever else there is. Codes
    do depend on others: they are compared for equality, and never hashed, ordered or shown.
Proof:
    docs/proofs/prepared.md.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jali.engines.duckdb.expressions import Emitter
from jali.engines.duckdb.literals import quoted, text
from jali.engines.duckdb.sources import COPIED, scan
from jali.engines.duckdb.spill import alive
from jali.engines.sql.prepared import person_column, rank_column
from jali.noise import BitSource, system_bits
from jali.query.catalog import Table
from jali.query.nodes import Column

if TYPE_CHECKING:
    import duckdb

_WRITING = "copy being written"
_PEOPLE = "people of the copy"
_KEY_WORDS = 2
_UNFINISHED = re.compile(r"\w+\.(\d+)\.part(\.wal)?")


class CopyDirectory:
    """Where the copies are: a directory for the owner's eyes only, beside the ledger or gone with the process."""

    def __init__(self, path: Path | None) -> None:
        self._kept = path
        self._temporary: Path | None = None
        self._finalizer: weakref.finalize[..., CopyDirectory] | None = None

    def place(self, table: str) -> Path:
        """Return the path of a table's copy, in a directory that is there."""
        return self._made() / f"{table}.duckdb"

    @contextmanager
    def unfinished(self, table: str) -> Iterator[Path]:
        """Give a path to write a copy to; what is still there afterwards is deleted."""
        path = self._made() / f"{table}.{os.getpid()}.part"
        _unlink(path)
        try:
            yield path
        finally:
            _unlink(path)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other process put a copy in place meanwhile."""
        directory = os.open(self._made(), os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)

    def put(self, written: Path, table: str) -> bool:
        """Put a copy in place, for good; say whether it could be."""
        directory = os.open(self._made(), os.O_RDONLY)
        try:
            written.replace(self.place(table))
            # What the ledger says next must not survive a power cut that this does not.
            os.fsync(directory)
        except OSError:
            return False
        finally:
            os.close(directory)
        return True

    def delete(self, table: str) -> None:
        """Delete the copy of a table, if it is there."""
        directory = self._kept or self._temporary
        if directory is not None:
            _unlink(directory / f"{table}.duckdb")

    def sweep(self) -> None:
        """Delete what killed processes left unfinished."""
        for path in self._made().glob("*.part*"):
            found = _UNFINISHED.fullmatch(path.name)
            if found and not alive(int(found[1])):
                path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the directory, unless it stays beside a ledger."""
        if self._finalizer is not None:
            self._finalizer()
        self._temporary, self._finalizer = None, None

    def _made(self) -> Path:
        if self._kept is not None:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            self._kept.chmod(0o700)
            return self._kept
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix=f"jali-prepared-{os.getpid()}-"))
            self._finalizer = weakref.finalize(self, _remove, self._temporary, os.getpid())
        return self._temporary


def _unlink(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)


def _remove(path: Path, owner: int) -> None:
    # A forked child inherits the finalizer, not the directory.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


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
    cursor.execute(_ranked(table, _key(bits or system_bits())))
    cursor.execute(f"CHECKPOINT {quoted(_WRITING)}")
    cursor.execute(f"DETACH {quoted(_WRITING)}")


def _key(bits: BitSource) -> str:
    return "".join(f"{int(word):016x}" for word in bits.words(_KEY_WORDS))


def _people(table: Table) -> str:
    """Number the people, in any order."""
    unit = _unit(table)
    people = f"SELECT DISTINCT {unit} AS unit FROM {scan(table)} WHERE {unit} IS NOT NULL"
    return f"CREATE TEMP TABLE {quoted(_PEOPLE)} AS SELECT unit, row_number() OVER () AS person FROM ({people})"


def _ranked(table: Table, key: str) -> str:
    """Write the rows with their codes and ranks, person by person. Rows without an owner are left out."""
    emitter, fields = Emitter(table), list(enumerate(table.fields))
    columns = ", ".join(f"{emitter.write(Column(field.name))} AS c{i}" for i, field in fields)
    rows = f"SELECT {columns}, {_unit(table)} AS unit FROM {scan(table)}"
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


def _unit(table: Table) -> str:
    assert table.unit is not None
    return Emitter(table).write(Column(table.unit))
