"""Names of the schema and the directories of prepared copies, which nobody can protect as sources."""

from __future__ import annotations

from pathlib import Path

from jali.errors import CatalogError

# The schema of the copies, in Postgres and in Spark: nobody can protect a table of it.
SCHEMA = "jali_prepared"
# The directory of a database's copies is called as the database, and this.
BESIDE = ".prepared"


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
