"""Functions of text, with limits on what they make, and the regular expressions that questions may use.

An engine computes with some thousand rows at once, and holds every text that is made of them: one person's long
texts must not exhaust the memory. So functions that make a text take texts of at most `LONGEST_TAKEN` bytes, and
give NULL for others; what joins texts takes the first characters of each. Functions that make no text, such as
LENGTH and LIKE, take all texts. A regular expression is a constant that the engine's library (RE2, linear time)
can compile.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.ir.expressions import Call, Literal
from jali.ir.functions.function_types import Function, Rule, Type, check_kinds

if TYPE_CHECKING:
    import duckdb


LONGEST_TAKEN = 1 << 14
# How many characters texts have that are joined or in which something is replaced, but for constants.
LONGEST_PART = 4_000
MAKES_TEXT = frozenset({"lower", "upper", "trim", "ltrim", "rtrim", "substring", "left", "right", "replace"})
JOINS_TEXTS = frozenset({"||", "concat"})
# Emitted around the arguments of functions that make a text: nothing that a question can call.
LIMITED = "limited text"
WRITABLE = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)
_COUNT = NumberInterval(Fraction(0), None)


def _text(gives: Kind, bounds: NumberInterval = ANYTHING, texts: int | None = None) -> Rule:
    """The first `texts` arguments are text, the others whole numbers."""

    def rule(types: Sequence[Type]) -> Type:
        check_kinds(types[:texts], (Kind.TEXT,), "text")
        check_kinds(types[len(types[:texts]) :], (Kind.INTEGER,), "whole numbers as places")
        return Type(gives, bounds)

    return rule


def check_writable(types: Sequence[Type]) -> None:
    """Refuse what has no fixed spelling: doubles are written differently from engine to engine."""
    check_kinds(types, WRITABLE, "text, whole numbers, dates or conditions")


def _join(types: Sequence[Type]) -> Type:
    check_writable(types)
    return Type(Kind.TEXT)


def _join_known(types: Sequence[Type]) -> Type:
    check_writable(types)
    return Type(Kind.TEXT, nullable=False)


def part_length(call: Call) -> int:
    """Return how many characters of each text that is no constant are joined by a call."""
    return LONGEST_PART // max(1, sum(not isinstance(argument, Literal) for argument in call.arguments))


def _condition(name: str, shape: str) -> Function:
    return Function(name, shape, 2, 2, _text(Kind.BOOLEAN), after=False)


TEXTS = (
    _condition("like", "a LIKE pattern"),
    _condition("ilike", "a ILIKE pattern"),
    _condition("starts_with", "STARTS_WITH(a, b)"),
    _condition("ends_with", "ENDS_WITH(a, b)"),
    _condition("contains", "CONTAINS(a, text)"),
    _condition("regexp_matches", "REGEXP_MATCHES(a, pattern)"),
    _condition("regexp_full_match", "REGEXP_FULL_MATCH(a, pattern)"),
    Function("lower", "LOWER(a)", 1, 1, _text(Kind.TEXT), after=False),
    Function("upper", "UPPER(a)", 1, 1, _text(Kind.TEXT), after=False),
    Function("trim", "TRIM(a[, characters])", 1, 2, _text(Kind.TEXT), after=False),
    Function("ltrim", "LTRIM(a[, characters])", 1, 2, _text(Kind.TEXT), after=False),
    Function("rtrim", "RTRIM(a[, characters])", 1, 2, _text(Kind.TEXT), after=False),
    Function("length", "LENGTH(a)", 1, 1, _text(Kind.INTEGER, _COUNT), after=False),
    Function("strpos", "STRPOS(a, text)", 2, 2, _text(Kind.INTEGER, _COUNT), after=False),
    Function("substring", "SUBSTRING(a, start[, length])", 2, 3, _text(Kind.TEXT, texts=1), after=False),
    Function("left", "LEFT(a, n)", 2, 2, _text(Kind.TEXT, texts=1), after=False),
    Function("right", "RIGHT(a, n)", 2, 2, _text(Kind.TEXT, texts=1), after=False),
    Function("replace", "REPLACE(a, text, text)", 3, 3, _text(Kind.TEXT), after=False),
    Function("||", "a || b", 2, 2, _join, after=False),
    Function("concat", "CONCAT(a, ...)", 1, None, _join_known, False, "NULLs are left out"),
)


# What is repeated is written out by RE2: so often at most in all, or a short pattern is a very large program.
MOST_REPEATED = 1000
# And so often in all patterns of a question.
MOST_REPEATED_IN_ALL = 5000
_REPEATED = re.compile(r"\{([0-9]{1,9})?,?([0-9]{1,9})?\}")


def count_repetitions(written: str) -> int:
    """Return how often parts of a pattern are written out.

    Example:
        >>> count_repetitions("a{3}b{1,20}[0-9]{4,}")
        27
    """
    return sum(max(int(most or 0), int(least or 0)) for least, most in _REPEATED.findall(written))


@lru_cache(maxsize=1024)
def is_pattern(written: str) -> bool:
    """Say whether RE2 compiles a pattern. An empty DuckDB is asked, so that no data and no budget is touched."""
    import duckdb

    if count_repetitions(written) > MOST_REPEATED:
        return False

    with _lock:
        try:
            _empty(os.getpid()).execute("SELECT regexp_matches('', $1)", [written]).fetchall()
        except duckdb.Error:
            return False
    return True


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _empty(_: int) -> duckdb.DuckDBPyConnection:
    """Return the empty DuckDB of a process: to open one takes longer than all patterns of a question."""
    import duckdb

    return duckdb.connect(config={"threads": 1})
