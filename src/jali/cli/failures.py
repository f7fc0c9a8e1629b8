"""Failures: what a person or a program is told, and the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jali.cli.terminal import ink_for
from jali.display.text import WIDTH, cell_width, clean, facts
from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    JaliError,
    LedgerError,
    MechanismError,
    QueryError,
    Unsupported,
)

WRONG_USE, REFUSED, UNSUPPORTED, FAILED = 2, 3, 4, 5
# The narrower class is asked first.
EXIT_CODES: tuple[tuple[type[JaliError], int], ...] = (
    (BudgetExceeded, REFUSED),
    (Unsupported, UNSUPPORTED),
    (QueryError, WRONG_USE),
    (CatalogError, WRONG_USE),
    (MechanismError, WRONG_USE),
    (EngineError, FAILED),
    (LedgerError, FAILED),
)


class QuestionFailed(Exception):  # noqa: N818 - it carries an error, it is not one more kind of error
    """An error together with the SQL it is about, so that a caret can show the place."""

    def __init__(self, error: JaliError, sql: str) -> None:
        super().__init__()
        self.error = error
        self.sql = sql


@contextmanager
def about(sql: str) -> Iterator[None]:
    """Remember which question an error is about."""
    try:
        yield
    except JaliError as error:
        raise QuestionFailed(error, sql) from None


def exit_code(error: JaliError) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), FAILED)


def report(error: JaliError, *, as_json: bool, sql: str | None = None) -> int:
    """Tell a person or a program what went wrong; return the exit code."""
    if as_json:
        print(json.dumps({"error": envelope(error)}, ensure_ascii=False))
    else:
        _say(error, sql)
    return exit_code(error)


def report_usage(message: str, *, as_json: bool) -> int:
    """Tell how the command line was wrong."""
    report(CatalogError(message, remedy="See `jali --help`."), as_json=as_json)
    return WRONG_USE


def report_unexpected(*, as_json: bool) -> int:
    """Tell that Jali itself failed, and nothing more."""
    remedy = "If a question was reserved, its receipt is open: see `jali ledger`. Please report this."
    return report(JaliError("Jali failed, unexpectedly.", remedy=remedy), as_json=as_json)


def envelope(error: JaliError) -> dict[str, Any]:
    """Return an error as plain JSON values."""
    made: dict[str, Any] = {
        "type": type(error).__name__,
        "message": error.message,
        "remedy": error.remedy,
        "position": list(error.position) if isinstance(error, QueryError) and error.position else None,
        "exit_code": exit_code(error),
    }
    if isinstance(error, BudgetExceeded):
        made["message"] = error.sentence
        made |= {"account": error.account, "kind": error.kind}
        made |= {name: str(getattr(error, name)) for name in ("requested", "remaining", "difference")}
    return made


def caret(sql: str, position: tuple[int, int], *, width: int = WIDTH) -> str:
    """Show the line of the SQL that an error is about, with a caret under the place."""
    line, column = position
    lines = sql.splitlines() or [""]
    text = lines[min(line, len(lines)) - 1].replace("\t", " ")
    place = min(max(column - 1, 0), len(text))
    start = max(0, place - width // 2) if len(text) > width else 0
    before, after = clean(text[start:place]), clean(text[place : start + width])
    return f"  {before}{after}\n  {' ' * cell_width(before)}^"


def _say(error: JaliError, sql: str | None) -> None:
    ink = ink_for(sys.stderr)
    if isinstance(error, BudgetExceeded):
        spared = f"{error.remedy} Nothing was spent and no data was read."
        text = f"{error.sentence}\n\n{facts(error.facts)}\n\n{spared}"
    else:
        text = clean(str(error))
    print(f"{ink.alarm('jali:')} {text}", file=sys.stderr)
    if sql and isinstance(error, QueryError) and error.position is not None:
        print(f"\n{caret(sql, error.position)}", file=sys.stderr)
