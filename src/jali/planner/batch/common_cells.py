"""The common cells of several counts, and where each cell counts: every count is a sum of whole cells.

Built from the questions alone. A column that is only compared with constants has as many classes of values as the
comparisons and keys can tell apart: representatives are the constants, what lies between them and beyond them,
and NULL. Whatever cannot be taken apart like this (functions, conditions on several columns) is an atom: a
condition is true, false or NULL, and a grouping expression is one of its keys or none of them. Combinations that
no row can have only add cells that stay empty.

Expressions are evaluated over all cells at once, each looked at once. A condition is a table of truth values
along the dimensions it looks at, in SQL's logic of three values. Questions share most of what they look at, the
condition of all weighed rows above all: its table is made for the first one.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.catalog.columns import Kind
from jali.ir.aggregates import KeySet
from jali.ir.expressions import Call, Column, Expression, Literal, walk
from jali.ir.functions.evaluate import evaluate
from jali.ir.relations import Relation
from jali.ir.types import infer_type

CellValues: TypeAlias = Mapping[Expression, Any]

_COMPARED = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "in", "is null", "is distinct from", "is not distinct from"}
)
_JOINING = frozenset({"and", "or", "not", "case", "coalesce"})
_ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
_SAME = frozenset({"=", "<>", "in", "is null", "is distinct from", "is not distinct from"})


class _Other:
    """A value that is none of those that are named."""


OTHER = _Other()
NO_KEY = -2
_SKIPPING = 2**53
NAN = math.inf  # DuckDB puts NaN above every number, and so above every constant


@dataclass(frozen=True)
class CellCount:
    """What one release counts: the rows for which the conditions hold, by the keys, where a value is present.

    Attributes:
        keys: The grouping expressions, and last the axis where there is one.
        conditions: What a row has to satisfy.
        present: What must be neither NULL nor NaN.
    """

    keys: tuple[KeySet, ...]
    conditions: tuple[Expression, ...] = ()
    present: tuple[Expression, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(len(key.values or ()) for key in self.keys)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that is looked at."""
        return (*(key.expression for key in self.keys), *self.conditions, *self.present)


@dataclass(frozen=True)
class CommonCells:
    """The cells: every combination of the choices along each dimension."""

    dimensions: tuple[tuple[CellValues, ...], ...]

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(len(choices) for choices in self.dimensions)


def is_missing(value: Any) -> bool:
    """Say whether a value is NULL or NaN."""
    return value is None or (isinstance(value, float) and math.isinf(value))


def find_common_cells(counted: Sequence[CellCount], rows: Relation) -> CommonCells:
    """Return the coarsest cells found in which all of these counts are sums of whole cells."""
    atoms = _Atoms(rows)
    for one in counted:
        for key in one.keys:
            atoms.look(key.expression, key)
        for expression in (*one.conditions, *one.present):
            atoms.look_once(expression)
    return CommonCells(tuple(atoms.dimensions()))


