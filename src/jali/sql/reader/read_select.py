"""Read SQL text as a `Question`, checked clause by clause against an allow-list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from sqlglot import exp

from jali.errors import QueryError
from jali.ir.expressions import Column, Expression, Literal, Ordering, Output, Question, replace_columns
from jali.ir.functions.aggregate_functions import AGGREGATES
from jali.sql.bigquery import ContributionBounds
from jali.sql.parser import parse_select, too_deep
from jali.sql.question_limits import DEFAULT, Limits, check_size
from jali.sql.reader.read_expression import ExpressionReader
from jali.sql.reader.read_grouping import plain_outputs, read_grouping
from jali.sql.reader.read_relation import RelationReader

_CLAUSES = frozenset(
    {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_"}
)
# What sqlglot hangs on every SELECT and means nothing.
_EMPTY = frozenset({"kind", "hint", "operation_modifiers"})


def read_sql(
    sql: str, bounds: Mapping[int, ContributionBounds] | None = None, limits: Limits = DEFAULT
) -> Question:
    """Read a question, or refuse it with its place and a remedy.

    Args:
        sql: The text.
        bounds: Bounds that calls give by name, by the place where the call begins (`sql.bigquery`).
        limits: How large it may be.
    """
    try:
        return _read(sql, bounds, limits)
    except RecursionError:
        raise too_deep() from None


def _read(sql: str, bounds: Mapping[int, ContributionBounds] | None, limits: Limits) -> Question:
    tree = parse_select(sql, limits)
    relations = RelationReader(sql, bounds, limits)
    if not isinstance(tree, exp.Select):
        raise relations.reader.refuse(tree, "question-is-union")
    question = _QuestionReader(tree, relations).question()
    if set(bounds or ()) != relations.reader.used:
        raise QueryError("bounds-misplaced", position=(1, 1))
    check_size(question, limits)
    return question


def read_condition(text: str) -> Expression:
    """Read a condition such as `age > 60`, as the builder's `where` takes it."""
    sql = f"SELECT 1 WHERE {text}"
    select = _only(sql, {"expressions", "where"})
    return ExpressionReader(sql).read(select.args["where"].this)


def read_value(text: str) -> Expression:
    """Read a value such as `price * quantity`, as the builder's aggregates take it."""
    sql = f"SELECT {text}"
    select = _only(sql, {"expressions"})
    if len(select.expressions) != 1:
        raise QueryError("expression-not-one", given=text)
    return ExpressionReader(sql).read(select.expressions[0])


def _only(sql: str, clauses: set[str]) -> exp.Expression:
    """Refuse text that carries clauses of its own."""
    select = parse_select(sql)
    extra = [name for name, value in select.args.items() if value and name not in clauses]
    if extra or not isinstance(select, exp.Select):
        raise QueryError("expression-with-clauses")
    return select


