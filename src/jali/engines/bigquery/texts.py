"""Functions of text in BigQuery's SQL. LOWER and UPPER follow Unicode: some letters become several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.bigquery.casts import as_text
from jali.engines.bigquery.literals import text
from jali.engines.bigquery.numbers import bound
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import SPACES, constant_number, constant_text, replaceable, written_text
from jali.query.functions.texts import LONGEST_PART
from jali.query.nodes import Call, Expression, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter


def _called(function: str) -> Template:
    return lambda e, c: f"{function}({', '.join(written_text(e, a) for a in c.arguments)})"


def _measured(function: str) -> Template:
    made = _called(function)
    return lambda emitter, call: emitter.dialect.real(made(emitter, call))


def _trimmed(emitter: Emitter, call: Call) -> str:
    """Without characters BigQuery would trim tabs and ends of lines too."""
    value, *given = call.arguments
    written = written_text(emitter, value)
    if not given:
        return f"{call.function.upper()}({written}, {text(SPACES)})"
    characters = written_text(emitter, given[0])
    return bound(lambda v, c: f"IF({c} = '', {v}, {call.function.upper()}({v}, {c}))", written, characters)


def _found(emitter: Emitter, call: Call) -> str:
    """The place of an empty text is the first one, as elsewhere."""
    value, part = (written_text(emitter, a) for a in call.arguments)
    return bound(
        lambda v, p: emitter.dialect.real(f"IF({p} = '' AND {v} IS NOT NULL, 1, STRPOS({v}, {p}))"), value, part
    )


def _contains(emitter: Emitter, call: Call) -> str:
    """CONTAINS_SUBSTR would ignore the case."""
    value, part = (written_text(emitter, a) for a in call.arguments)
    return bound(lambda v, p: f"(STRPOS({v}, {p}) > 0 OR ({p} = '' AND {v} IS NOT NULL))", value, part)


def _like(emitter: Emitter, call: Call) -> str:
    """In LIKE a backslash escapes; in questions it stands for itself. There is no ILIKE."""
    value, pattern = call.arguments
    if isinstance(pattern, Literal) and pattern.value is None:
        return "CAST(NULL AS BOOL)"
    written, like = written_text(emitter, value), text(constant_text(pattern).replace("\\", "\\\\"))
    if call.function == "ilike":
        written, like = f"LOWER({written})", f"LOWER({like})"
    return f"({written} LIKE {like})"


def _matches(emitter: Emitter, call: Call) -> str:
    """BigQuery's library is RE2, which questions are written for. A dot takes no end of a line."""
    value, pattern = written_text(emitter, call.arguments[0]), constant_text(call.arguments[1])
    shape = f"\\A(?-s:{pattern})\\z" if call.function == "regexp_full_match" else f"(?-s:{pattern})"
    return f"REGEXP_CONTAINS({value}, {text(shape)})"


def _left(emitter: Emitter, call: Call) -> str:
    value, count = written_text(emitter, call.arguments[0]), constant_number(call.arguments[1])
    if count >= 0:
        return f"LEFT({value}, {count})"
    return bound(lambda v: f"LEFT({v}, GREATEST(CHAR_LENGTH({v}) - {-count}, 0))", value)


def _right(emitter: Emitter, call: Call) -> str:
    value, count = written_text(emitter, call.arguments[0]), constant_number(call.arguments[1])
    return f"RIGHT({value}, {count})" if count >= 0 else f"SUBSTR({value}, {1 - count})"


def _substring(emitter: Emitter, call: Call) -> str:
    """Characters from one place up to another: a place below 0 counts from the end, a length below 0 goes back."""
    first, *places = call.arguments
    start, length = constant_number(places[0]), constant_number(places[1]) if len(places) > 1 else None

    def made(v: str) -> str:
        begin = f"{start}" if start >= 0 else f"(GREATEST(CHAR_LENGTH({v}) - {-start}, 0) + 1)"
        if length is None:
            return f"SUBSTR({v}, GREATEST({begin}, 1))"
        low, high = (begin, f"{begin} + {length}") if length >= 0 else (f"{begin} - {-length}", begin)
        return f"SUBSTR({v}, GREATEST({low}, 1), GREATEST({high} - GREATEST({low}, 1), 0))"

    return bound(made, written_text(emitter, first))


def _replace(emitter: Emitter, call: Call) -> str:
    value, *others = (written_text(emitter, a) for a in call.arguments)
    return f"REPLACE(LEFT({value}, {replaceable(call)}), {', '.join(others)})"


def _joined(emitter: Emitter, call: Call) -> str:
    parts = [_part(emitter, a) for a in call.arguments]
    if call.function == "||":
        return f"({' || '.join(parts)})"
    known = ", ".join(f"IFNULL({part}, '')" for part in parts)
    return f"CONCAT({known})"


def _part(emitter: Emitter, expression: Expression) -> str:
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return text(expression.value)
    return f"LEFT({as_text(emitter, expression)}, {LONGEST_PART})"


TEXTS: dict[str, Template] = {
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _trimmed),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), _matches),
    **dict.fromkeys(("||", "concat"), _joined),
    **{name: _called(name.upper()) for name in ("lower", "upper", "starts_with", "ends_with")},
    "length": _measured("CHAR_LENGTH"),
    "strpos": _found,
    "contains": _contains,
    "substring": _substring,
    "left": _left,
    "right": _right,
    "replace": _replace,
}
