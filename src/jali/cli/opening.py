"""Opening what the arguments name: a database that exists, a question from text or from stdin."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jali.errors import CatalogError, QueryError

if TYPE_CHECKING:
    from jali.database import Database


def open_database(path: str) -> Database:
    """Open a database; only `jali init` makes one, so that a typing error does not."""
    if not Path(path).is_file():
        raise CatalogError(f"There is no database {path}.", remedy=f"Make one: jali init {shlex.quote(path)}")
    from jali.database import connect

    return connect(path)


def read_question(sql: str) -> str:
    """Return the question, from stdin for `-`."""
    text = sys.stdin.read() if sql == "-" else sql
    if not text.strip():
        raise QueryError("The question is empty.", remedy='Write "SELECT COUNT(*) FROM ...".')
    return text