class _QuestionReader:
    def __init__(self, select: exp.Select, relations: RelationReader) -> None:
        self.select = select
        self.relations = relations
        self.reader = relations.reader

    def question(self) -> Question:
        self.relations.check_clauses(self.select, _CLAUSES | _EMPTY)
        source = self.relations.source(self.select)
        outputs = tuple(self._output(i, node) for i, node in enumerate(self.select.expressions))
        self.outputs = self._make_names_unique(outputs)
        where, having = self.select.args.get("where"), self.select.args.get("having")
        group_by, sets = self._group_by()
        return Question(
            source=source,
            outputs=self.outputs,
            where=None if where is None else self.reader.read(where.this),
            group_by=group_by,
            having=None if having is None else self._having(having, group_by),
            order_by=self._order_by(),
            limit=self._whole("limit"),
            offset=self._whole("offset") or 0,
            position=(1, 1),
            sets=sets,
        )

    def _output(self, index: int, node: exp.Expression) -> Output:
        if isinstance(node, exp.Star):
            raise self.reader.refuse(node, "select-star")
        if isinstance(node, exp.Alias):
            self._check_alias(node)
        inner = node.this if isinstance(node, exp.Alias) else node
        name = node.alias if isinstance(node, exp.Alias) else _default_name(inner, index)
        return Output(name, self.reader.read(inner))

    def _check_alias(self, node: exp.Alias) -> None:
        """Refuse `0x10`, which would be read as 0 with the alias x10."""
        start = node.args["alias"].meta.get("start", 0)
        if start and (self.reader.sql[start - 1].isalnum() or self.reader.sql[start - 1] == "_"):
            raise QueryError("number-malformed", position=self.reader.position(node))

    @staticmethod
    def _make_names_unique(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
        taken = {output.name for output in outputs}
        named: dict[str, Output] = {}
        for output in outputs:
            spare = (f"{output.name}_{number}" for number in count(2))
            name = output.name if output.name not in named else next(n for n in spare if n not in taken)
            taken.add(name)
            named[name] = replace(output, name=name)
        return tuple(named.values())

    def _group_by(self) -> tuple[tuple[Expression, ...], tuple[tuple[int, ...], ...] | None]:
        group = self.select.args.get("group")
        if group is None:
            return (), None
        if group.args.get("all"):
            return plain_outputs(self.outputs), None
        return read_grouping(group, self.reader, self._ordinal)

    def _order_by(self) -> tuple[Ordering, ...]:
        order = self.select.args.get("order")
        terms = [] if order is None else order.expressions
        for term in terms:
            if any(v for k, v in term.args.items() if v and k not in ("this", "desc", "nulls_first")):
                raise self.reader.refuse(term, "order-by-malformed")
        return tuple(
            Ordering(
                replace_columns(self._ordinal(self.reader.read(term.this)), self.aliases),
                descending=bool(term.args.get("desc")),
                nulls_first=bool(term.args.get("nulls_first")),
            )
            for term in terms
        )

    def _ordinal(self, expression: Expression) -> Expression:
        """Replace `ORDER BY 2` by the second output."""
        if not isinstance(expression, Literal) or type(expression.value) is not int:
            return expression
        if not 1 <= expression.value <= len(self.outputs):
            raise QueryError(
                "output-number-unknown",
                position=expression.position,
                output=expression.value,
                count=len(self.outputs),
            )
        return self.outputs[expression.value - 1].expression

    def _having(self, having: exp.Expression, group_by: tuple[Expression, ...]) -> Expression:
        """Read HAVING, where columns that are grouped by win over aliases."""
        grouped = {column.name.lower() for column in group_by if isinstance(column, Column)}
        aliases = {name: value for name, value in self.aliases.items() if name not in grouped}
        return replace_columns(self.reader.read(having.this), aliases)

    @property
    def aliases(self) -> dict[str, Expression]:
        """The aliases that the question writes; names that Jali made up stand for nothing."""
        pairs = zip(self.select.expressions, self.outputs, strict=True)
        return {node.alias.lower(): output.expression for node, output in pairs if isinstance(node, exp.Alias)}

    def _whole(self, clause: str) -> int | None:
        node = self.select.args.get(clause)
        if node is None:
            return None
        value = node.expression
        extra = [name for name, item in node.args.items() if item and name != "expression"]
        plain = isinstance(value, exp.Literal) and not value.is_string and value.this.isascii()
        if extra or not plain or not value.this.isdigit():
            raise self.reader.refuse(node, "limit-not-constant", clause=clause.upper())
        if len(value.this) > 18:
            raise self.reader.refuse(node, "limit-too-long", clause=clause.upper())
        return int(value.this)


# What sqlglot calls functions that DuckDB calls otherwise.
_AS_WRITTEN = {"percentile_cont": "quantile_cont", "percentile_disc": "quantile_disc"}


def _default_name(node: exp.Expression, index: int) -> str:
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Count | exp.Sum | exp.Avg):
        inner = node.this
        if inner is None or isinstance(inner, exp.Star):
            return "count"
        if isinstance(inner, exp.Column):
            return f"{node.key}_{inner.name}"
        if isinstance(inner, exp.Distinct):
            counted = inner.expressions[0] if inner.expressions else None
            return f"distinct_{counted.name}" if isinstance(counted, exp.Column) else "distinct"
        return node.key
    if isinstance(node, exp.AggFunc) and isinstance(node.this, exp.Column):
        made = node.sql_name().lower()
        return f"{_AS_WRITTEN.get(made, made)}_{node.this.name}"
    if isinstance(node, exp.Anonymous) and node.expressions and isinstance(node.expressions[0], exp.Column):
        made = node.name.lower()
        return f"{made}_{node.expressions[0].name}" if made in AGGREGATES else f"column_{index + 1}"
    return f"column_{index + 1}"
