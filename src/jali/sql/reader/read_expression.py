"""Read SQL expressions as nodes: an allow-list, and a refusal with its place for everything else."""

from __future__ import annotations

import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from sqlglot import exp

from jali.catalog.value_domain import Value
from jali.errors import Field, QueryError, Unsupported
from jali.ir.expressions import (
    LONG_CHAIN,
    Call,
    Column,
    Expression,
    Literal,
    Position,
    Select,
    Subquery,
    UnionQuery,
    balance_operands,
)
from jali.numbers.exact import is_sized
from jali.sql.bigquery import ContributionBounds
from jali.sql.question_limits import DEFAULT, Limits
from jali.sql.reader.read_aggregate import REFUSED, is_aggregate, read_aggregate
from jali.sql.reader.read_function import REFUSED_FUNCTIONS, is_function, read_function

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
}
_CHAINED = (exp.And, exp.Or)
_EXACT: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_UNARY: dict[type[exp.Expression], str] = {
    exp.Neg: "negate",
    exp.Not: "not",
    exp.Abs: "abs",
}
_VARIADIC: dict[type[exp.Expression], str] = {
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
}
# Whatever else sqlglot hangs on a node would change its meaning (BETWEEN SYMMETRIC): refused.
_ARGUMENTS: dict[type[exp.Expression], frozenset[str]] = {
    exp.In: frozenset({"query"}),
    exp.Least: frozenset({"ignore_nulls"}),
    exp.Greatest: frozenset({"ignore_nulls"}),
    exp.Column: frozenset({"table"}),
    exp.Literal: frozenset({"is_string"}),
    exp.Between: frozenset({"low", "high"}),
    exp.Case: frozenset({"ifs", "default"}),
}
_COMMON = frozenset({"this", "expression", "expressions"})
_REASONS = {**REFUSED_FUNCTIONS, **REFUSED}
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_RENAMED = frozenset(REFUSED) | {"quantile_cont", "quantile_disc"}


