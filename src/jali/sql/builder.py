"""Build questions in Python: `table(...).where(...).group_by(...).agg(...)`, frozen at every step.

Every text is SQL: a condition, a value, or a value with aggregates. So whatever SQL can ask of one SELECT can be
asked here, and `agg(q="QUANTILE_CONT(age, [0.25, 0.75])")` needs no name of its own in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from jali.errors import QueryError
from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Expression,
    Joined,
    Literal,
    NamedTable,
    Ordering,
    Output,
    Question,
    Source,
    join_conditions,
    replace_columns,
    walk,
)
from jali.sql.reader.read_select import read_condition, read_value

Ask = Callable[..., Any]
Sets = tuple[tuple[int, ...], ...]
_JOINS = ("inner", "left", "right", "full", "semi", "anti")


def count(column: str | None = None, *, where: str | None = None) -> Aggregate:
    """Count rows, or the rows where an expression is not NULL; with `where`, those that satisfy a condition."""
    return Aggregate("count", None if column is None else read_value(column), filter=_filter(where))


def count_people(unit: str, *, where: str | None = None) -> Aggregate:
    """Count the people, by the table's unit column."""
    return Aggregate("count", read_value(unit), distinct=True, filter=_filter(where))


def sum(column: str, *, where: str | None = None) -> Aggregate:  # noqa: A001 - read as jali.sum, beside jali.mean
    """Sum an expression such as `"cost"` or `"price * quantity"`."""
    return Aggregate("sum", read_value(column), filter=_filter(where))


def mean(column: str, *, where: str | None = None) -> Aggregate:
    """Average an expression."""
    return Aggregate("avg", read_value(column), filter=_filter(where))


def median(column: str, *, where: str | None = None) -> Aggregate:
    """Return the middle value of an expression that is a number, a date or a time."""
    return Aggregate("median", read_value(column), filter=_filter(where))


def quantile(column: str, *levels: float | str | Fraction, where: str | None = None) -> Aggregate:
    """Return the value below which a share of the rows lies; a list of values for several shares.

    Example:
        >>> len(quantile("age", 0.25, 0.5, 0.75).others)
        3
    """
    constants = tuple(Literal(_share(level)) for level in levels)
    return Aggregate("quantile_cont", read_value(column), others=constants, filter=_filter(where))


def stddev(column: str, *, where: str | None = None) -> Aggregate:
    """Return the standard deviation of an expression, over n - 1."""
    return Aggregate("stddev_samp", read_value(column), filter=_filter(where))


def _filter(condition: str | None) -> Expression | None:
    return None if condition is None else read_condition(condition)


def _share(level: float | str | Fraction) -> int | Fraction:
    """Return a number as SQL text gives it: whole ones as integers, others exact to the digit."""
    try:
        exact = Fraction(str(level))
    except (ValueError, ZeroDivisionError):
        raise QueryError("quantile-level", level=level) from None
    return exact.numerator if exact.denominator == 1 else exact


