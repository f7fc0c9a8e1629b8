"""SQL text to a `Question`: one SELECT over one table, checked clause by clause against an allow-list."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from jali.errors import QueryError
from jali.query.nodes import Call, Column, Expression, Literal, Ordering, Output, Question
from jali.query.read_expression import ExpressionReader

_CLAUSES = frozenset(
    {
        "expressions",
        "from_",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
        "kind",
        "hint",
        "operation_modifiers",
    }
)
_REMEDIES = {
    "joins": "Joins are not supported.",
    "with_": "WITH is not supported.",
    "distinct": "SELECT DISTINCT would print values of rows.",
    "windows": "Window functions are not supported: they would mix people's rows.",
    "qualify": "QUALIFY is not supported.",
    "sample": "Sampling in the question is not supported: it would not be counted in the privacy loss.",
    "laterals": "Lateral joins are not supported.",
    "into": "SELECT INTO is not supported.",
    "locks": "Locking clauses are not supported.",
}
_ONE_TABLE = "Ask one SELECT over one protected table."
_MAX_SQL = 100_000


def read_sql(sql: str) -> Question:
    """Read a question, or refuse it with its place and a remedy."""
    return _SelectReader(sql).question()


def read_condition(text: str) -> Expression:
    """Read a condition such as `age > 60`, as the builder's `where` takes it."""
    sql = f"SELECT 1 WHERE {text}"
    select = _only(_parse(sql), {"expressions", "where"})
    return ExpressionReader(sql).read(select.args["where"].this)


def read_value(text: str) -> Expression:
    """Read a value such as `price * quantity`, as the builder's aggregates take it."""
    sql = f"SELECT {text}"
    select = _only(_parse(sql), {"expressions"})
    if len(select.expressions) != 1:
        raise QueryError(f"{text!r} is not one value.")
    return ExpressionReader(sql).read(select.expressions[0])


def _only(select: exp.Select, clauses: set[str]) -> exp.Select:
    """Refuse text that carries clauses of its own."""
    extra = [name for name, value in select.args.items() if value and name not in clauses]
    if extra:
        raise QueryError("Give one expression, without further clauses.")
    return select


def _parse(sql: str) -> exp.Select:
    if len(sql) > _MAX_SQL or "\x00" in sql or not _is_unicode(sql):
        raise QueryError(f"A question has at most {_MAX_SQL:,} characters, all of them Unicode and none NUL.")
    try:
        with _unlogged():
            statements = [s for s in sqlglot.parse(sql, read="duckdb") if s is not None]
    except ParseError as problem:
        raise _syntax_error(problem) from None
    except (SqlglotError, RecursionError):
        raise QueryError("The question is not valid SQL.") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise QueryError(
            "A question is one SELECT statement.", position=(1, 1), remedy="Write SELECT ... FROM ..."
        )
    return statements[0]


