"""Functions of text in Spark's SQL.

Letters change case one character for one, as in DuckDB. Spark follows Unicode's special casing: ß becomes SS, and
Σ at the end of a word ς. DuckDB maps every character by itself, to one character. Letters that are newer than
DuckDB's table of Unicode have cases in Spark alone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jali.engines.spark.arithmetic import bind_value
from jali.engines.spark.literals import text
from jali.engines.spark.regex import java_pattern
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import write_measure, write_parts, write_text, write_texts
from jali.ir.expressions import Call, Expression, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter


def write_lower(written: str) -> str:
    """Write a text in small letters."""
    return f"lower(translate({written}, 'Σİ', 'σi'))"  # noqa: RUF001 - a sigma is meant


def write_upper(written: str) -> str:
    """Write a text in capitals; texts with letters of which Spark makes several are taken letter by letter."""
    special, simple = (text(letters) for letters in _special())
    each = f"CASE WHEN instr({special}, c) > 0 THEN translate(c, {special}, {simple}) ELSE upper(c) END"
    any_special = text(f"[{_special()[0]}]")
    return bind_value(
        written,
        lambda v: (
            f"CASE WHEN {v} RLIKE {any_special} THEN array_join(transform(split({v}, ''), c -> {each}), '')"
            f" ELSE upper({v}) END"
        ),
    )


@cache
def _special() -> tuple[str, str]:
    """Return the letters whose capitals are several, and what each of them becomes by itself."""
    found = [character for character in map(chr, range(0x10000)) if len(character.upper()) > 1]
    return "".join(found), "".join(map(_capital, found))


def _capital(character: str) -> str:
    """Return the capital that is one character: that of a heading, or the letter itself."""
    if character == "ß":
        return "ẞ"
    return character.title() if len(character.title()) == 1 else character


# What DuckDB trims where no characters are given: all that Unicode calls space separators (Zs).
_SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SIDES = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}
_MARKS = "\u0001\u0002\u0003\u0004"


def _constant(expression: Expression) -> str:
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, str)
    return expression.value


def _number(expression: Expression) -> int:
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, int)
    return expression.value


def _trim(emitter: Emitter, call: Call) -> str:
    value, *given = call.arguments
    characters = write_text(emitter, given[0]) if given else text(_SPACES)
    return f"trim({_SIDES[call.function]} {characters} FROM {write_text(emitter, value)})"


def _like(emitter: Emitter, call: Call) -> str:
    """DuckDB's LIKE has no escapes: Spark's is one that the pattern does not have."""
    value, pattern = call.arguments
    if emitter.kind(pattern) is None:
        return "CAST(NULL AS BOOLEAN)"
    mark = next((mark for mark in _MARKS if mark not in _constant(pattern)), None)
    written, like = write_text(emitter, value), text(_constant(pattern))
    if call.function == "ilike":
        written, like = write_lower(written), write_lower(like)
    assert mark is not None
    return f"({written} LIKE {like} ESCAPE {text(mark)})"


def _matches(emitter: Emitter, call: Call) -> str:
    value, pattern = call.arguments
    whole = call.function == "regexp_full_match"
    return f"({write_text(emitter, value)} RLIKE {text(java_pattern(_constant(pattern), whole=whole))})"


def _take_left(emitter: Emitter, call: Call) -> str:
    value, count = write_text(emitter, call.arguments[0]), _number(call.arguments[1])
    if count >= 0:
        return f"left({value}, {count})"
    return bind_value(value, lambda v: f"left({v}, greatest(length({v}) - {-count}, 0))")


def _take_right(emitter: Emitter, call: Call) -> str:
    value, count = write_text(emitter, call.arguments[0]), _number(call.arguments[1])
    return f"right({value}, {count})" if count >= 0 else f"substring({value}, {1 - count})"


def _substring(emitter: Emitter, call: Call) -> str:
    """Characters from a place on: a negative length looks back, a negative place counts from the end."""
    first, *places = call.arguments
    start, length = _number(places[0]), _number(places[1]) if len(places) > 1 else None

    def write(v: str) -> str:
        begin = f"{start}" if start >= 0 else f"length({v}) + {start + 1}"
        if start < 0:
            begin = f"({begin})"
        if length is None:
            return f"substring({v}, greatest({begin}, 1))"
        low, high = (begin, f"{begin} + {length}") if length >= 0 else (f"{begin} - {-length}", begin)
        return f"substring({v}, greatest({low}, 1), greatest(({high}) - greatest({low}, 1), 0))"

    return bind_value(write_text(emitter, first), write)


def _concat(emitter: Emitter, call: Call) -> str:
    parts = ", ".join(f"coalesce({part}, '')" for part in write_parts(emitter, call))
    return f"concat({parts})"


TEXTS: dict[str, Template] = {
    **dict.fromkeys(_SIDES, _trim),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), _matches),
    "concat": _concat,
    "starts_with": write_texts("startswith"),
    "ends_with": write_texts("endswith"),
    "contains": write_texts("contains"),
    "lower": lambda e, c: write_lower(write_text(e, c.arguments[0])),
    "upper": lambda e, c: write_upper(write_text(e, c.arguments[0])),
    "length": write_measure("length"),
    "strpos": write_measure("instr"),
    "substring": _substring,
    "left": _take_left,
    "right": _take_right,
}
