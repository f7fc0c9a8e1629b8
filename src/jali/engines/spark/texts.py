"""Functions of text in Spark's SQL.

Letters change case one character for one, as in DuckDB. Spark follows Unicode's special casing: ß becomes SS, and
Σ at the end of a word ς. DuckDB maps every character by itself, to one character. Letters that are newer than
DuckDB's table of Unicode have cases in Spark alone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.spark.arithmetic import bind_value
from jali.engines.spark.casts import as_text
from jali.engines.spark.literals import text
from jali.engines.spark.regex import java_pattern
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.text_functions import LIMITED, LONGEST_PART, LONGEST_TAKEN, part_length

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
_CALLED = {"starts_with": "startswith", "ends_with": "endswith", "contains": "contains"}
_MARKS = "\u0001\u0002\u0003\u0004"


def _text(emitter: Emitter, expression: Expression) -> str:
    return emitter.write_as(expression, Kind.TEXT)


def _constant(expression: Expression) -> str:
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, str)
    return expression.value


def _number(expression: Expression) -> int:
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, int)
    return expression.value


def _call(emitter: Emitter, call: Call) -> str:
    return f"{_CALLED[call.function]}({', '.join(_text(emitter, a) for a in call.arguments)})"


def _trim(emitter: Emitter, call: Call) -> str:
    value, *given = call.arguments
    characters = _text(emitter, given[0]) if given else text(_SPACES)
    return f"trim({_SIDES[call.function]} {characters} FROM {_text(emitter, value)})"


def _like(emitter: Emitter, call: Call) -> str:
    """DuckDB's LIKE has no escapes: Spark's is one that the pattern does not have."""
    value, pattern = call.arguments
    if emitter.kind(pattern) is None:
        return "CAST(NULL AS BOOLEAN)"
    mark = next((mark for mark in _MARKS if mark not in _constant(pattern)), None)
    written, like = _text(emitter, value), text(_constant(pattern))
    if call.function == "ilike":
        written, like = write_lower(written), write_lower(like)
    assert mark is not None
    return f"({written} LIKE {like} ESCAPE {text(mark)})"


def _matches(emitter: Emitter, call: Call) -> str:
    value, pattern = call.arguments
    whole = call.function == "regexp_full_match"
    return f"({_text(emitter, value)} RLIKE {text(java_pattern(_constant(pattern), whole=whole))})"


def _length(emitter: Emitter, call: Call) -> str:
    return f"CAST(length({_text(emitter, call.arguments[0])}) AS DOUBLE)"


def _find(emitter: Emitter, call: Call) -> str:
    return f"CAST(instr({', '.join(_text(emitter, a) for a in call.arguments)}) AS DOUBLE)"


def _take_left(emitter: Emitter, call: Call) -> str:
    value, count = _text(emitter, call.arguments[0]), _number(call.arguments[1])
    if count >= 0:
        return f"left({value}, {count})"
    return bind_value(value, lambda v: f"left({v}, greatest(length({v}) - {-count}, 0))")


def _take_right(emitter: Emitter, call: Call) -> str:
    value, count = _text(emitter, call.arguments[0]), _number(call.arguments[1])
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

    return bind_value(_text(emitter, first), write)


def _replace(emitter: Emitter, call: Call) -> str:
    value, *others = call.arguments
    old, new = (len(a.value) if isinstance(a, Literal) and isinstance(a.value, str) else 0 for a in others)
    # As much of the text as leaves the result no longer than the longest part.
    kept = LONGEST_PART // max(1, -(-new // max(1, old)))
    words = ", ".join(_text(emitter, a) for a in others)
    return f"replace(left({_text(emitter, value)}, {kept}), {words})"


def _concatenate(emitter: Emitter, call: Call) -> str:
    parts = [_part(emitter, a, part_length(call)) for a in call.arguments]
    if call.function == "||":
        return f"({' || '.join(parts)})"
    known = ", ".join(f"coalesce({part}, '')" for part in parts)
    return f"concat({known})"


def _part(emitter: Emitter, expression: Expression, longest: int) -> str:
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return text(expression.value)
    return f"left({as_text(emitter, expression)}, {longest})"


def _limit_length(emitter: Emitter, call: Call) -> str:
    written = _text(emitter, call.arguments[0])
    return bind_value(written, lambda v: f"CASE WHEN octet_length({v}) <= {LONGEST_TAKEN} THEN {v} END")


TEXTS: dict[str, Template] = {
    **dict.fromkeys(_CALLED, _call),
    **dict.fromkeys(_SIDES, _trim),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), _matches),
    **dict.fromkeys(("||", "concat"), _concatenate),
    LIMITED: _limit_length,
    "lower": lambda e, c: write_lower(_text(e, c.arguments[0])),
    "upper": lambda e, c: write_upper(_text(e, c.arguments[0])),
    "length": _length,
    "strpos": _find,
    "substring": _substring,
    "left": _take_left,
    "right": _take_right,
    "replace": _replace,
}
