"""Functions of text in Spark's SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.spark.casts import as_text
from jali.engines.spark.letters import lowered, uppered
from jali.engines.spark.literals import text
from jali.engines.spark.numbers import once
from jali.engines.spark.patterns import java_pattern
from jali.engines.sql.dialect import Template
from jali.query.catalog import Kind
from jali.query.functions.texts import LIMITED, LONGEST_PART, LONGEST_TAKEN, part_length
from jali.query.nodes import Call, Expression, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter

# What DuckDB trims where no characters are given: all that Unicode calls space separators (Zs).
_SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SIDES = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}
_CALLED = {"starts_with": "startswith", "ends_with": "endswith", "contains": "contains"}
_MARKS = "\u0001\u0002\u0003\u0004"


def _text(emitter: Emitter, expression: Expression) -> str:
    return emitter.typed(expression, Kind.TEXT)


def _constant(expression: Expression) -> str:
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, str)
    return expression.value


def _number(expression: Expression) -> int:
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, int)
    return expression.value


def _called(emitter: Emitter, call: Call) -> str:
    return f"{_CALLED[call.function]}({', '.join(_text(emitter, a) for a in call.arguments)})"


def _trimmed(emitter: Emitter, call: Call) -> str:
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
        written, like = lowered(written), lowered(like)
    assert mark is not None
    return f"({written} LIKE {like} ESCAPE {text(mark)})"


def _matches(emitter: Emitter, call: Call) -> str:
    value, pattern = call.arguments
    whole = call.function == "regexp_full_match"
    return f"({_text(emitter, value)} RLIKE {text(java_pattern(_constant(pattern), whole=whole))})"


def _length(emitter: Emitter, call: Call) -> str:
    return f"CAST(length({_text(emitter, call.arguments[0])}) AS DOUBLE)"


def _found(emitter: Emitter, call: Call) -> str:
    return f"CAST(instr({', '.join(_text(emitter, a) for a in call.arguments)}) AS DOUBLE)"


def _left(emitter: Emitter, call: Call) -> str:
    value, count = _text(emitter, call.arguments[0]), _number(call.arguments[1])
    if count >= 0:
        return f"left({value}, {count})"
    return once(value, lambda v: f"left({v}, greatest(length({v}) - {-count}, 0))")


def _right(emitter: Emitter, call: Call) -> str:
    value, count = _text(emitter, call.arguments[0]), _number(call.arguments[1])
    return f"right({value}, {count})" if count >= 0 else f"substring({value}, {1 - count})"


def _substring(emitter: Emitter, call: Call) -> str:
    """Characters from a place on: a negative length looks back, a negative place counts from the end."""
    first, *places = call.arguments
    start, length = _number(places[0]), _number(places[1]) if len(places) > 1 else None

    def made(v: str) -> str:
        begin = f"{start}" if start >= 0 else f"length({v}) + {start + 1}"
        if start < 0:
            begin = f"({begin})"
        if length is None:
            return f"substring({v}, greatest({begin}, 1))"
        low, high = (begin, f"{begin} + {length}") if length >= 0 else (f"{begin} - {-length}", begin)
        return f"substring({v}, greatest({low}, 1), greatest(({high}) - greatest({low}, 1), 0))"

    return once(_text(emitter, first), made)


def _replace(emitter: Emitter, call: Call) -> str:
    value, *others = call.arguments
    old, new = (len(a.value) if isinstance(a, Literal) and isinstance(a.value, str) else 0 for a in others)
    # As much of the text as leaves the result no longer than the longest part.
    kept = LONGEST_PART // max(1, -(-new // max(1, old)))
    words = ", ".join(_text(emitter, a) for a in others)
    return f"replace(left({_text(emitter, value)}, {kept}), {words})"


def _joined(emitter: Emitter, call: Call) -> str:
    parts = [_part(emitter, a, part_length(call)) for a in call.arguments]
    if call.function == "||":
        return f"({' || '.join(parts)})"
    known = ", ".join(f"coalesce({part}, '')" for part in parts)
    return f"concat({known})"


def _part(emitter: Emitter, expression: Expression, longest: int) -> str:
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return text(expression.value)
    return f"left({as_text(emitter, expression)}, {longest})"


def _limited(emitter: Emitter, call: Call) -> str:
    written = _text(emitter, call.arguments[0])
    return once(written, lambda v: f"CASE WHEN octet_length({v}) <= {LONGEST_TAKEN} THEN {v} END")


TEXTS: dict[str, Template] = {
    **dict.fromkeys(_CALLED, _called),
    **dict.fromkeys(_SIDES, _trimmed),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), _matches),
    **dict.fromkeys(("||", "concat"), _joined),
    LIMITED: _limited,
    "lower": lambda e, c: lowered(_text(e, c.arguments[0])),
    "upper": lambda e, c: uppered(_text(e, c.arguments[0])),
    "length": _length,
    "strpos": _found,
    "substring": _substring,
    "left": _left,
    "right": _right,
    "replace": _replace,
}