def _syntax_error(problem: ParseError) -> QueryError:
    first = problem.errors[0] if problem.errors else {}
    place = (first["line"], first["col"]) if first.get("line") and first.get("col") else None
    # sqlglot prints its tokens after "but got", and its classes in quotes: they mean nothing to the reader.
    said = str(first.get("description", "")).split(" but got")[0].rstrip(".")
    if not said or "class" in said or "<" in said:
        said = "The question is not valid SQL"
    return QueryError(f"{said}.", position=place, remedy="Check the spelling near this place.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep sqlglot from logging parts of the question."""
    logger = logging.getLogger("sqlglot")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


class _SelectReader:
    def __init__(self, sql: str) -> None:
        self.select = _parse(sql)
        self.reader = ExpressionReader(sql)

    def question(self) -> Question:
        self._check_clauses()
        outputs = tuple(self._output(i, node) for i, node in enumerate(self.select.expressions))
        self.outputs = self._named_apart(outputs)
        group_by = self._group_by()
        where = self.select.args.get("where")
        having = self.select.args.get("having")
        return Question(
            table=self._table(),
            outputs=self.outputs,
            where=None if where is None else self.reader.read(where.this),
            group_by=group_by,
            having=None if having is None else self._aliased(self.reader.read(having.this), but=group_by),
            order_by=self._order_by(),
            limit=self._whole("limit"),
            offset=self._whole("offset") or 0,
            position=(1, 1),
        )

    def _check_clauses(self) -> None:
        for clause, value in self.select.args.items():
            if value and clause not in _CLAUSES:
                node = value[0] if isinstance(value, list) else value
                what = _REMEDIES.get(clause, f"The clause {clause.strip('_').upper()} is not supported.")
                place = node if isinstance(node, exp.Expression) else self.select
                raise self.reader.refuse(
                    place, what, _ONE_TABLE if clause in ("joins", "with_", "laterals") else None
                )
        if self.select.args.get("kind") or self.select.args.get("hint"):
            raise self.reader.refuse(self.select, "SELECT AS and hints are not supported.")

    def _table(self) -> str:
        source = self.select.args.get("from_")
        table = None if source is None else source.this
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            place = self.select if table is None else table
            raise self.reader.refuse(place, "FROM takes the name of one protected table.", _ONE_TABLE)
        if table.args.get("db") or table.args.get("joins") or table.args.get("sample"):
            raise self.reader.refuse(table, "FROM takes the plain name of one protected table.")
        extra = [k for k, v in table.args.items() if v and k not in ("this", "alias")]
        if extra or (table.args.get("alias") and table.args["alias"].args.get("columns")):
            raise self.reader.refuse(table, "FROM takes the plain name of one protected table.")
        self._check_qualifiers({table.name.lower(), (table.alias or table.name).lower()})
        return table.name

    def _check_qualifiers(self, names: set[str]) -> None:
        for column in self.select.find_all(exp.Column):
            if (column.table and column.table.lower() not in names) or column.args.get("db"):
                raise QueryError(
                    f"There is no table {column.table} in this question.",
                    position=self.reader.position(column),
                )

    def _output(self, index: int, node: exp.Expression) -> Output:
        if isinstance(node, exp.Star):
            raise self.reader.refuse(node, "SELECT * would print rows.", "Ask for aggregates such as COUNT(*).")
        if isinstance(node, exp.Alias):
            self._check_alias(node)
        inner = node.this if isinstance(node, exp.Alias) else node
        name = node.alias if isinstance(node, exp.Alias) else _default_name(inner, index)
        return Output(name, self.reader.read(inner))

    def _check_alias(self, node: exp.Alias) -> None:
        """Refuse `0x10`, which would be read as 0 with the alias x10."""
        start = node.args["alias"].meta.get("start", 0)
        if start and (self.reader.sql[start - 1].isalnum() or self.reader.sql[start - 1] == "_"):
            raise QueryError("This is not a number.", position=self.reader.position(node))

    @staticmethod
    def _named_apart(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
        taken = {output.name for output in outputs}
        named: dict[str, Output] = {}
        for output in outputs:
            spare = (f"{output.name}_{number}" for number in count(2))
            name = output.name if output.name not in named else next(n for n in spare if n not in taken)
            taken.add(name)
            named[name] = replace(output, name=name)
        return tuple(named.values())

    def _group_by(self) -> tuple[Column, ...]:
        group = self.select.args.get("group")
        if group is None:
            return ()
        if any(value for key, value in group.args.items() if key != "expressions"):
            raise self.reader.refuse(
                group, "GROUP BY takes a list of columns; ROLLUP, CUBE and ALL are not supported."
            )
        columns = []
        for node in group.expressions:
            expression = self._ordinal(self.reader.read(node))
            if not isinstance(expression, Column):
                raise self.reader.refuse(node, "GROUP BY takes columns with declared keys.")
            columns.append(expression)
        return tuple(dict.fromkeys(columns))

    def _order_by(self) -> tuple[Ordering, ...]:
        order = self.select.args.get("order")
        terms = [] if order is None else order.expressions
        for term in terms:
            if any(v for k, v in term.args.items() if v and k not in ("this", "desc", "nulls_first")):
                raise self.reader.refuse(
                    term, "ORDER BY takes expressions with ASC, DESC and NULLS FIRST or LAST."
                )
        return tuple(
            Ordering(
                self._aliased(self._ordinal(self.reader.read(term.this))),
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
            raise QueryError(f"There is no output {expression.value}.", position=expression.position)
        return self.outputs[expression.value - 1].expression

    def _aliased(self, expression: Expression, *, but: tuple[Column, ...] = ()) -> Expression:
        """Replace written aliases by what they stand for, outside aggregates; grouped columns win in HAVING."""
        if isinstance(expression, Column) and expression.name.lower() not in {c.name.lower() for c in but}:
            return self.aliases.get(expression.name.lower(), expression)
        if isinstance(expression, Call):
            inner = tuple(self._aliased(argument, but=but) for argument in expression.arguments)
            return replace(expression, arguments=inner)
        return expression

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
        if extra or not isinstance(value, exp.Literal) or value.is_string or not value.this.isdigit():
            raise self.reader.refuse(node, f"{clause.upper()} takes a constant whole number.")
        return int(value.this)


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
            return "people"
        return node.key
    return f"column_{index + 1}"
