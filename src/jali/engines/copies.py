"""Prepared copies that an engine keeps beside the tables it reads: where, and under which names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jali.errors import CatalogError, Phrase

# The schema of the copies, in Postgres and in Spark: nobody can protect a table of it.
SCHEMA = "jali_prepared"
# The directory of a database's copies is called as the database, and this.
BESIDE = ".prepared"
# Names in Postgres have 63 characters: what remains is for the word of the database.
_LONGEST = 40


@dataclass(frozen=True)
class Copies:
    """What a database calls the copies that are kept for it elsewhere.

    Args:
        word: Returns a secret word of the database that never changes: two databases that share a server have
            copies of their own, and a copy that was cut off is found again under the name that it was to have.
        directory: A directory of the database on this machine; None where there is none.
    """

    word: Callable[[], bytes]
    directory: Path | None = None

    def name(self, table: str) -> str:
        """Return the name of a table's copy.

        Example:
            >>> from jali.engines.copies import Copies
            >>> Copies(lambda: b"word").name("visits")
            'visits_b4ec15da82766781'
        """
        tag = hashlib.sha256(self.word() + table.lower().encode()).hexdigest()[:16]
        return f"{table.lower()[:_LONGEST]}_{tag}"


def kept(copies: Copies | None, table: str) -> Copies:
    """Return where copies are kept; refuse one that nobody would ever delete.

    Raises:
        CatalogError: if the database is in memory.
    """
    if copies is None:
        raise CatalogError("copy-in-memory", table=table)
    return copies


def refuse_copy(schema: str, relation: str) -> None:
    """Refuse to read a prepared copy as a source: it holds the rows of one that has its own budget.

    Raises:
        CatalogError: if a table is in the schema of the copies.
    """
    if schema.lower() == SCHEMA:
        raise CatalogError("relation-of-copies", relation=relation)


def refuse_copied_files(path: Path) -> None:
    """Refuse to read files of prepared copies as a source, whichever database wrote them.

    Raises:
        CatalogError: if the path is in a directory of copies.
    """
    found = path.resolve()
    if any(_holds_copies(folder) for folder in (found, *found.parents)):
        refuse_copy(SCHEMA, str(path))


def _holds_copies(folder: Path) -> bool:
    """Say whether a folder is one of copies: beside a database, in a user's state, or of a catalog of Spark."""
    beside = folder.name.endswith(BESIDE) and folder.with_name(folder.name.removesuffix(BESIDE)).is_file()
    return beside or folder.name == f"{SCHEMA}.db" or folder.parts[-2:] == ("jali", "prepared")


def not_written(table: str, advice: Phrase) -> CatalogError:
    """Make the error of a copy that could not be written: it says nothing about rows."""
    return CatalogError("copy-not-written", table=table, advice=advice)
