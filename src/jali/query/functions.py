"""The one table of functions: what each takes, gives, does to NULL and does to ranges.

Every function is total on rows: it gives a value or NULL for every input and never raises. Arithmetic is done
in double precision inside the engine (integers would overflow, and raise); what leaves an expression is clamped
and put on a lattice before it is summed, so rounding inside a row cannot move a sum beyond its sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce

from jali.query.bounds import ANYTHING, Bounds
from jali.query.catalog import Kind


@dataclass(frozen=True)
class Type:
    """The kind of an expression, the interval of its values, and whether it can be NULL.

    A kind of None is the literal NULL.
    """

    kind: Kind | None
    bounds: Bounds = ANYTHING
    nullable: bool = field(default=True, compare=False)

    @property
    def numeric(self) -> bool:
        """Whether this is a number (or NULL)."""
        return self.kind is None or self.kind.numeric


Rule = Callable[[Sequence[Type]], Type]


@dataclass(frozen=True)
class Function:
    """One function of the question language.

    Attributes:
        name: How nodes call it.
        shape: How people write it.
        least: The least number of arguments.
        most: The largest number of arguments, None for any.
        gives: The type of the result, or a ValueError with what it takes.
        after: Whether it may also be used on noisy values.
        nulls: What it does with NULL.
    """

    name: str
    shape: str
    least: int
    most: int | None
    gives: Rule
    after: bool
    nulls: str = "NULL if an argument is NULL"


def _numbers(types: Sequence[Type]) -> Kind:
    if not all(t.numeric for t in types):
        raise ValueError("takes numbers")
    return Kind.REAL if any(t.kind is Kind.REAL for t in types) else Kind.INTEGER


def _arithmetic(bounds: Callable[[Bounds, Bounds], Bounds]) -> Rule:
    return lambda types: Type(_numbers(types), bounds(types[0].bounds, types[1].bounds))


def _divide(types: Sequence[Type]) -> Type:
    _numbers(types)
    return Type(Kind.REAL, types[0].bounds / types[1].bounds)


def _extreme(step: Callable[[Bounds, Bounds], Bounds]) -> Rule:
    """LEAST and GREATEST leave NULLs out: any argument that can be NULL can be missing from the comparison."""

    def rule(types: Sequence[Type]) -> Type:
        kind = _numbers(types)
        sure = [t.bounds for t in types if not t.nullable]
        unsure = [t.bounds for t in types if t.nullable and t.kind is not None]
        if not sure:
            return Type(kind, reduce(Bounds.union, unsure, unsure[0]) if unsure else ANYTHING)
        core = reduce(step, sure)
        # Each further argument is compared with the core or missing: both must lie in the interval.
        return Type(kind, reduce(Bounds.union, (step(core, b) for b in unsure), core), nullable=False)

    return rule


def _whole(types: Sequence[Type]) -> Type:
    _numbers(types)
    bounds = types[0].bounds
    low = None if bounds.low is None else Fraction(bounds.low // 1)
    high = None if bounds.high is None else Fraction(-(-bounds.high // 1))
    return Type(Kind.INTEGER, Bounds(low, high))


def _round(types: Sequence[Type]) -> Type:
    if len(types) == 1:
        return _whole(types)
    _numbers(types)
    wide = Bounds(Fraction(-1), Fraction(1))
    return Type(Kind.REAL, types[0].bounds + wide)


def alike(types: Sequence[Type]) -> Kind | None:
    """Return the kind that all types share; numbers of both kinds are alike, and NULL is like anything."""
    kinds = {t.kind for t in types if t.kind is not None}
    if kinds <= {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL if Kind.REAL in kinds else (Kind.INTEGER if kinds else None)
    if len(kinds) > 1 or kinds == {Kind.OTHER}:
        raise ValueError("compares values of one kind")
    return kinds.pop()


def _compare(types: Sequence[Type]) -> Type:
    alike(types)
    return Type(Kind.BOOLEAN)


def _logic(types: Sequence[Type]) -> Type:
    if any(t.kind not in (Kind.BOOLEAN, None) for t in types):
        raise ValueError("takes conditions")
    return Type(Kind.BOOLEAN)


def _text(gives: Kind) -> Rule:
    def rule(types: Sequence[Type]) -> Type:
        if any(t.kind not in (Kind.TEXT, None) for t in types):
            raise ValueError("takes text")
        return Type(gives)

    return rule


def _choose(types: Sequence[Type]) -> Type:
    kind, bounds = alike(types), Bounds()
    values = [t for t in types if t.kind is not None]
    if values:
        bounds = values[0].bounds
    for other in values[1:]:
        bounds = bounds.union(other.bounds)
    return Type(kind, bounds, nullable=all(t.nullable for t in types))


def _case(types: Sequence[Type]) -> Type:
    """CASE is stored as condition, value, condition, value, ..., otherwise."""
    _logic(types[:-1:2])
    values = [*types[1::2], types[-1]]
    return replace(_choose(values), nullable=any(t.nullable for t in values))


def _to_number(types: Sequence[Type]) -> Type:
    if types[0].kind not in (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN, None):
        raise ValueError("takes a number, text or a condition")
    if types[0].kind is Kind.BOOLEAN:
        return Type(Kind.REAL, Bounds(Fraction(0), Fraction(1)))
    return Type(Kind.REAL, types[0].bounds)


def _to_whole(types: Sequence[Type]) -> Type:
    return _whole([_to_number(types)])


def _known(types: Sequence[Type]) -> Type:
    del types
    return Type(Kind.BOOLEAN)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("+", "a + b", 2, 2, _arithmetic(lambda a, b: a + b), after=True),
        Function("-", "a - b", 2, 2, _arithmetic(lambda a, b: a - b), after=True),
        Function("*", "a * b", 2, 2, _arithmetic(lambda a, b: a * b), after=True),
        Function("/", "a / b", 2, 2, _divide, after=True, nulls="NULL also if b is 0"),
        Function("negate", "-a", 1, 1, lambda t: Type(_numbers(t), -t[0].bounds), after=True),
        Function("abs", "ABS(a)", 1, 1, lambda t: Type(_numbers(t), abs(t[0].bounds)), after=True),
        Function("floor", "FLOOR(a)", 1, 1, _whole, after=True),
        Function("ceil", "CEIL(a)", 1, 1, _whole, after=True),
        Function("round", "ROUND(a[, digits])", 1, 2, _round, after=True),
        Function("least", "LEAST(a, ...)", 1, None, _extreme(Bounds.least), True, "NULLs are left out"),
        Function("greatest", "GREATEST(a, ...)", 1, None, _extreme(Bounds.greatest), True, "NULLs are left out"),
        Function("=", "a = b", 2, 2, _compare, after=True),
        Function("<>", "a <> b", 2, 2, _compare, after=True),
        Function("<", "a < b", 2, 2, _compare, after=True),
        Function("<=", "a <= b", 2, 2, _compare, after=True),
        Function(">", "a > b", 2, 2, _compare, after=True),
        Function(">=", "a >= b", 2, 2, _compare, after=True),
        Function("and", "a AND b", 2, 2, _logic, True, "three-valued logic"),
        Function("or", "a OR b", 2, 2, _logic, True, "three-valued logic"),
        Function("not", "NOT a", 1, 1, _logic, after=True),
        Function("is null", "a IS NULL", 1, 1, _known, True, "true for NULL"),
        Function("in", "a IN (b, ...)", 2, None, _compare, True, "NULL if a is NULL"),
        Function("like", "a LIKE pattern", 2, 2, _text(Kind.BOOLEAN), after=False),
        Function("lower", "LOWER(a)", 1, 1, _text(Kind.TEXT), after=False),
        Function("upper", "UPPER(a)", 1, 1, _text(Kind.TEXT), after=False),
        Function("coalesce", "COALESCE(a, ...)", 1, None, _choose, True, "the first that is not NULL"),
        Function("case", "CASE WHEN c THEN a ... ELSE b END", 3, None, _case, True, "ELSE NULL if absent"),
        Function("whole", "CAST(a AS INTEGER)", 1, 1, _to_whole, False, "NULL where the cast fails"),
        Function("number", "CAST(a AS DOUBLE)", 1, 1, _to_number, False, "NULL where the cast fails"),
    )
}