@dataclass(frozen=True)
class TableQuestion:
    """A question that is being built; each method returns a new one.

    Example:
        `session.table("visits").where("age > 60").group_by("ward").agg(n=jali.count()).ask(epsilon=0.5)`
    """

    table: str
    asker: Ask
    explainer: Ask
    joins: tuple[Joined, ...] = ()
    conditions: tuple[Expression, ...] = ()
    groups: tuple[Output, ...] = ()
    sets: Sets = ((),)
    outputs: tuple[Output, ...] = ()
    havings: tuple[Expression, ...] = ()
    orders: tuple[Ordering, ...] = ()
    most: int | None = None
    skipped: int = 0
    parter: Ask | None = None

    def partition(self, by: str) -> Any:
        """Divide the table into disjoint parts, by a column or expression with declared keys: before all else.

        Questions on different parts together cost as much as those on the dearest one. See `jali.session`.
        """
        begun = replace(self, joins=(), conditions=(), groups=(), sets=((),), outputs=())
        if self.parter is None or begun != self:
            raise QueryError("part-after-clauses")
        return self.parter(self.table, by)

    def join(
        self, table: str, *, on: str | None = None, using: Sequence[str] = (), kind: str = "inner"
    ) -> TableQuestion:
        """Put another table beside: `join("patients", on="visits.patient_id = patients.id")`.

        Two protected tables must be joined on their unit; a public one may be joined on anything.

        Args:
            table: A protected or a public table.
            on: The condition; or
            using: columns of the same name on both sides.
            kind: "inner", "left", "right", "full", "semi" or "anti".
        """
        if kind not in _JOINS:
            raise QueryError("join-kind-unknown", kind=kind, joins=tuple(_JOINS))
        condition = None if on is None else read_condition(on)
        names = (using,) if isinstance(using, str) else tuple(using)
        # The left side is put in when the question is made: it is what was joined before.
        made = Joined(kind, NamedTable(self.table), NamedTable(table), condition, names)
        return replace(self, joins=(*self.joins, made))

    def where(self, condition: str) -> TableQuestion:
        """Keep the rows that satisfy a condition; several conditions must all hold."""
        return replace(self, conditions=(*self.conditions, read_condition(condition)))

    def group_by(self, *columns: str, **named: str) -> TableQuestion:
        """Answer per group: `group_by("ward", decade="FLOOR(age / 10)")`."""
        return self._add_keys(columns, named, lambda places: (places,))

    def rollup(self, *columns: str, **named: str) -> TableQuestion:
        """Answer per group and for totals: over the last column, the last two, and so on to the grand total."""
        return self._add_keys(columns, named, lambda p: tuple(p[:size] for size in range(len(p), -1, -1)))

    def cube(self, *columns: str, **named: str) -> TableQuestion:
        """Answer per group and for the totals over every choice of columns."""
        return self._add_keys(
            columns, named, lambda p: tuple(c for size in range(len(p), -1, -1) for c in combinations(p, size))
        )

    def _add_keys(
        self, columns: Sequence[str], named: Mapping[str, str], choices: Callable[[tuple[int, ...]], Sets]
    ) -> TableQuestion:
        """Add keys; the grouping sets of several calls are crossed, as SQL crosses the terms of GROUP BY."""
        if not all(isinstance(text, str) for text in (*columns, *named.values())):
            raise QueryError("columns-not-names")
        keys = [_key(text) for text in columns] + [Output(n, read_value(text)) for n, text in named.items()]
        groups = {key.expression: key for key in (*self.groups, *keys)}
        order = list(groups)
        mine = choices(tuple(dict.fromkeys(order.index(key.expression) for key in keys)))
        crossed = (tuple(sorted({*before, *now})) for before in self.sets for now in mine)
        return replace(self, groups=tuple(groups.values()), sets=tuple(dict.fromkeys(crossed)))

    def agg(self, *unnamed: Aggregate | str, **aggregates: Aggregate | str) -> TableQuestion:
        """Name what is released: `agg(n=jali.count(), spread="MAX(age) - MIN(age)")`.

        An aggregate of one column needs no name: `agg(jali.count(), jali.mean("age"))` is `count`, `avg_age`.
        """
        made = tuple(_name_aggregates(given) for given in unnamed)
        made += tuple(Output(name, _read_released(name, given)) for name, given in aggregates.items())
        return replace(self, outputs=(*self.outputs, *made))

    def having(self, condition: str) -> TableQuestion:
        """Keep the groups whose noisy values satisfy a condition, which may use the names of `agg`. Free."""
        return replace(self, havings=(*self.havings, read_condition(condition)))

    def order_by(self, *values: str, descending: bool = False) -> TableQuestion:
        """Sort the answer by noisy values or keys, by name or expression. Free."""
        made = tuple(Ordering(read_value(value), descending=descending) for value in values)
        return replace(self, orders=(*self.orders, *made))

    def limit(self, rows: int, *, offset: int = 0) -> TableQuestion:
        """Keep so many rows of the sorted answer, after `offset` of them. Free."""
        for name, value in (("limit", rows), ("offset", offset)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise QueryError("limit-malformed", name=name)
        return replace(self, most=rows, skipped=offset)

    def __repr__(self) -> str:
        joined = [join.right.name for join in self.joins if isinstance(join.right, NamedTable)]
        asked = ", ".join(output.name for output in self.outputs) or "nothing yet"
        number = len(self.conditions)
        kept = [f"{number} condition{'' if number == 1 else 's'}"] if number else []
        groups = [f"by {', '.join(key.name for key in self.groups)}"] if self.groups else []
        return f"TableQuestion({asked} of {', '.join([self.table, *joined, *kept, *groups])})"

    @property
    def question(self) -> Question:
        """The question as nodes."""
        if not self.outputs:
            raise QueryError("question-empty")
        outputs = self.groups + self.outputs
        names = [output.name for output in outputs]
        if len(set(names)) != len(names):
            raise QueryError("output-names-repeated")
        aliases = {output.name.lower(): output.expression for output in outputs}
        return Question(
            self._source,
            outputs,
            join_conditions(list(self.conditions)),
            tuple(group.expression for group in self.groups),
            join_conditions([replace_columns(having, aliases) for having in self.havings]),
            tuple(replace(o, expression=replace_columns(o.expression, aliases)) for o in self.orders),
            self.most,
            self.skipped,
            sets=self.sets if len(self.sets) > 1 else None,
        )

    @property
    def _source(self) -> Source:
        found: Source = NamedTable(self.table)
        for joined in self.joins:
            found = replace(joined, left=found)
        return found

    def ask(self, **terms: Any) -> Any:
        """Ask, as `Session.ask` does: `epsilon` or `rho`, and `delta`, `max_rows`, `max_groups`, `min_people`."""
        return self.asker(self.question, **terms)

    def explain(self, **terms: Any) -> Any:
        """Explain, as `Session.explain` does. Free."""
        return self.explainer(self.question, **terms)


def _key(text: str) -> Output:
    """Return a key under the name of its column, or under its own text."""
    expression = read_value(text)
    return Output(expression.name if isinstance(expression, Column) else text, expression)


def _name_aggregates(given: Aggregate | str) -> Output:
    """Name an aggregate as SQL does where it is one of a column; refuse what has no name of its own."""
    expression = _read_released("", given)
    if isinstance(expression, Aggregate):
        if expression.argument is None:
            return Output(expression.function, expression)
        if isinstance(expression.argument, Column):
            what = "distinct" if expression.distinct else expression.function
            return Output(f"{what}_{expression.argument.name}", expression)
    raise QueryError("aggregate-unnamed")


def _read_released(name: str, given: Aggregate | str) -> Expression:
    expression = read_value(given) if isinstance(given, str) else given
    if not isinstance(expression, Aggregate | Call) or not any(isinstance(n, Aggregate) for n in walk(expression)):
        said, named = (name, name) if name else (repr(given), "n")
        raise QueryError("aggregate-malformed", given=said, name=named)
    return expression
