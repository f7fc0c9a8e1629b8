"""SQL expressions to nodes: an allow-list, and a refusal with its place for everything else."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import reduce

from sqlglot import exp

from jali.errors import QueryError, Unsupported
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Position, Value

_BINARY: dict[type[exp.Expression], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "and",
    exp.Or: "or",
    exp.Like: "like",
}
_UNARY: dict[type[exp.Expression], str] = {
    exp.Neg: "negate",
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Lower: "lower",
    exp.Upper: "upper",
}
_VARIADIC: dict[type[exp.Expression], str] = {
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
}
_AGGREGATES: dict[type[exp.Expression], str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"}
_NUMBER_TYPES = {
    exp.DataType.Type.DOUBLE,
    exp.DataType.Type.FLOAT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
}
# Whatever else sqlglot hangs on a node would change its meaning (LIKE with negate=True is NOT LIKE): refused.
_ARGUMENTS: dict[type[exp.Expression], frozenset[str]] = {
    exp.Count: frozenset({"big_int"}),
    exp.Like: frozenset({"negate"}),
    exp.Least: frozenset({"ignore_nulls"}),
    exp.Greatest: frozenset({"ignore_nulls"}),
    exp.Column: frozenset({"table"}),
    exp.Literal: frozenset({"is_string"}),
    exp.Between: frozenset({"low", "high"}),
    exp.Case: frozenset({"ifs", "default"}),
    exp.Cast: frozenset({"to"}),
    exp.TryCast: frozenset({"to", "safe"}),
    exp.Round: frozenset({"decimals"}),
}
_DATE_TYPES = {
    exp.DataType.Type.DATE,
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.DATETIME,
}
_COMMON = frozenset({"this", "expression", "expressions"})
_MAX_DEPTH = 200


class ExpressionReader:
    """Turns sqlglot's expressions into nodes, keeping their places in the text."""

    def __init__(self, sql: str) -> None:
        self.sql = sql

    def position(self, node: exp.Expression) -> Position:
        """Return line and column of the first token of a node that has kept its place."""
        starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
        if not starts:
            # Some nodes keep no token: the nearest node around them tells the place well enough.
            around = node.parent
            return self.position(around) if isinstance(around, exp.Expression) else (1, 1)
        before = self.sql[: min(starts)]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def refuse(self, node: exp.Expression, what: str, remedy: str | None = None) -> Unsupported:
        """Make the refusal of a construct."""
        return Unsupported(what, position=self.position(node), remedy=remedy)

    def read(self, node: exp.Expression, depth: int = 0) -> Expression:
        """Read one expression."""
        if depth > _MAX_DEPTH:
            raise self.refuse(node, "The expression is nested too deeply.")
        self._check_arguments(node)
        for kinds, reader in (
            (_BINARY, self._binary),
            (_UNARY, self._unary),
            (_VARIADIC, self._variadic),
            (_AGGREGATES, self._aggregate),
        ):
            if type(node) in kinds:
                return reader(node, depth)
        special = self._special().get(type(node))
        if special is None:
            raise self._unknown(node)
        return special(node, depth)

    def _check_arguments(self, node: exp.Expression) -> None:
        known = _COMMON | _ARGUMENTS.get(type(node), frozenset())
        extra = [name for name, value in node.args.items() if value and name not in known]
        if extra:
            raise self.refuse(node, f"{(node.key or 'this').upper()} with {extra[0].upper()} is not supported.")

    def _special(self) -> dict[type[exp.Expression], Callable[[exp.Expression, int], Expression]]:
        return {
            exp.Paren: lambda n, d: self.read(n.this, d + 1),
            exp.Column: self._column,
            exp.Literal: self._literal,
            exp.Boolean: lambda n, _: Literal(bool(n.this), self.position(n)),
            exp.Null: lambda n, _: Literal(None, self.position(n)),
            exp.Is: self._is,
            exp.In: self._in,
            exp.Between: self._between,
            exp.Case: self._case,
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
            exp.Floor: self._rounding("floor"),
            exp.Ceil: self._rounding("ceil"),
            exp.Round: self._round,
        }

    def _call(self, function: str, node: exp.Expression, *arguments: Expression) -> Call:
        return Call(function, arguments, self.position(node))

    def _binary(self, node: exp.Expression, depth: int) -> Expression:
        left, right = self.read(node.this, depth + 1), self.read(node.expression, depth + 1)
        call = self._call(_BINARY[type(node)], node, left, right)
        return self._call("not", node, call) if node.args.get("negate") else call

    def _unary(self, node: exp.Expression, depth: int) -> Expression:
        inner = self.read(node.this, depth + 1)
        if isinstance(node, exp.Neg) and isinstance(inner, Literal) and isinstance(inner.value, int | Fraction):
            return Literal(-inner.value, self.position(node))
        return self._call(_UNARY[type(node)], node, inner)

    def _variadic(self, node: exp.Expression, depth: int) -> Expression:
        arguments = [node.this, *node.expressions]
        return self._call(_VARIADIC[type(node)], node, *(self.read(a, depth + 1) for a in arguments))

    def _aggregate(self, node: exp.Expression, depth: int) -> Expression:
        function, inner = _AGGREGATES[type(node)], node.this
        if node.expressions or isinstance(node.parent, exp.Filter | exp.Window):
            raise self.refuse(node, f"{function.upper()} takes one argument and no FILTER or OVER.")
        if isinstance(inner, exp.Star) and any(inner.args.values()):
            raise self.refuse(node, "COUNT(*) takes nothing beside the star.")
        if function == "count" and (inner is None or isinstance(inner, exp.Star)):
            return Aggregate("count", None, position=self.position(node))
        if not isinstance(inner, exp.Distinct):
            return Aggregate(function, self.read(inner, depth + 1), position=self.position(node))
        if function != "count" or len(inner.expressions) != 1 or inner.args.get("on"):
            raise self.refuse(node, "DISTINCT is only supported as COUNT(DISTINCT unit column).")
        argument = self.read(inner.expressions[0], depth + 1)
        return Aggregate("count", argument, distinct=True, position=self.position(node))

    def _column(self, node: exp.Expression, _: int) -> Expression:
        if isinstance(node.this, exp.Star):
            raise self.refuse(node, "SELECT * would print rows.", "Ask for aggregates such as COUNT(*).")
        return Column(node.name, self.position(node))

    def _literal(self, node: exp.Expression, _: int) -> Expression:
        value: Value = node.this if node.is_string else number(node.this)
        return Literal(value, self.position(node))

    def _is(self, node: exp.Expression, depth: int) -> Expression:
        left = self.read(node.this, depth + 1)
        if isinstance(node.expression, exp.Null):
            return self._call("is null", node, left)
        if isinstance(node.expression, exp.Boolean):
            same = self._call("=", node, left, Literal(bool(node.expression.this)))
            return self._call("coalesce", node, same, Literal(False))
        raise self._unknown(node)

    def _in(self, node: exp.Expression, depth: int) -> Expression:
        values = [self.read(item, depth + 1) for item in node.expressions]
        if not values or not all(isinstance(v, Literal) and v.value is not None for v in values):
            raise self.refuse(node, "IN takes a list of constants that are not NULL.")
        return self._call("in", node, self.read(node.this, depth + 1), *values)

    def _between(self, node: exp.Expression, depth: int) -> Expression:
        value = self.read(node.this, depth + 1)
        low, high = (self.read(node.args[end], depth + 1) for end in ("low", "high"))
        lower, upper = self._call(">=", node, value, low), self._call("<=", node, value, high)
        return self._call("and", node, lower, upper)

    def _case(self, node: exp.Expression, depth: int) -> Expression:
        parts: list[Expression] = []
        subject = None if node.this is None else self.read(node.this, depth + 1)
        for branch in node.args["ifs"]:
            condition = self.read(branch.this, depth + 1)
            parts.append(condition if subject is None else self._call("=", node, subject, condition))
            parts.append(self.read(branch.args["true"], depth + 1))
        otherwise = node.args.get("default")
        parts.append(Literal(None) if otherwise is None else self.read(otherwise, depth + 1))
        return self._call("case", node, *parts)

    def _cast(self, node: exp.Expression, depth: int) -> Expression:
        kind = node.args["to"].this
        if kind in _DATE_TYPES and isinstance(node.this, exp.Literal):
            # DATE '2026-01-31': the text is read as a date where it is compared with one.
            return self.read(node.this, depth + 1)
        if kind not in _NUMBER_TYPES:
            raise self.refuse(node, "Only casts to numbers are supported.", "Write CAST(column AS DOUBLE).")
        whole = kind in (exp.DataType.Type.INT, exp.DataType.Type.BIGINT)
        return self._call("whole" if whole else "number", node, self.read(node.this, depth + 1))

    def _rounding(self, function: str) -> Callable[[exp.Expression, int], Expression]:
        def reader(node: exp.Expression, depth: int) -> Expression:
            return self._call(function, node, self.read(node.this, depth + 1))

        return reader

    def _round(self, node: exp.Expression, depth: int) -> Expression:
        value, decimals = self.read(node.this, depth + 1), node.args.get("decimals")
        if decimals is None:
            return self._call("round", node, value)
        digits = self.read(decimals, depth + 1)
        if not isinstance(digits, Literal) or not isinstance(digits.value, int) or not 0 <= digits.value <= 15:
            raise self.refuse(node, "ROUND takes a constant number of digits from 0 to 15.")
        return self._call("round", node, value, digits)

    def _written(self, node: exp.Expression) -> str:
        """Return the name of a construct as the question writes it, where that is known."""
        start = node.meta.get("start")
        word = None if start is None else re.match(r"[A-Za-z_]\w*", self.sql[start:])
        return (node.key or "this").upper() if word is None else word[0].upper()

    def _unknown(self, node: exp.Expression) -> QueryError:
        if isinstance(node, exp.Subquery | exp.Select | exp.Exists):
            return self.refuse(node, "Subqueries are not supported.")
        if isinstance(node, exp.Window):
            return self.refuse(node, "Window functions are not supported: they would mix people's rows.")
        if isinstance(node, exp.IgnoreNulls) and type(node.this) not in _AGGREGATES:
            return self._unknown(node.this)
        name = node.name if isinstance(node, exp.Anonymous) else self._written(node)
        return self.refuse(
            node, f"{name} is not supported.", "The supported functions are listed in docs/questions.md."
        )


def number(written: str) -> int | Fraction:
    """Read a numeric literal exactly."""
    try:
        exact = Fraction(written) if len(written) <= 100 else None
    except ValueError:
        exact = None
    if exact is None or abs(exact) > 10**300:
        raise QueryError(f"{written[:40]} is not a number that can be used here.")
    return int(exact) if written.isdigit() else exact


def conjunction(conditions: list[Expression]) -> Expression | None:
    """Join conditions by AND."""
    return reduce(lambda a, b: Call("and", (a, b)), conditions) if conditions else None
