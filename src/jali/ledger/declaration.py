"""Declarations: what the curator said about a table, by version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Declaration:
    """The latest declaration under a name.

    Attributes:
        name: What is declared.
        body: The declaration, a text that the ledger does not read.
        version: How many different bodies there were in a row, from 1.
        data_version: How often the curator said that the data is new, from 1. It is never derived from the
            data: a change would then tell that the data changed.
    """

    name: str
    body: str
    version: int
    data_version: int
