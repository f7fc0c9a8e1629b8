"""Read FROM, WITH and subqueries as nodes, before any name is resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from jali.errors import Phrase, QueryError, Unsupported
from jali.ir.expressions import (
    Derived,
    Expression,
    Joined,
    Literal,
    NamedTable,
    Output,
    Select,
    Source,
    Star,
    UnionQuery,
)
from jali.sql.bigquery import ContributionBounds
from jali.sql.question_limits import DEFAULT, Limits
from jali.sql.reader.read_expression import ExpressionReader
from jali.sql.reader.read_grouping import plain_outputs, read_grouping

_INNER_CLAUSES = frozenset(
    {"expressions", "from_", "joins", "where", "group", "having", "distinct", "order", "with_"}
)
_EMPTY = frozenset({"kind", "hint", "operation_modifiers"})
_REASONS = {
    "distinct": "clause-distinct",
    "windows": "clause-window",
    "qualify": "clause-qualify",
    "sample": "clause-sample",
    "laterals": "clause-lateral",
    "into": "clause-into",
    "locks": "clause-locks",
    "pivots": "clause-pivot",
    "limit": "clause-limit-in-subquery",
    "offset": "clause-offset-in-subquery",
}
_JOIN_ARGUMENTS = frozenset({"this", "side", "kind", "on", "using", "method"})


class RelationReader:
    """Reads relations, and the subqueries of expressions."""

    def __init__(
        self, sql: str, bounds: Mapping[int, ContributionBounds] | None = None, limits: Limits = DEFAULT
    ) -> None:
        self.reader = ExpressionReader(sql, self.query, bounds, limits)
        self._limits = limits
        # SELECTs so far, those of a WITH table for each of its uses; and what each WITH table came to.
        self._selects = 1
        self._common: dict[int, tuple[Select | UnionQuery, int]] = {}

    def check_clauses(self, select: exp.Expression, allowed: frozenset[str]) -> None:
        """Refuse clauses that are not on the list."""
        for clause, value in select.args.items():
            if value and clause not in allowed:
                node = value[0] if isinstance(value, list) else value
                place = node if isinstance(node, exp.Expression) else select
                raise self.reader.refuse(
                    place,
                    "clause-unsupported",
                    reason=_reason(clause, Phrase("clause-other", clause=clause.strip("_").upper())),
                )
        if select.args.get("kind") or select.args.get("hint"):
            raise self.reader.refuse(select, "select-hints")

    def source(self, select: exp.Expression) -> Source:
        """Read FROM and the joins after it."""
        start = select.args.get("from_")
        if start is None:
            raise self.reader.refuse(select, "from-missing")
        return self._read_joins(start.this, select.args.get("joins") or [])

    def query(self, node: exp.Expression) -> Select | UnionQuery:
        """Read a subquery."""
        if isinstance(node, exp.Subquery):
            return self.query(node.this)
        if isinstance(node, exp.Union):
            return self._union(node)
        if isinstance(node, exp.Select):
            return self._select(node)
        raise self.reader.refuse(node, "set-operation-unsupported", operation=node.key.upper())

    def _union(self, node: exp.Union) -> UnionQuery:
        extra = [
            k for k, v in node.args.items() if v and k not in ("this", "expression", "distinct", "with_", "order")
        ]
        if extra:
            raise self.reader.refuse(node, "union-clause", clause=extra[0].upper())
        parts = (self.query(node.this), self.query(node.expression))
        return UnionQuery(parts, bool(node.args.get("distinct")), self.reader.position(node))

    def _select(self, node: exp.Select) -> Select:
        self._add_selects(1, node)
        self.check_clauses(node, _INNER_CLAUSES | _EMPTY)
        where, having = node.args.get("where"), node.args.get("having")
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise self.reader.refuse(distinct, "distinct-on")
        outputs = tuple(self._output(i, item) for i, item in enumerate(node.expressions))
        return Select(
            source=self.source(node),
            outputs=outputs,
            where=None if where is None else self.reader.read(where.this),
            group_by=self._group_by(node, outputs),
            having=None if having is None else self.reader.read(having.this),
            distinct=distinct is not None,
            position=self.reader.position(node),
        )

    def _output(self, index: int, node: exp.Expression) -> Output | Star:
        if isinstance(node, exp.Star):
            if any(node.args.values()):
                raise self.reader.refuse(node, "star-exclude")
            return Star(None, self.reader.position(node))
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            return Star(node.table, self.reader.position(node))
        inner = node.this if isinstance(node, exp.Alias) else node
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else f"column_{index + 1}")
        return Output(name, self.reader.read(inner))

    def _group_by(self, node: exp.Select, outputs: tuple[Output | Star, ...]) -> tuple[Expression, ...]:
        group = node.args.get("group")
        if group is None:
            return ()
        plain = [o for o in outputs if isinstance(o, Output)]
        if group.args.get("all"):
            return plain_outputs(plain)

        def ordinal(expression: Expression) -> Expression:
            if isinstance(expression, Literal) and type(expression.value) is int:
                if not 1 <= expression.value <= len(plain) or len(plain) != len(outputs):
                    raise Unsupported("output-unknown", position=expression.position, output=expression.value)
                return plain[expression.value - 1].expression
            return expression

        keys, sets = read_grouping(group, self.reader, ordinal)
        if sets is not None:
            raise self.reader.refuse(group, "subquery-group-by")
        return keys

    def _read_joins(self, first: exp.Expression, joins: list[exp.Expression]) -> Source:
        source = self._item(first)
        for join in joins:
            source = self._join(source, join)
        return source

    def _join(self, left: Source, join: exp.Expression) -> Joined:
        extra = [name for name, value in join.args.items() if value and name not in _JOIN_ARGUMENTS]
        side, kind = (join.args.get(name) or "" for name in ("side", "kind"))
        method = join.args.get("method") or ""
        wanted = (side or kind or "inner").lower()
        wanted = {"cross": "inner", "": "inner"}.get(wanted, wanted)
        if (
            extra
            or wanted not in ("inner", "left", "right", "full", "semi", "anti")
            or method not in ("", "NATURAL")
        ):
            raise self.reader.refuse(join, "join-unsupported", join=tuple(filter(None, (method, side, kind))))
        if side and kind and kind != "OUTER":
            wanted = kind.lower() if kind in ("SEMI", "ANTI") else wanted
        on, using = join.args.get("on"), join.args.get("using") or []
        return Joined(
            kind=wanted,
            left=left,
            right=self._item(join.this),
            on=None if on is None else self.reader.read(on),
            using=tuple(item.name for item in using),
            natural=method == "NATURAL",
            position=self.reader.position(join.this),
        )

    def _item(self, node: exp.Expression) -> Source:
        joins = node.args.get("joins") or []
        if isinstance(node, exp.Paren):
            return self._read_joins(node.this, joins)
        if isinstance(node, exp.Subquery):
            return self._read_joins_after(self._read_derived(node), joins)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self._read_joins_after(self._table(node), joins)
        raise self.reader.refuse(node, "from-malformed")

    def _read_joins_after(self, source: Source, joins: list[exp.Expression]) -> Source:
        for join in joins:
            source = self._join(source, join)
        return source

    def _read_derived(self, node: exp.Subquery) -> Source:
        extra = [k for k, v in node.args.items() if v and k not in ("this", "alias", "joins")]
        if extra:
            raise self.reader.refuse(
                node,
                "clause-unsupported-here",
                reason=_reason(extra[0], Phrase("clause-other-here", clause=extra[0].upper())),
            )
        if isinstance(node.this, exp.Table):
            return self._item(node.this)
        alias = node.args.get("alias")
        columns = () if alias is None else tuple(c.name for c in alias.args.get("columns") or [])
        return Derived(self.query(node.this), node.alias or None, columns, self.reader.position(node))

    def _table(self, node: exp.Table) -> Source:
        extra = [k for k, v in node.args.items() if v and k not in ("this", "alias", "joins")]
        alias = node.args.get("alias")
        columns = () if alias is None else tuple(c.name for c in alias.args.get("columns") or [])
        common = None if extra else self._common_table(node)
        if common is not None:
            names = columns or tuple(c.name for c in common.args["alias"].args.get("columns") or [])
            query = self._common_query(common, node)
            return Derived(query, node.alias or node.name, names, self.reader.position(node))
        if extra or columns:
            reason = _reason(extra[0] if extra else "columns", Phrase("table-name-plain"))
            raise self.reader.refuse(node, "table-with-clauses", reason=reason)
        return NamedTable(node.name, node.alias or None, self.reader.position(node))

    def _common_query(self, common: exp.Expression, used: exp.Expression) -> Select | UnionQuery:
        """Read a WITH table once, and count it for each use: names that use each other double at each step."""
        known = self._common.get(id(common))
        if known is not None:
            self._add_selects(known[1], used)
            return known[0]
        before = self._selects
        query = self.query(common.this)
        self._common[id(common)] = query, self._selects - before
        return query

    def _add_selects(self, number: int, node: exp.Expression) -> None:
        self._selects += number
        if self._selects > self._limits.selects:
            raise QueryError(
                "too-many-selects-with", position=self.reader.position(node), most=self._limits.selects
            )

    def _common_table(self, node: exp.Table) -> exp.Expression | None:
        """Find the WITH table of this name that is in sight; one cannot see itself nor those after it."""
        here: Any = node
        inside: set[int] = set()
        while here is not None:
            inside.add(id(here))
            found = here.args.get("with_")
            if found is not None:
                if found.args.get("recursive"):
                    raise self.reader.refuse(found, "with-recursive")
                named = self._find_named_before(found, node.name.lower(), inside)
                if named is not None:
                    return named
            here = here.parent
        return None

    @staticmethod
    def _find_named_before(found: exp.Expression, name: str, inside: set[int]) -> exp.Expression | None:
        seen: exp.Expression | None = None
        for common in found.expressions:
            if id(common) in inside:
                break
            if common.alias.lower() == name:
                seen = common
        return seen


def _reason(clause: str, other: Phrase) -> Phrase:
    """Say why a clause is not supported; `other` says so of one without a reason of its own."""
    return Phrase(_REASONS[clause]) if clause in _REASONS else other