class _Atoms:
    """Collects what the counts look at: comparisons of one column, and atoms that stay whole."""

    def __init__(self, rows: Relation) -> None:
        self._rows = rows
        self._points: dict[Column, dict[Any, None]] = {}
        self._keys: dict[Column, set[Any]] = {}
        self._comparisons: dict[Column, dict[Call, None]] = {}
        self._whole: dict[Expression, dict[Any, None]] = {}
        self._looked: dict[int, Expression] = {}

    def look_once(self, condition: Expression) -> None:
        """Take a condition apart, unless it is one that all counts share and was looked at before."""
        if id(condition) not in self._looked:
            self._looked[id(condition)] = condition
            self.look(condition, None)

    def look(self, expression: Expression, key: KeySet | None) -> None:
        """Take an expression apart; `key` says which values of it are told apart."""
        if isinstance(expression, Literal):
            return
        if isinstance(expression, Column):
            self._column(expression, key)
        elif isinstance(expression, Call) and expression.function in _JOINING:
            self._look_inside(expression, key)
        elif not self._note_comparison(expression):
            self._atom(expression, key)

    def _look_inside(self, call: Call, key: KeySet | None) -> None:
        """Conditions stand at the even places of CASE, but for the last; all else is a value."""
        for place, argument in enumerate(call.arguments):
            tested = call.function == "case" and place % 2 == 0 and place < len(call.arguments) - 1
            self.look(argument, None if tested else key)

    def _column(self, column: Column, key: KeySet | None) -> None:
        values = () if key is None else key.values or ()
        self._points.setdefault(column, {}).update(dict.fromkeys(v for v in values if v is not None))
        self._keys.setdefault(column, set()).update(values)
        self._comparisons.setdefault(column, {})

    def _note_comparison(self, expression: Expression) -> bool:
        """Note a comparison of one column with constants of its kind; say whether it is one."""
        if not isinstance(expression, Call) or expression.function not in _COMPARED:
            return False
        columns = [a for a in expression.arguments if isinstance(a, Column)]
        literals = [a for a in expression.arguments if isinstance(a, Literal)]
        if len(columns) != 1 or len(columns) + len(literals) < len(expression.arguments):
            return False
        kind = infer_type(columns[0], self._rows).kind
        constants = [a.value for a in literals]
        ordered = expression.function in _SAME or kind in _ORDERED
        if (
            not ordered
            or not all(_alike(value, kind) for value in constants)
            or _skips_whole_numbers(constants, kind)
        ):
            return False
        self._column(columns[0], None)
        self._points[columns[0]].update(dict.fromkeys(_plain(value) for value in constants))
        self._comparisons[columns[0]][expression] = None
        return True

    def _atom(self, expression: Expression, key: KeySet | None) -> None:
        """An expression that stays whole: a condition, a grouping expression, or something that may be NULL."""
        found = self._whole.setdefault(expression, {})
        if key is not None:
            found.update(dict.fromkeys((*(key.values or ()), OTHER)))
        elif infer_type(expression, self._rows).kind is Kind.BOOLEAN:
            found.update(dict.fromkeys((True, False, None)))
        else:
            found.update(dict.fromkeys((OTHER, None)))

    def dimensions(self) -> list[tuple[CellValues, ...]]:
        """Return the choices along each dimension; one that tells nothing apart is left out."""
        columns = [self._classes(column) for column in self._points]
        atoms = [tuple({atom: value} for value in values) for atom, values in self._whole.items()]
        return [choices for choices in (*columns, *atoms) if choices]

    def _classes(self, column: Column) -> tuple[CellValues, ...]:
        """Return one value of each class that the comparisons and keys tell apart."""
        kind = infer_type(column, self._rows).kind
        values = _representatives(list(self._points[column]), kind)
        look = _ComparisonTable(column, values, ordered=kind in _ORDERED)
        seen = np.array([look.evaluate(one) for one in self._comparisons[column]], np.int8).T
        found: dict[Any, CellValues] = {}
        for place, value in enumerate(values):
            # A truth value can be a condition by itself.
            named = (type(value), value) if kind is Kind.BOOLEAN or _is_among(value, self._keys[column]) else None
            said = seen[place].tobytes() if seen.size else b""
            found.setdefault((said, named, is_missing(value)), {column: value})
        return tuple(found.values())


