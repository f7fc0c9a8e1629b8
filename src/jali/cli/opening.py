"""Opening what the arguments name: a database that exists, a question from text or from stdin."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jali.errors import LedgerError, QueryError
from jali.postgres_address import is_address

if TYPE_CHECKING:
    from jali.database import Database
    from jali.query.limits import Limits


_SQLITE = b"SQLite format 3\0"


def open_database(path: str, limits: Limits | None = None) -> Database:
    """Open a database; only `jali init` makes one, so that a typing error does not."""
    from jali.database import connect

    if not is_address(path) and Path(path).is_file():
        _check_kind(Path(path))
    return connect(path, create=False, limits=limits)


def _check_kind(path: Path) -> None:
    """Refuse another kind of file before its rights are: who names the data must not be told to change them.

    A file with the rights of a ledger is left to SQLite, whose locks a second opening could drop.
    """
    if not path.stat().st_mode & 0o077 or not os.access(path, os.R_OK):
        return
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise LedgerError("ledger-not-a-ledger", path=path)


def read_question(sql: str) -> str:
    """Return the question, from stdin for `-`."""
    text = sys.stdin.read() if sql == "-" else sql
    if not text.strip():
        raise QueryError("question-option-empty")
    return text
