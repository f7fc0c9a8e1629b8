"""Failures: what a person or a program is told, and the exit code."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from jali.cli.terminal import ink_for
from jali.display.text import WIDTH, cell_width, clean, facts
from jali.documents.failures import failure_json
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


# Errors speak to Python; on the command line the same words are options and verbs. {0}, {1} are the groups of the
# pattern, {option} is the first of them as an option; {database} and {analyst} are what the command line named;
# {path} is a group to be quoted.
_NAME = r"""('[^'\\]*'|"[^"\\]*")"""
_TRANSLATIONS = (
    (r"Give epsilon=([\d.]+), or rho=([\d.]+)", "Give --epsilon {0}, or --rho {1}"),
    (
        rf"db\.grant\({_NAME}, {_NAME}, jali\.Budget\(\.\.\.\)\)\.",
        "it: jali grant {database} {0} {1} --epsilon NUMBER",
    ),
    (
        r"Receipt (\w+) is paid and stays open: redeem it once this is mended\.",
        "Receipt {0} is paid and stays open. Once this is mended: jali redeem {database} {0}{analyst}",
    ),
    (r"^max_rows (is missing|must be)", "--max-rows {0}"),
    (r"so max_rows is 1\.", "so --max-rows is 1."),
    (r"^rows must be", "--rows must be"),
    (r"^min_people must be", "--min-people must be"),
    (r"^Write min_people=10\.", "Write --min-people 10."),
    (r"^(max_rows|max_groups|min_people) is a whole number", "{option} is a whole number"),
    (r"^Give (max_rows|max_groups|min_people)=10", "Give {option} 10"),
    (r"^Give delta=(\S+), for", "Give --delta {0}, for"),
    (r"^Ask with delta=([\d.e-]+\d)", "Ask with --delta {0}"),
    (r"^Ranges, keys, max_rows and rows may change", "--range, --keys, --max-rows and --rows may change"),
    (r"^Give a Range, Keys, or one of:", "Give --range, --keys, or --kind with one of:"),
    (
        r"declare one, Range\(low, high\)(?: or Range\(auto=True\))?, for (?:\w+\.)?(\w+)",
        "declare one: jali protect ... --range {0}=LOW:HIGH, or --range {0}=auto",
    ),
    (
        r"declare them, Keys\(\[\.\.\.\]\), for (?:\w+\.)?(\w+)(?:\.|(?=;))",
        "declare them: jali protect ... --keys {0}=A,B,...",
    ),
    (
        r"declare the keys of (?:\w+\.)?(\w+), Keys\(\[\.\.\.\]\),",
        "declare its keys, jali protect ... --keys {0}=A,B,...,",
    ),
    (r"^Write on='l_orderkey = o_orderkey'\.", "Write --on 'l_orderkey = o_orderkey'."),
    (r"^Write Range\(0, 120\), or Range\(auto=True\)\.", "Write --range age=0:120, or --range age=auto."),
    (r"such as 0\.5 or '1/3'", "such as 0.5 or 1/3"),
    (r"^Look at your list of receipts\.", "See: jali ledger {database}"),
    (r"^Give it again: db\.attach\(.*, frame\)\.$", "It is in the memory of a Python program: ask it from there."),
    (rf"^Write it again: db\.prepare\({_NAME}\)\.$", "Write it again: jali prepare {database} {0}"),
    (rf"db\.prepare\({_NAME}\)\.", "jali prepare {database} {0}"),
    (r'within=\{"n": 20\}', "--within n=20"),
    (r"within=\{\.\.\.\}", "--within NAME=NUMBER"),
    (r"\b(within|confidence|group_rows|max_rows)=([\d.]+\d|\d)", "{option} {1}"),
    (r"\b(within|confidence|noise)=(?= )", "{option}"),
    (r'noise="gaussian"', "--noise gaussian"),
    (r"declare rows=", "declare --rows"),
    (r"; or leave it out: answer\.interval\(0\.99\) needs no term", ""),
    (r"together in a batch\.", "together: jali batch {database} FILE."),
    (r"^Run: chmod 600 (?P<path>.+)$", "Run: chmod 600 {path}"),
    (
        rf"^Open it with db\.stream\({_NAME}\), or choose another name\. explain\(\) tells more\.",
        "See it with: jali stream show {database} {0} --explain. Or choose another name.",
    ),
    (r"^Give max_ticks too, or leave separation out\.", "Give --max-ticks too, or leave --separation out."),
    (r"^Give last=7 for the last 7 ticks at every tick, or restart=7", "Give --last 7, or --restart 7"),
    (r"adaptive=False, or --oblivious", "--oblivious"),
    (r"^Open the stream with db\.stream\.", "See: jali stream show {database}"),
    (r"^`until` is for streams with a clock, and instead of a tick\.", "--until is for streams with a clock."),
    (r"^Name the tick: publish\(20\)\.", "Name the tick: --tick 20."),
    (r"name the last: publish\((\d+)\)\.$", "name the last: --tick {0}."),
    (r"^(?:Write |value=|Write value=)jali\.Range\(0, 100\)\.?", "Write --range 0:100."),
    (r"^key and late are for", "--key and --late are for"),
    (r"^Give query= too\.", "Give --query too."),
    (r'key="visit_id"', "--key visit_id"),
    (r"^Leave key out\.", "Leave --key out."),
    (r"^Write bins=\[10, 20, 30\]\.", "Write --bins 10,20,30."),
    (
        r"^A claim is one of epsilon, epsilon and delta, rho, or loss\.$",
        "A claim is one of --epsilon, --epsilon and --delta, or --rho.",
    ),
    (r"^For example epsilon=0\.7\.$", "For example --epsilon 0.7."),
    (r"\bdata=('[^']*')", "--data {0}"),
    (r"^Give adjacency='replace-one'\.$", "Give --adjacency replace-one."),
    (r"^Claim (\w+) too, or give it a default\.$", "Give --{0}, or give the parameter a default."),
    (r"^Write (start|every)='([\w-]+)'\.", "Write {option} {1}."),
    (
        r"^Leave max_ticks, separation and max_items out, or give a unit\.",
        "Leave --max-ticks, --separation and --max-items out, or give --unit.",
    ),
)
# How an option with a least value is refused, by whichever library reads the command line.
_TOO_SMALL = re.compile(
    r"Invalid value for '(--[\w-]+)': "
    r"(?:Input should be greater than or equal to |\S+ is not in the range x>=)(\d+)"
)
TRANSLATIONS = tuple((re.compile(pattern), words) for pattern, words in _TRANSLATIONS)


