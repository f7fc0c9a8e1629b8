"""Functions of text, which have limits on what they make: one person's long texts must not exhaust the memory.

An engine computes with some thousand rows at once, and holds every text that is made of them. So functions that
make a text take texts of at most `LONGEST_TAKEN` bytes, and give NULL for others; what joins texts takes the first
characters of each. Functions that make no text, such as LENGTH and LIKE, take all texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from jali.query.bounds import ANYTHING, Bounds
from jali.query.catalog import Kind
from jali.query.functions.function import Function, Rule, Type
from jali.query.functions.kinds import only
from jali.query.nodes import Call, Literal

LONGEST_TAKEN = 1 << 14
# How many characters texts have that are joined or in which something is replaced, but for constants.
LONGEST_PART = 4_000
MAKES_TEXT = frozenset({"lower", "upper", "trim", "ltrim", "rtrim", "substring", "left", "right", "replace"})
JOINS_TEXTS = frozenset({"||", "concat"})
# Emitted around the arguments of functions that make a text: nothing that a question can call.
LIMITED = "limited text"
WRITABLE = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)
_COUNT = Bounds(Fraction(0), None)


def _text(gives: Kind, bounds: Bounds = ANYTHING, texts: int | None = None) -> Rule:
    """The first `texts` arguments are text, the others whole numbers."""

    def rule(types: Sequence[Type]) -> Type:
        only(types[:texts], (Kind.TEXT,), "text")
        only(types[len(types[:texts]) :], (Kind.INTEGER,), "whole numbers as places")
        return Type(gives, bounds)

    return rule


def writable(types: Sequence[Type]) -> None:
    """Refuse what has no fixed spelling: doubles are written differently from engine to engine."""
    only(types, WRITABLE, "text, whole numbers, dates or conditions")


def _join(types: Sequence[Type]) -> Type:
    writable(types)
    return Type(Kind.TEXT)


def _join_known(types: Sequence[Type]) -> Type:
    writable(types)
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