class _ComparisonTable:
    """What comparisons say of many values: it changes at their own constants, so it is asked once in between."""

    def __init__(self, column: Column, values: Sequence[Any], *, ordered: bool) -> None:
        self._column = column
        self._values = values
        self._places = {value: place for place, value in enumerate(values)}
        self._line = sorted(value for value in values if value is not None) if ordered else []
        self._order = np.array([self._places[value] for value in self._line], np.int64)
        self._along = {value: i for i, value in enumerate(self._line)}

    def evaluate(self, comparison: Call) -> NDArray[np.int8]:
        """Return for each value whether the comparison holds; 2 where it is NULL."""
        found = np.full(len(self._values), self._ask(comparison, None), np.int8)
        if not self._line:
            found[:] = [self._ask(comparison, value) for value in self._values]
            return found
        start = 0
        cuts = sorted({self._along[_plain(a.value)] for a in comparison.arguments if isinstance(a, Literal)})
        for cut in (*cuts, len(self._line)):
            for first, last in ((start, cut), (cut, min(cut + 1, len(self._line)))):
                if first < last:
                    found[self._order[first:last]] = self._ask(comparison, self._line[first])
            start = cut + 1
        return found

    def _ask(self, comparison: Call, value: Any) -> int:
        said = evaluate(comparison, {self._column: value})
        return 2 if said is None else int(said)


def _is_among(value: Any, keys: set[Any]) -> bool:
    return not isinstance(value, _Other) and value in keys


def _alike(value: Any, kind: Kind | None) -> bool:
    """Say whether a constant is of the kind of its column, so that both can be put in one order."""
    if kind in (Kind.INTEGER, Kind.REAL):
        return isinstance(value, int | Fraction) and not isinstance(value, bool)
    if kind is Kind.DATE:
        return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    if kind is Kind.TIMESTAMP:
        return isinstance(value, datetime.datetime)
    return isinstance(value, bool if kind is Kind.BOOLEAN else str)


def _skips_whole_numbers(constants: Sequence[Any], kind: Kind | None) -> bool:
    """Say whether whole numbers are compared as doubles with constants among which doubles skip whole numbers."""
    among = kind is Kind.INTEGER and any(isinstance(value, Fraction) for value in constants)
    return among and any(abs(value) >= _SKIPPING for value in constants)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


_STEP: dict[Kind, tuple[Any, Any]] = {
    Kind.INTEGER: (0, 1),
    Kind.REAL: (0, 1),
    Kind.DATE: (datetime.date(2000, 1, 1), datetime.timedelta(days=1)),
    Kind.TIMESTAMP: (datetime.datetime(2000, 1, 1), datetime.timedelta(microseconds=1)),  # noqa: DTZ001
}


def _representatives(points: list[Any], kind: Kind | None) -> list[Any]:
    """Return values of every class: the points, between them, beyond them, none of them, and NULL."""
    if kind is Kind.BOOLEAN:
        return [True, False, None]
    if kind not in _ORDERED:
        return [*points, OTHER, None]
    first, step = _STEP[kind]
    known = sorted(set(points)) or [first]
    between = [middle for low, high in pairwise(known) for middle in _between(low, high, kind, step)]
    ends = [end for end in (_beyond(known[0], -step), _beyond(known[-1], step)) if end is not None]
    return [*known, *between, *ends, None] + ([NAN] if kind is Kind.REAL else [])


def _between(low: Any, high: Any, kind: Kind, step: Any) -> list[Any]:
    middle = (
        (low + high) / 2 if kind is Kind.REAL else low + step if kind is not Kind.INTEGER else math.floor(low) + 1
    )
    return [middle] if low < middle < high else []


def _beyond(value: Any, step: Any) -> Any:
    try:
        return value + step
    except OverflowError:
        return None


Truth: TypeAlias = NDArray[np.int8]
Numbers: TypeAlias = NDArray[np.int64]
NOT_COUNTED = -1
# SQL's AND is then the least of two truth values and OR the greatest; NOT changes the sign.
_FALSE, _UNKNOWN, _TRUE = -1, 0, 1


