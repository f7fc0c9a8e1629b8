"""Comparisons in BigQuery's SQL.

There NaN is neither above nor equal to anything. In questions it is above all numbers, and equal to itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.bigquery.numbers import bound
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import COMMON, among, chosen, comparison, nullif
from jali.query.catalog import Kind
from jali.query.nodes import Call, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter


def _may_be_nan(emitter: Emitter, call: Call) -> list[bool]:
    """Say of each value whether it is a double that was stored or computed: constants are numbers."""
    return [emitter.kind(a) in (Kind.REAL, Kind.INTEGER) and emitter.is_double(a) for a in call.arguments]


def _equal(a: str, b: str) -> str:
    return f"({a} = {b} OR (IS_NAN({a}) AND IS_NAN({b})))"


def _compared(emitter: Emitter, call: Call) -> str:
    nan = _may_be_nan(emitter, call)
    if not any(nan):
        return comparison(emitter, call)
    null = [not isinstance(a, Literal) or a.value is None for a in call.arguments]
    written = emitter.alike(call.arguments)
    return bound(lambda *given: _with_nan(call.function, list(zip(given, nan, null, strict=True))), *written)


def _with_nan(operator: str, sides: list[tuple[str, bool, bool]]) -> str:
    """Compare doubles; each side comes with whether it may be NaN, and NULL. Of NULL the result is NULL."""
    if operator in ("<", "<="):
        sides, operator = sides[::-1], operator.replace("<", ">")
    (a, nan, _), (b, other_nan, other_null) = sides
    if operator in ("=", "<>"):
        same = _equal(a, b) if nan and other_nan else f"({a} = {b})"
        return same if operator == "=" else f"(NOT {same})"
    if not nan:
        return f"({a} {operator} {b})"
    apart = f"(IS_NAN({a}) AND NOT IS_NAN({b}))" if other_nan and operator == ">" else f"IS_NAN({a})"
    found = f"({a} {operator} {b} OR {apart})"
    return f"IF({b} IS NULL, NULL, {found})" if other_null else found


def _among(emitter: Emitter, call: Call) -> str:
    if sum(_may_be_nan(emitter, call)) < 2:
        return among(emitter, call)
    value, *others = emitter.alike(call.arguments)
    return bound(lambda v, *given: f"({' OR '.join(_equal(v, o) for o in given)})", value, *others)


def _nullif(emitter: Emitter, call: Call) -> str:
    if sum(_may_be_nan(emitter, call)) < 2:
        return nullif(emitter, call)
    one, other = emitter.alike(call.arguments)
    return chosen(emitter, call, bound(lambda a, b: f"IF({_equal(a, b)}, NULL, {a})", one, other))


CONDITIONS: dict[str, Template] = {
    **COMMON,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _compared),
    "in": _among,
    "nullif": _nullif,
}
