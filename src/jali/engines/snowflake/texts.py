"""Functions of text in Snowflake's SQL. LOWER and UPPER follow Unicode: some letters become several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.snowflake.casts import as_text
from jali.engines.snowflake.literals import text
from jali.engines.snowflake.numbers import again
from jali.engines.snowflake.patterns import matches
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import SPACES, constant_number, constant_text, replaceable, written_text
from jali.query.functions.texts import LONGEST_PART
from jali.query.nodes import Call, Expression, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter


def _called(function: str) -> Template:
    return lambda e, c: f"{function}({', '.join(written_text(e, a) for a in c.arguments)})"


def _trimmed(emitter: Emitter, call: Call) -> str:
    value, *given = call.arguments
    written = written_text(emitter, value)
    if not given:
        return f"{call.function.upper()}({written}, {text(SPACES)})"
    characters = written_text(emitter, given[0])
    return again(lambda v, c: f"IFF({c} = '', {v}, {call.function.upper()}({v}, {c}))", written, characters)


def _found(emitter: Emitter, call: Call) -> str:
    """The place of an empty text is the first one, as elsewhere."""
    value, part = (written_text(emitter, a) for a in call.arguments)
    return again(
        lambda v, p: emitter.dialect.real(f"IFF({p} = '' AND {v} IS NOT NULL, 1, CHARINDEX({p}, {v}))"),
        value,
        part,
    )


def _like(emitter: Emitter, call: Call) -> str:
    """LIKE has no escape unless one is named."""
    value, pattern = call.arguments
    if isinstance(pattern, Literal) and pattern.value is None:
        return "CAST(NULL AS BOOLEAN)"
    written, like = written_text(emitter, value), text(constant_text(pattern))
    if call.function == "ilike":
        written, like = f"LOWER({written})", f"LOWER({like})"
    return f"({written} LIKE {like})"


def _left(emitter: Emitter, call: Call) -> str:
    value, count = written_text(emitter, call.arguments[0]), constant_number(call.arguments[1])
    if count >= 0:
        return f"LEFT({value}, {count})"
    return again(lambda v: f"LEFT({v}, GREATEST(LENGTH({v}) - {-count}, 0))", value)


def _right(emitter: Emitter, call: Call) -> str:
    value, count = written_text(emitter, call.arguments[0]), constant_number(call.arguments[1])
    return f"RIGHT({value}, {count})" if count >= 0 else f"SUBSTR({value}, {1 - count})"


def _substring(emitter: Emitter, call: Call) -> str:
    """Characters from one place up to another: a place below 0 counts from the end, a length below 0 goes back."""
    first, *places = call.arguments
    start, length = constant_number(places[0]), constant_number(places[1]) if len(places) > 1 else None

    def made(v: str) -> str:
        begin = f"{start}" if start >= 0 else f"(GREATEST(LENGTH({v}) - {-start}, 0) + 1)"
        if length is None:
            return f"SUBSTR({v}, GREATEST({begin}, 1))"
        low, high = (begin, f"{begin} + {length}") if length >= 0 else (f"{begin} - {-length}", begin)
        return f"SUBSTR({v}, GREATEST({low}, 1), GREATEST({high} - GREATEST({low}, 1), 0))"

    return again(made, written_text(emitter, first))


def _replace(emitter: Emitter, call: Call) -> str:
    value, *others = (written_text(emitter, a) for a in call.arguments)
    return f"REPLACE(LEFT({value}, {replaceable(call)}), {', '.join(others)})"


def _joined(emitter: Emitter, call: Call) -> str:
    parts = [_part(emitter, a) for a in call.arguments]
    if call.function == "||":
        return f"({' || '.join(parts)})"
    known = " || ".join(f"coalesce({part}, '')" for part in parts)
    return f"({known})"


def _part(emitter: Emitter, expression: Expression) -> str:
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return text(expression.value)
    return f"LEFT({as_text(emitter, expression)}, {LONGEST_PART})"


_CALLED = {
    "lower": "LOWER",
    "upper": "UPPER",
    "starts_with": "STARTSWITH",
    "ends_with": "ENDSWITH",
    "contains": "CONTAINS",
}
TEXTS: dict[str, Template] = {
    **{name: _called(function) for name, function in _CALLED.items()},
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _trimmed),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), matches),
    **dict.fromkeys(("||", "concat"), _joined),
    "length": lambda e, c: e.dialect.real(_called("LENGTH")(e, c)),
    "strpos": _found,
    "substring": _substring,
    "left": _left,
    "right": _right,
    "replace": _replace,
}
