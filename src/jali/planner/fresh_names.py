"""Fresh names: columns of different relations of one question never share a name."""

from __future__ import annotations

from jali.query.catalog import Field, Kind


class FreshNames:
    """The names that one question has used so far."""

    def __init__(self) -> None:
        # Flags have a prefix of their own.
        self._prefixes = {"found."}
        self._flags = 0

    def prefix(self, alias: str) -> str:
        """Return a prefix with one dot, unlike all others also in an engine that ignores case."""
        plain = alias.replace(".", "_")
        prefix, number = f"{plain}.", 1
        while prefix.lower() in self._prefixes:
            number += 1
            prefix = f"{plain}_{number}."
        self._prefixes.add(prefix.lower())
        return prefix

    def flag(self) -> Field:
        """Return a column that says whether a subquery has a row."""
        self._flags += 1
        return Field(f"found.{self._flags}", Kind.BOOLEAN, "BOOLEAN", computed=True)


def plain_name(name: str) -> str:
    """Return a column's name without its prefix."""
    return name.split(".", 1)[1] if "." in name else name
