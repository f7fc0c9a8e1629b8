"""The columns that a prepared copy of a table has besides its own."""

from __future__ import annotations

from jali.query.catalog import Table


def person_column(table: Table) -> str:
    """Name the column of a prepared copy that holds the code of the person: compared for equality, and no more."""
    return _apart(table, "person")


def rank_column(table: Table) -> str:
    """Name the column of a prepared copy that ranks the rows of each person."""
    return _apart(table, "rank")


def _apart(table: Table, name: str) -> str:
    """Return a name that no column of the table has."""
    taken = {field.name.lower() for field in table.fields}
    while name in taken:
        name += "_"
    return name
