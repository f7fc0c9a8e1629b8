"""Debits: one event, charged to one account; and the names of accounts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from jali.ledger.parts import Part
from jali.privacy import Event

_WORD = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True)
class Debit:
    """An event that an account pays for.

    Attributes:
        account: The name of the account, made by `table_account` or `grant_account`.
        event: What is added to the sum of the account.
        part: The part of the account's people that it concerns; None where it concerns all of them.
    """

    account: str
    event: Event
    part: Part | None = None


def table_account(table: str) -> str:
    """Name the account of a table, which all analysts share: they may collude.

    Example:
        >>> table_account("visits")
        'table visits'
    """
    return f"table {_quoted(table)}"


def grant_account(analyst: str, table: str) -> str:
    """Name the account of one analyst on one table.

    Example:
        >>> grant_account("ana", "visits")
        'grant ana on visits'
    """
    return f"{grants_of(analyst)}{_quoted(table)}"


def grants_of(analyst: str) -> str:
    """Return what the names of all grants of this analyst, and of no other, begin with."""
    return f"grant {_quoted(analyst)} on "


def _quoted(name: str) -> str:
    """Write a name so that different names stay different inside a sentence.

    Without quotes, 'a on b' with a grant on 'c' and 'a' with a grant on 'b on c' would share one account.
    """
    return name if _WORD.fullmatch(name) else json.dumps(name)
