"""Comparisons, three-valued logic, and choices between values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jali.query.bounds import Bounds
from jali.query.catalog import Kind
from jali.query.functions.function import Function, Type
from jali.query.functions.kinds import alike, comparable, only


def _compare(types: Sequence[Type]) -> Type:
    comparable(types)
    return Type(Kind.BOOLEAN)


def _tell_apart(types: Sequence[Type]) -> Type:
    comparable(types)
    return Type(Kind.BOOLEAN, nullable=False)


def _logic(types: Sequence[Type]) -> Type:
    only(types, (Kind.BOOLEAN,), "conditions")
    return Type(Kind.BOOLEAN)


def _known(types: Sequence[Type]) -> Type:
    del types
    return Type(Kind.BOOLEAN, nullable=False)


def _choose(types: Sequence[Type]) -> Type:
    kind, bounds = alike(types), Bounds()
    values = [t for t in types if t.kind is not None]
    if values:
        bounds = values[0].bounds
    for other in values[1:]:
        bounds = bounds.union(other.bounds)
    return Type(kind, bounds, nullable=all(t.nullable for t in types))


def _nullif(types: Sequence[Type]) -> Type:
    alike(types)
    return replace(types[0], nullable=True)


def _case(types: Sequence[Type]) -> Type:
    """CASE is stored as condition, value, condition, value, ..., otherwise."""
    _logic(types[:-1:2])
    values = [*types[1::2], types[-1]]
    return replace(_choose(values), nullable=any(t.nullable for t in values))


CONDITIONS = (
    Function("=", "a = b", 2, 2, _compare, after=True),
    Function("<>", "a <> b", 2, 2, _compare, after=True),
    Function("<", "a < b", 2, 2, _compare, after=True),
    Function("<=", "a <= b", 2, 2, _compare, after=True),
    Function(">", "a > b", 2, 2, _compare, after=True),
    Function(">=", "a >= b", 2, 2, _compare, after=True),
    Function("is distinct from", "a IS DISTINCT FROM b", 2, 2, _tell_apart, True, "NULL is a value like others"),
    Function("is not distinct from", "a IS NOT DISTINCT FROM b", 2, 2, _tell_apart, True, "NULL equals NULL"),
    Function("and", "a AND b", 2, 2, _logic, True, "three-valued logic"),
    Function("or", "a OR b", 2, 2, _logic, True, "three-valued logic"),
    Function("not", "NOT a", 1, 1, _logic, after=True),
    Function("is null", "a IS NULL", 1, 1, _known, True, "true for NULL"),
    Function("in", "a IN (b, ...)", 2, None, _compare, True, "NULL if a is NULL"),
    Function("coalesce", "COALESCE(a, ...)", 1, None, _choose, True, "the first that is not NULL"),
    Function("nullif", "NULLIF(a, b)", 2, 2, _nullif, True, "NULL also if a = b"),
    Function("case", "CASE WHEN c THEN a ... ELSE b END", 3, None, _case, True, "ELSE NULL if absent"),
)