class QuestionFailed(Exception):  # noqa: N818 - it carries an error, it is not one more kind of error
    """An error together with what the command line named, so that a caret and a remedy can show it."""

    def __init__(self, error: JaliError, asked: Asked) -> None:
        super().__init__()
        self.error = error
        self.asked = asked


@dataclass(frozen=True)
class Asked:
    """What the command line named."""

    database: str | None = None
    sql: str | None = None
    analyst: str | None = None


NOTHING = Asked()


@contextmanager
def about(database: str, sql: str | None = None, analyst: str | None = None) -> Iterator[None]:
    """Remember what an error is about."""
    try:
        yield
    except JaliError as error:
        raise QuestionFailed(error, Asked(database, sql, analyst)) from None


def in_options(text: str, asked: Asked = NOTHING) -> str:
    """Say in the words of the command line what an error says in those of Python.

    Example:
        >>> in_options("Give epsilon=0.1, or rho=0.005 for Gaussian noise.")
        'Give --epsilon 0.1, or --rho 0.005 for Gaussian noise.'
    """
    named = "DATABASE" if asked.database is None else shlex.quote(asked.database)
    payer = "" if asked.analyst is None else f" --analyst {shlex.quote(asked.analyst)}"
    for pattern, words in TRANSLATIONS:
        text = pattern.sub(partial(_said, words, {"database": named, "analyst": payer}), text)
    return text