class ExpressionReader:
    """Turns sqlglot's expressions into nodes, keeping their places in the text.

    Args:
        sql: The text.
        read_query: Reads a subquery; without it subqueries are refused.
        bounds: The bounds that calls give by name, by the place where the call begins.
        limits: How large the question may be.
    """

    def __init__(
        self,
        sql: str,
        read_query: Callable[[exp.Expression], Select | UnionQuery] | None = None,
        bounds: Mapping[int, ContributionBounds] | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        self.sql = sql
        self.read_query = read_query
        self.bounds = bounds or {}
        self.limits = limits
        self.used: set[int] = set()
        self._lines = [0, *(match.end() for match in re.finditer("\n", sql))]
        # The nodes of the tree, which are kept so that no other one gets the id of one of them, and their starts.
        self._tree: list[exp.Expr] = []
        self._starts: dict[int, int | None] = {}

    def bounds_at(self, node: exp.Expression) -> ContributionBounds | None:
        """Return the bounds that a call gives by name."""
        start = node.meta.get("start")
        if start is None or start not in self.bounds:
            return None
        self.used.add(start)
        return self.bounds[start]

    def position(self, node: exp.Expression) -> Position:
        """Return line and column of the first token of a node that has kept its place."""
        start = self._start(node)
        if start is None:
            # Some nodes keep no token: the nearest node around them tells the place well enough.
            around = node.parent
            return self.position(around) if isinstance(around, exp.Expression) else (1, 1)
        line = bisect_right(self._lines, start)
        return line, start - self._lines[line - 1] + 1

    def _start(self, node: exp.Expr) -> int | None:
        """Return where the first token of a node and its parts begins: found for all nodes of a tree at once."""
        if id(node) not in self._starts:
            nodes = list(node.root().walk())
            self._tree += nodes
            for one in reversed(nodes):
                inner = (self._starts.get(id(part)) for part in one.iter_expressions())
                known = [start for start in (one.meta.get("start"), *inner) if start is not None]
                self._starts[id(one)] = min(known, default=None)
        return self._starts.get(id(node))

    def refuse(self, node: exp.Expression, code: str, /, **fields: Field) -> Unsupported:
        """Make the refusal of a construct."""
        return Unsupported(code, position=self.position(node), **fields)

    def read(self, node: exp.Expression, depth: int = 0) -> Expression:
        """Read one expression."""
        if depth > self.limits.terms:
            raise QueryError("too-many-terms", position=self.position(node), most=self.limits.terms)
        if isinstance(node, exp.IgnoreNulls) and is_aggregate(node.this):
            # Aggregates leave NULL out anyway.
            node = node.this
        if is_aggregate(node):
            return read_aggregate(self, node, depth)
        if is_function(node):
            return read_function(self, node, depth)
        reader = self._reader(node)
        if reader is None:
            raise self._unknown(node)
        self._check_arguments(node)
        return reader(node, depth)

    def _reader(self, node: exp.Expression) -> Callable[[exp.Expression, int], Expression] | None:
        for kinds, reader in (
            (_BINARY, self._binary),
            (_UNARY, self._unary),
            (_VARIADIC, self._variadic),
        ):
            if type(node) in kinds:
                return reader
        return self._special().get(type(node))

    def _check_arguments(self, node: exp.Expression) -> None:
        known = _COMMON | _ARGUMENTS.get(type(node), frozenset())
        extra = [name for name, value in node.args.items() if value and name not in known]
        if extra:
            raise self.refuse(
                node, "construct-unsupported", construct=(node.key or "this").upper(), clause=extra[0].upper()
            )

    def _special(self) -> dict[type[exp.Expression], Callable[[exp.Expression, int], Expression]]:
        return {
            exp.Paren: lambda n, d: self.read(n.this, d + 1),
            exp.Column: self._column,
            exp.Literal: self._literal,
            exp.Boolean: lambda n, _: Literal(bool(n.this), self.position(n)),
            exp.Null: lambda n, _: Literal(None, self.position(n)),
            exp.Is: self._is,
            exp.In: self._in,
            exp.Exists: self._exists,
            exp.Between: self._between,
            exp.Case: self._case,
        }

    def _call(self, function: str, node: exp.Expression, *arguments: Expression) -> Call:
        return Call(function, arguments, self.position(node))

    def _binary(self, node: exp.Expression, depth: int) -> Expression:
        function = _BINARY[type(node)]
        if type(node) in _CHAINED:
            return self._chain(function, node, depth)
        left, right = self.read(node.this, depth + 1), self.read(node.expression, depth + 1)
        exact = _of_decimals(function, left, right)
        if exact is not None:
            return Literal(exact, self.position(node))
        return self._call(function, node, left, right)

    def _chain(self, function: str, node: exp.Expression, depth: int) -> Expression:
        """Read `a AND b AND ...`; a long one as `(a AND b) AND (c AND d)`, which is the same."""
        first, operands = node, list[tuple[exp.Expression, exp.Expression]]()
        while type(first) is type(node):
            self._check_arguments(first)
            operands.append((first, first.expression))
            first = first.this
        deeper = depth + min(len(operands), LONG_CHAIN)
        read = [self.read(first, deeper), *(self.read(right, deeper) for _, right in reversed(operands))]
        if len(read) > LONG_CHAIN:
            return balance_operands(function, read, self.position(node))
        made = read[0]
        for right, (whole, _) in zip(read[1:], reversed(operands), strict=True):
            made = self._call(function, whole, made, right)
        return made

    def _unary(self, node: exp.Expression, depth: int) -> Expression:
        inner = self.read(node.this, depth + 1)
        if isinstance(node, exp.Neg) and isinstance(inner, Literal) and isinstance(inner.value, int | Fraction):
            return Literal(-inner.value, self.position(node))
        return self._call(_UNARY[type(node)], node, inner)

    def _variadic(self, node: exp.Expression, depth: int) -> Expression:
        arguments = [node.this, *node.expressions]
        return self._call(_VARIADIC[type(node)], node, *(self.read(a, depth + 1) for a in arguments))

    def _column(self, node: exp.Expression, _: int) -> Expression:
        if isinstance(node.this, exp.Star):
            raise self.refuse(node, "select-star")
        if node.args.get("db") or node.args.get("catalog"):
            raise self.refuse(node, "column-malformed")
        table = node.args.get("table")
        return Column(node.name, self.position(node), None if table is None else table.name)

    def _literal(self, node: exp.Expression, _: int) -> Expression:
        value: Value = node.this if node.is_string else read_number(node.this)
        return Literal(value, self.position(node))

    def _is(self, node: exp.Expression, depth: int) -> Expression:
        left = self.read(node.this, depth + 1)
        if isinstance(node.expression, exp.Null):
            return self._call("is null", node, left)
        if isinstance(node.expression, exp.Boolean):
            same = self._call("=", node, left, Literal(bool(node.expression.this)))
            return self._call("coalesce", node, same, Literal(False))
        raise self._unknown(node)

    def _query(self, node: exp.Expression) -> Select | UnionQuery:
        """Read a subquery."""
        inner = node.this if isinstance(node, exp.Subquery) else node
        if self.read_query is None or not isinstance(inner, exp.Select | exp.SetOperation):
            raise self._unknown(node)
        return self.read_query(inner)

    def _exists(self, node: exp.Expression, _: int) -> Expression:
        return Subquery(self._query(node.this), None, self.position(node))

    def _in(self, node: exp.Expression, depth: int) -> Expression:
        query = node.args.get("query")
        if query is not None:
            return Subquery(self._query(query), self.read(node.this, depth + 1), self.position(node))
        values = [self.read(item, depth + 1) for item in node.expressions]
        if not values:
            raise self.refuse(node, "in-malformed")
        subject = self.read(node.this, depth + 1)
        if all(isinstance(value, Literal) and value.value is not None for value in values):
            return self._call("in", node, subject, *values)
        equal: list[Expression] = [self._call("=", node, subject, value) for value in values]
        if len(equal) > LONG_CHAIN:
            return balance_operands("or", equal, self.position(node))
        return reduce(lambda a, b: self._call("or", node, a, b), equal)

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

    def name_construct(self, node: exp.Expression) -> str:
        """Return the name of a construct as the question writes it, where that is known."""
        start = node.meta.get("start")
        word = None if start is None else re.match(r"[A-Za-z_]\w*", self.sql[start:])
        if word is not None:
            return word[0].upper()
        if not isinstance(node, exp.Func):
            return (node.key or "this").upper()
        return self._find_called_name(node) or node.sql_name()

    def _find_called_name(self, node: exp.Func) -> str | None:
        """Return the name before the first place inside a call that sqlglot renames and keeps no place of."""
        start = self._start(node)
        words = [] if start is None else _CALLED.findall(self.sql[:start])
        known = {name.lower() for name in node.sql_names()} | _RENAMED
        return next((word.upper() for word in reversed(words) if word.lower() in known), None)

    def _unknown(self, node: exp.Expression) -> QueryError:
        if isinstance(node, exp.Subquery | exp.Query | exp.Exists):
            return self.refuse(node, "subquery-as-value")
        if isinstance(node, exp.Window):
            return self.refuse(node, "window-function")
        if isinstance(node, exp.IgnoreNulls):
            return self._unknown(node.this)
        name = node.name if isinstance(node, exp.Anonymous) else self.name_construct(node)
        others = node.sql_names() if isinstance(node, exp.Func) else []
        reasons = (_REASONS.get(known.lower()) for known in (name, *others))
        reason = next((found for found in reasons if found is not None), None)
        return self.refuse(node, "function-unsupported", function=name, reason=reason)


def read_number(written: str) -> int | Fraction:
    """Read a numeric literal exactly."""
    try:
        exact = Fraction(written) if is_sized(written, 100) else None
    except ValueError:
        exact = None
    if exact is None or abs(exact) > 10**300:
        raise QueryError("number-unusable", given=written[:40])
    return int(exact) if written.isdigit() else exact


def _of_decimals(function: str, left: Expression, right: Expression) -> Fraction | None:
    """Return 0.06 + 0.01 as 0.07, as SQL's decimals have it: the sum of the doubles is less than 0.07."""
    if function not in _EXACT or not isinstance(left, Literal) or not isinstance(right, Literal):
        return None
    a, b = left.value, right.value
    if {type(a), type(b)} not in ({Fraction}, {Fraction, int}):
        return None
    exact: Fraction = _EXACT[function](a, b)
    return exact if abs(exact) <= 10**300 else None