class CellPlaces:
    """Looks up in which number of a release each cell counts."""

    def __init__(self, partition: CommonCells) -> None:
        self._dimensions = partition.dimensions
        self._shape = tuple(len(choices) for choices in partition.dimensions)
        self._axes = {e: axis for axis, choices in enumerate(partition.dimensions) for e in choices[0]}
        self._truths: dict[Expression, Truth] = {}

    def of(self, counted: CellCount) -> Numbers:
        """Return, for each cell, which number it is counted in; -1 for none, -2 if only its key is missing."""
        holds = [self._truth(condition) == _TRUE for condition in counted.conditions]
        holds += [self._look_up(e, lambda value: not is_missing(value), np.bool_) for e in counted.present]
        place: Numbers = np.zeros(self._flat, np.int64)
        for key in counted.keys:
            found = self._key(key)
            place = np.where((place < 0) | (found < 0), NO_KEY, place * len(key.values or ()) + found)
        kept: NDArray[np.bool_] = reduce(np.logical_and, holds, np.ones(self._flat, np.bool_))
        return np.array(np.broadcast_to(np.where(kept, place, NOT_COUNTED), self._shape)).ravel()

    @property
    def _flat(self) -> tuple[int, ...]:
        return (1,) * len(self._shape)

    def _key(self, key: KeySet) -> Numbers:
        known = {value: i for i, value in enumerate(key.values or ())}
        return self._look_up(key.expression, lambda value: known.get(value, NO_KEY), np.int64)

    def _truth(self, condition: Expression) -> Truth:
        if condition not in self._truths:
            self._truths[condition] = self._judge_condition(condition)
        return self._truths[condition]

    def _judge_condition(self, condition: Expression) -> Truth:
        if isinstance(condition, Call) and condition not in self._axes:
            if condition.function == "not":
                return -self._truth(condition.arguments[0])
            if condition.function in ("and", "or"):
                join = np.minimum if condition.function == "and" else np.maximum
                return reduce(join, [self._truth(argument) for argument in condition.arguments])
        return _each(self._values(condition), _judge, np.int8)

    def _values(self, expression: Expression) -> NDArray[Any]:
        """Return the value of an expression along the dimensions that it looks at."""
        if isinstance(expression, Call) and expression not in self._axes:
            if expression.function == "case":
                return self._look_up(expression, lambda value: value, np.object_)
            if expression.function == "coalesce":
                return reduce(_first, [self._values(argument) for argument in expression.arguments])
            if expression.function in ("and", "or", "not"):
                return _each(self._truth(expression), lambda truth: _VALUES[int(truth)], np.object_)
        return self._evaluate_expression(expression)

    def _look_up(self, expression: Expression, look: Callable[[Any], Any], kind: type[np.generic]) -> NDArray[Any]:
        """Look at each value of an expression; of CASE at those that it chooses from, which are fewer."""
        if not isinstance(expression, Call) or expression.function != "case" or expression in self._axes:
            return _each(self._values(expression), look, kind)
        *pairs, otherwise = expression.arguments
        found = self._look_up(otherwise, look, kind)
        for condition, value in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
            found = np.where(self._truth(condition) == _TRUE, self._look_up(value, look, kind), found)
        return found

    def _evaluate_expression(self, expression: Expression) -> NDArray[Any]:
        """Evaluate what is not taken apart further: it looks at one dimension, or at none."""
        nodes = () if isinstance(expression, Literal) else walk(expression)
        used = sorted({self._axes[node] for node in nodes if node in self._axes})
        rows = product(*(self._dimensions[axis] for axis in used))
        values = [evaluate(expression, {e: v for one in row for e, v in one.items()}) for row in rows]
        found = np.empty(len(values), np.object_)
        found[:] = values
        return found.reshape([n if axis in used else 1 for axis, n in enumerate(self._shape)])


_VALUES = {_FALSE: False, _UNKNOWN: None, _TRUE: True}


def _judge(value: Any) -> int:
    return _TRUE if value is True else _FALSE if value is False else _UNKNOWN


def _first(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    return np.where(_each(one, lambda value: value is None, np.bool_), other, one)


def _each(values: NDArray[Any], look: Callable[[Any], Any], kind: type[np.generic]) -> NDArray[Any]:
    found = np.empty(values.size, kind)
    found[:] = [look(value) for value in values.ravel()]
    return found.reshape(values.shape)
