"""Print errors for people or programs, and choose the exit code."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from jali.cli.output import choose_ink
from jali.client.error_documents import encode_error
from jali.display.text import WIDTH, cell_width, clean, write_facts
from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Face,
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


class CommandFailed(Exception):  # noqa: N818 - it carries an error, it is not one more kind of error
    """An error together with what the command line named, so that a caret and a remedy can show it."""

    def __init__(self, error: JaliError, asked: CommandContext) -> None:
        super().__init__()
        self.error = error
        self.asked = asked


@dataclass(frozen=True)
class CommandContext:
    """What the command line named."""

    database: str | None = None
    sql: str | None = None
    analyst: str | None = None

    @property
    def words(self) -> dict[str, str]:
        """What the templates of the command line say of it."""
        named = "DATABASE" if self.database is None else shlex.quote(self.database)
        payer = "" if self.analyst is None else f" --analyst {shlex.quote(self.analyst)}"
        return {"asked_database": named, "asked_analyst": payer}


NO_CONTEXT = CommandContext()


@contextmanager
def attach_context(database: str, sql: str | None = None, analyst: str | None = None) -> Iterator[None]:
    """Remember what an error is about."""
    try:
        yield
    except JaliError as error:
        raise CommandFailed(error, CommandContext(database, sql, analyst)) from None


def choose_exit_code(error: JaliError) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), FAILED)


def report_error(error: JaliError, *, as_json: bool, asked: CommandContext = NO_CONTEXT) -> int:
    """Tell a person or a program what went wrong; return the exit code."""
    if as_json:
        print(json.dumps({"error": build_envelope(error, asked)}, ensure_ascii=False))
    else:
        _print_error(error, asked)
    return choose_exit_code(error)


def report_usage(error: typer.TyperException, *, verb: str | None, as_json: bool) -> int:
    """Tell how the command line was wrong."""
    report_error(_build_usage_error(error, verb), as_json=as_json)
    return WRONG_USE


def _build_usage_error(error: typer.TyperException, verb: str | None) -> CatalogError:
    least, option = _find_least(error), getattr(getattr(error, "param", None), "opts", None)
    if least is not None and option:
        return CatalogError("option-too-small", option=option[0], least=least, verb=verb)
    message = error.format_message()
    if verb in ("ask", "explain") and "unexpected extra argument" in message:
        return CatalogError("command-line-without-quotes", verb=verb)
    whole = message if message.endswith((".", "!", "?")) else f"{message}."
    return CatalogError("command-line-wrong", message=whole, verb=verb)


def _find_least(error: typer.TyperException) -> int | None:
    """Return the least value of an option that was given less, if that is what is wrong."""
    found: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    least = found[0].get("ctx", {}).get("ge") if found else None
    return least if isinstance(least, int) else None


def report_unexpected(*, as_json: bool) -> int:
    """Tell that Jali itself failed, and nothing more."""
    return report_error(JaliError("cli-failed"), as_json=as_json)


def build_envelope(error: JaliError, asked: CommandContext = NO_CONTEXT) -> dict[str, Any]:
    """Return an error as plain JSON values."""
    return encode_error(error, Face.COMMAND_LINE, asked=asked.words) | {"exit_code": choose_exit_code(error)}


def draw_caret(sql: str, position: tuple[int, int], *, width: int = WIDTH) -> str:
    """Show the line of the SQL that an error is about, with a caret under the place."""
    line, column = position
    lines = sql.splitlines() or [""]
    text = lines[min(line, len(lines)) - 1].replace("\t", " ")
    place = min(max(column - 1, 0), len(text))
    start = max(0, place - width // 2) if len(text) > width else 0
    before, after = clean(text[start:place]), clean(text[place : start + width])
    return f"  {before}{after}\n  {' ' * cell_width(before)}^"


def _print_error(error: JaliError, asked: CommandContext) -> None:
    ink = choose_ink(sys.stderr)
    if isinstance(error, BudgetExceeded):
        spared = f"{error.write(Face.COMMAND_LINE).remedy} Nothing was spent and no data was read."
        text = f"{error.sentence}\n\n{write_facts(error.facts)}\n\n{spared}{_format_fits(error)}"
    else:
        text = clean(_format_message(error, asked))
    print(f"{ink.alarm('jali:')} {text}", file=sys.stderr)
    if asked.sql and error.position is not None:
        print(f"\n{draw_caret(asked.sql, error.position)}", file=sys.stderr)


def _format_fits(error: BudgetExceeded) -> str:
    """List what would be granted."""
    if not error.fits:
        return ""
    return f"\n\nWhat would fit:\n{write_facts([(clean(fit.title), clean(fit.text)) for fit in error.fits])}"


def _format_message(error: JaliError, asked: CommandContext) -> str:
    place = "" if error.position is None else f"line {error.position[0]}, column {error.position[1]}: "
    written = error.write(Face.COMMAND_LINE, asked=asked.words)
    return place + " ".join(part for part in (written.message, written.remedy) if part is not None)
