"""The adjacency of tables: when two tables are neighbours. Every sensitivity and every loss names it."""

from __future__ import annotations

from enum import StrEnum

from jali.errors import CatalogError


class Adjacency(StrEnum):
    """The relation between neighbouring tables.

    `ADD_REMOVE`: one table has all rows of one privacy unit, the other has none of them.
    `REPLACE_ONE`: one unit's rows are replaced by any other rows of one unit; the number of units is public.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def of(cls, value: str | Adjacency) -> Adjacency:
        """Read an adjacency from its name."""
        try:
            return cls(value)
        except ValueError:
            names = tuple(member.value for member in cls)
            raise CatalogError("parameter-not-among", choices=names, value=value, name="adjacency") from None
