"""What public facts say of an expression: the range it lies in, and the values that it can have.

Ranges are numbers that doubles hold, with a lattice that says how finely values between them are counted. Values
come from declared keys, ranges and constants.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain, product
from typing import Any

from jali.catalog.columns import Field, Kind
from jali.catalog.value_domain import Value
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, conjuncts, walk
from jali.ir.functions import FUNCTIONS, Type
from jali.ir.functions.evaluate import build_evaluator, evaluate
from jali.ir.relations import Fields, Relation, split_conditions
from jali.ir.types import find_field, infer_type
from jali.sql.printer import show_expression

_DOUBLE_LIMIT = Fraction(2) ** 1000


def apply_filter(aggregate: Aggregate) -> Aggregate:
    """Move FILTER (WHERE ...) into the argument: what is filtered out is NULL, and aggregates leave NULL out."""
    if aggregate.filter is None:
        return aggregate
    value: Expression = Literal(1) if aggregate.argument is None else aggregate.argument
    kept = Call("case", (aggregate.filter, value, Literal(None)), aggregate.position)
    return replace(aggregate, argument=kept, filter=None)


def find_range(argument: Expression, fields: Fields) -> tuple[Fraction, Fraction]:
    """Return the public range of an expression as numbers that a double holds, or say which column lacks one."""
    found: Type = infer_type(argument, fields)
    low, high = found.bounds.low, found.bounds.high
    if low is None or high is None or max(abs(low), abs(high)) > _DOUBLE_LIMIT:
        raise _no_range(argument, fields)
    if found.kind is Kind.INTEGER:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
    return round_to_double(low, math.floor), max(
        round_to_double(high, math.ceil), round_to_double(low, math.floor)
    )


def _no_range(argument: Expression, fields: Fields) -> Unsupported:
    if infer_type(argument, fields).kind in (Kind.DATE, Kind.TIMESTAMP):
        return Unsupported(
            "date-range-undeclared", position=argument.position, expression=show_expression(argument)
        )
    columns = [node for node in walk(argument) if isinstance(node, Column)]
    missing = [c.name for c in columns if infer_type(c, fields).bounds.low is None and not _text(c, fields)]
    if missing:
        return Unsupported(
            "range-undeclared", position=argument.position, column=missing[0], expression=show_expression(argument)
        )
    return Unsupported("expression-unbounded", position=argument.position, expression=show_expression(argument))


def _text(column: Column, fields: Fields) -> bool:
    return not find_field(column, fields).kind.numeric


def choose_lattice_steps(reach: Fraction, bits: int) -> Fraction:
    """Return how many lattice points one unit has when values up to `reach` get this many bits."""
    return Fraction(2) ** (bits - _exponent(reach, bits))


def _exponent(reach: Fraction, bits: int) -> int:
    """Return the least e with reach <= 2^e, within what a double can scale by."""
    if reach == 0:
        return bits
    exponent = reach.numerator.bit_length() - reach.denominator.bit_length() - 1
    while Fraction(2) ** exponent < reach:
        exponent += 1
    return max(exponent, -900)


def round_to_double(value: Fraction, direction: Callable[[Fraction], int]) -> Fraction:
    """Return a number near `value` that a double holds exactly, at or beyond it in the given direction."""
    if abs(value) > _DOUBLE_LIMIT:
        raise QueryError("range-too-wide")
    nearest, down = float(value), direction is math.floor
    if Fraction(nearest) != value and (Fraction(nearest) > value) == down:
        nearest = math.nextafter(nearest, -math.inf if down else math.inf)
    return Fraction(nearest)


_EPOCH = datetime.date(1970, 1, 1)
# Up to here every whole number is a double of its own.
_EXACT = 1 << 53
# A range, or a function of other columns, tells so many keys at most: only keys that are declared can be more.
_MOST_COMPUTED = 20_000
# How many parts of expressions are computed at most to find keys, or to leave some out: a microsecond each.
_MOST_WORK, _MOST_LEFT_OUT = 100_000, 400_000
_PLAIN = {int, str, datetime.date}
# With the constant first, as it is the same for all keys.
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.gt,
    "<=": operator.ge,
    ">": operator.lt,
    ">=": operator.le,
}
_SPACING = {"year": 12, "quarter": 3, "month": 1}


def find_key_values(expression: Expression, fields: Fields) -> tuple[Value, ...] | None:
    """Return all values that an expression can have, in their order; None where public facts do not tell.

    A declared column has its keys. A function of declared columns has the function's values at their keys. CASE
    has its constants. A condition is true, false or NULL. A whole number in a known range, and a date in one, can
    be each number or date between the ends.
    """
    found = _find_values(expression, fields)
    return None if found is None or _alike(expression, found, fields) else found


def _alike(expression: Expression, values: tuple[Value, ...], fields: Fields) -> bool:
    """Say whether two values may be one double. A computed number is a double: its row would be in two groups."""
    stored = isinstance(expression, Column) and not find_field(expression, fields).computed
    return not stored and any(isinstance(value, int) and abs(value) > _EXACT for value in values)


def _find_values(expression: Expression, fields: Fields) -> tuple[Value, ...] | None:
    if isinstance(expression, Column):
        return _of_column(find_field(expression, fields), infer_type(expression, fields))
    if isinstance(expression, Literal):
        return (_plain(expression.value),)
    if not isinstance(expression, Call):
        return None
    found = (
        _map_keys(expression, fields) or _list_branches(expression, fields) or _list_truncated(expression, fields)
    )
    return found or _between(infer_type(expression, fields))


def filter_key_values(
    expression: Expression, values: tuple[Value, ...] | None, rows: Relation
) -> tuple[Value, ...] | None:
    """Leave out the keys that WHERE leaves out: conditions on the grouping expression alone are public facts."""
    if values is None:
        return None
    kept, others = values, list[Expression]()
    for condition in chain.from_iterable(map(conjuncts, split_conditions(rows)[1])):
        test = _comparison(condition, expression, values)
        if test is not None:
            kept = tuple(value for value in kept if value is not None and test(value))
        elif _speaks_of(condition, expression):
            others.append(condition)
    if len(kept) * sum(1 for condition in others for _ in walk(condition)) > _MOST_LEFT_OUT:
        raise Unsupported("conditions-too-many", position=expression.position, count=len(kept))
    for holds in [build_evaluator(condition, expression) for condition in others]:
        kept = tuple(value for value in kept if holds(value) is True)
    return kept or values


def _comparison(
    condition: Expression, expression: Expression, values: tuple[Value, ...]
) -> Callable[[Any], bool] | None:
    """Return the test of a plain comparison of the keys with constants of their type: keys may be very many."""
    if not isinstance(condition, Call) or not condition.arguments or condition.arguments[0] != expression:
        return None
    written = [a.value for a in condition.arguments[1:] if isinstance(a, Literal)]
    kinds = {type(value) for value in (*values, *written)} - {type(None)}
    if len(written) < len(condition.arguments) - 1 or None in written or len(kinds) != 1 or not kinds <= _PLAIN:
        return None
    if condition.function == "in":
        return frozenset(written).__contains__
    compare = _COMPARED.get(condition.function)
    if compare is None or len(written) != 1 or (kinds == {str} and condition.function not in ("=", "<>")):
        return None
    return partial(compare, written[0])


def _speaks_of(condition: Expression, expression: Expression) -> bool:
    """Say whether a condition can be decided from the value of an expression, after the noise as before."""
    if condition == expression:
        return True
    if isinstance(condition, Call) and FUNCTIONS[condition.function].after:
        return all(_speaks_of(argument, expression) for argument in condition.arguments)
    return isinstance(condition, Literal)


def _of_column(field: Field, kind: Type) -> tuple[Value, ...] | None:
    if field.keys is not None:
        return field.keys.values
    return _between(kind)


def _between(kind: Type) -> tuple[Value, ...] | None:
    if kind.kind is Kind.BOOLEAN:
        return (True, False, None) if kind.nullable else (True, False)
    low, high = kind.bounds.low, kind.bounds.high
    if low is None or high is None or kind.kind not in (Kind.INTEGER, Kind.DATE):
        return None
    first, last = math.ceil(low), math.floor(high)
    if last - first >= _MOST_COMPUTED:
        return None
    if kind.kind is Kind.DATE:
        return tuple(_EPOCH + datetime.timedelta(days=day) for day in range(first, last + 1))
    return tuple(range(first, last + 1))


def _map_keys(call: Call, fields: Fields) -> tuple[Value, ...] | None:
    """Evaluate a function at all declared keys of its columns."""
    nodes = list(walk(call))
    columns = list(dict.fromkeys(node for node in nodes if isinstance(node, Column)))
    calls = [node for node in nodes if isinstance(node, Call)]
    keys = [find_field(column, fields).keys for column in columns]
    if not columns or any(k is None for k in keys) or not all(FUNCTIONS[c.function].after for c in calls):
        return None
    lists = [k.values for k in keys if k is not None]
    if math.prod(len(values) for values in lists) > min(_MOST_COMPUTED, _MOST_WORK // len(nodes)):
        return None
    found = (evaluate(call, dict(zip(columns, row, strict=True))) for row in product(*lists))
    return _distinct([_plain(value) for value in found])


def _list_branches(call: Call, fields: Fields) -> tuple[Value, ...] | None:
    """CASE and COALESCE have the values of their branches."""
    if call.function == "case":
        branches = [*call.arguments[1:-1:2], call.arguments[-1]]
    elif call.function == "coalesce":
        branches = list(call.arguments)
    else:
        return None
    parts = [find_key_values(branch, fields) for branch in branches]
    if any(part is None for part in parts):
        return None
    return _distinct([value for part in parts if part is not None for value in part])


def _list_truncated(call: Call, fields: Fields) -> tuple[Value, ...] | None:
    """DATE_TRUNC of a date in a known range: the first days of its months, quarters or years."""
    if not call.function.startswith("trunc "):
        return None
    part, kind = call.function.removeprefix("trunc "), infer_type(call, fields)
    low, high = kind.bounds.low, kind.bounds.high
    if low is None or high is None:
        return None
    days = 1 if kind.kind is Kind.DATE else 86_400_000_000
    first, last = (_EPOCH + datetime.timedelta(days=math.floor(end / days)) for end in (low, high))
    dates = _starts(part, first, last)
    if dates is None or kind.kind is Kind.DATE:
        return dates
    return tuple(datetime.datetime(d.year, d.month, d.day) for d in dates)  # type: ignore[union-attr] # noqa: DTZ001


def _starts(part: str, first: datetime.date, last: datetime.date) -> tuple[Value, ...] | None:
    if part == "day":
        count = (last - first).days + 1
        return tuple(first + datetime.timedelta(days=i) for i in range(count)) if count <= _MOST_COMPUTED else None
    if part == "week":
        monday = first - datetime.timedelta(days=first.weekday())
        return tuple(monday + datetime.timedelta(weeks=i) for i in range((last - monday).days // 7 + 1))
    if part not in _SPACING:
        return None
    months = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    return tuple(datetime.date(m // 12, m % 12 + 1, 1) for m in months if m % _SPACING[part] == 0)


def _plain(value: object) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return value  # type: ignore[return-value]


def _distinct(values: list[Value]) -> tuple[Value, ...] | None:
    """Return each value once; None if there are fractions, which cannot be compared exactly."""
    if any(isinstance(value, float | Fraction) for value in values):
        return None
    known = [value for value in values if value is not None]
    found = tuple(dict.fromkeys(known))
    return (*found, None) if len(known) < len(values) else found