def _said(words: str, named: Mapping[str, str], found: re.Match[str]) -> str:
    """Put what was found into the words of a translation."""
    path = shlex.quote(found.groupdict().get("path", ""))
    option = "" if not found.groups() else "--" + str(found.group(1)).replace("_", "-")
    return words.format(*map(_in_shell, found.groups()), path=path, option=option, **named)


def _in_shell(word: str) -> str:
    """Write a text that Python quoted as a shell does."""
    return shlex.quote(ast.literal_eval(word)) if word[0] in "'\"" else word


def exit_code(error: JaliError) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), FAILED)


def report(error: JaliError, *, as_json: bool, asked: Asked = NOTHING) -> int:
    """Tell a person or a program what went wrong; return the exit code."""
    if as_json:
        print(json.dumps({"error": envelope(error, asked)}, ensure_ascii=False))
    else:
        _say(error, asked)
    return exit_code(error)


def report_usage(message: str, *, verb: str | None, as_json: bool) -> int:
    """Tell how the command line was wrong."""
    if verb in ("ask", "explain") and "unexpected extra argument" in message:
        message = "The SQL must be one argument: put it in double quotes."
    known = f"{verb} " if verb else ""
    message = _TOO_SMALL.sub(r"\1 must be at least \2", message)
    message = message if message.endswith((".", "!", "?")) else f"{message}."
    report(CatalogError(message, remedy=f"See `jali {known}--help`."), as_json=as_json)
    return WRONG_USE


def report_unexpected(*, as_json: bool) -> int:
    """Tell that Jali itself failed, and nothing more."""
    remedy = "If a question was reserved, its receipt is open: see `jali ledger`. Please report this."
    return report(JaliError("Jali failed, unexpectedly.", remedy=remedy), as_json=as_json)


def envelope(error: JaliError, asked: Asked = NOTHING) -> dict[str, Any]:
    """Return an error as plain JSON values."""
    return failure_json(error, lambda text: in_options(text, asked)) | {"exit_code": exit_code(error)}


def caret(sql: str, position: tuple[int, int], *, width: int = WIDTH) -> str:
    """Show the line of the SQL that an error is about, with a caret under the place."""
    line, column = position
    lines = sql.splitlines() or [""]
    text = lines[min(line, len(lines)) - 1].replace("\t", " ")
    place = min(max(column - 1, 0), len(text))
    start = max(0, place - width // 2) if len(text) > width else 0
    before, after = clean(text[start:place]), clean(text[place : start + width])
    return f"  {before}{after}\n  {' ' * cell_width(before)}^"


def _say(error: JaliError, asked: Asked) -> None:
    ink = ink_for(sys.stderr)
    if isinstance(error, BudgetExceeded):
        spared = f"{error.remedy} Nothing was spent and no data was read."
        text = f"{error.sentence}\n\n{facts(error.facts)}\n\n{spared}{_offered(error)}"
    else:
        text = clean(_sentences(error, asked))
    print(f"{ink.alarm('jali:')} {text}", file=sys.stderr)
    if asked.sql and isinstance(error, QueryError) and error.position is not None:
        print(f"\n{caret(asked.sql, error.position)}", file=sys.stderr)


def _offered(error: BudgetExceeded) -> str:
    """List what would be granted."""
    if not error.fits:
        return ""
    return f"\n\nWhat would fit:\n{facts([(clean(fit.title), clean(fit.text)) for fit in error.fits])}"


def _sentences(error: JaliError, asked: Asked) -> str:
    position = error.position if isinstance(error, QueryError) else None
    place = "" if position is None else f"line {position[0]}, column {position[1]}: "
    parts = (error.message, error.remedy)
    return place + " ".join(in_options(part, asked) for part in parts if part is not None)
