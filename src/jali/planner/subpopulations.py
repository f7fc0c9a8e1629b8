"""Subpopulations: to which part of a table each person belongs, and the rows of one part.

Inside a part, the table means its part wherever a question names it: before any filter, join or subquery.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.catalog.tables import Table
from jali.catalog.value_domain import Value
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import (
    Call,
    Column,
    Derived,
    Expression,
    Joined,
    Literal,
    NamedTable,
    Source,
    map_children,
)
from jali.ir.ownership import own
from jali.ir.relations import Belonging, Keep, Relation, Scan, parts, sources
from jali.ir.types import infer_type
from jali.planner.public_facts import find_key_values
from jali.planner.resolve.column_names import Scope, SelectScope, has_aggregate, visible_columns
from jali.sql.printer import column_name, show_expression
from jali.sql.reader.read_select import read_value

if TYPE_CHECKING:
    from jali.planner.resolve.resolver import Resolver


@dataclass(frozen=True)
class SubpopulationRequest:
    """The part that a question is about, as its asker names it.

    Attributes:
        by: What tells the part of a row: an expression over the columns of the table.
        key: Which part; or its text, as a command line gives it.
        table: The table; None for the one that FROM names first.
    """

    by: str
    key: Value
    table: str | None = None


@dataclass(frozen=True)
class ResolvedSubpopulation:
    """One part of a table, resolved.

    Attributes:
        table: The table's name.
        expression: What tells the part of a row, over the columns of the table.
        values: All parts, from declared keys and ranges only.
        place: Which of them the question is about.
    """

    table: str
    expression: Expression
    kind: Kind
    values: tuple[Value, ...]
    place: int

    @property
    def key(self) -> Value:
        """The key of the part."""
        return self.values[self.place]

    def limit_rows(self, scan: Scan) -> Relation:
        """Return the rows of the part: of people who belong to it, those that are in it.

        A row that is a person of its own belongs to the part it is in.
        """
        expression = _prefix_columns(self.expression, scan.prefix)
        rows: Relation = scan
        if not own(scan).row_level:
            rows = Belonging(scan, expression, self.kind, self.values, self.place)
        there = Call("is null", (expression,)) if self.key is None else Call("=", (expression, Literal(self.key)))
        return Keep(rows, there)

    def holds(self, relation: Relation) -> bool:
        """Say whether a relation reads nothing of the table but the part."""
        if isinstance(relation, Keep) and self._scan_in(relation) is not None:
            return True
        if isinstance(relation, Scan):
            return self.table not in [table.name for table in sources(relation)]
        return all(self.holds(part) for part in parts(relation))

    def _scan_in(self, relation: Keep) -> Scan | None:
        """Return the scan of which a relation is the part, if it is."""
        inner: Relation = relation.source
        inner = inner.source if isinstance(inner, Belonging) else inner
        mine = isinstance(inner, Scan) and inner.table.name == self.table
        return inner if mine and isinstance(inner, Scan) and self.limit_rows(inner) == relation else None


def resolve_subpopulation(part: SubpopulationRequest, source: Source, resolver: Resolver) -> ResolvedSubpopulation:
    """Resolve a part against the catalog, or refuse it with a remedy. Nothing of the data decides."""
    table = _table(part, source, resolver)
    expression = _expression(part, table, resolver)
    values, shown = list_subpopulation_keys(expression, table), show_expression(expression)
    kind = infer_type(expression, table).kind or Kind.INTEGER
    place = _place(part.key, values)
    if place is None:
        known = (*map(str, values[:5]), *(["..."] if len(values) > 5 else []))
        raise QueryError("part-unknown", table=table.name, by=shown, part=part.key, parts=tuple(known))
    return ResolvedSubpopulation(table.name, expression, kind, values, place)


def list_subpopulations(table: str, by: str, resolver: Resolver) -> tuple[Value, ...]:
    """Return the parts of a table, or refuse what does not tell them by public facts."""
    part = SubpopulationRequest(by, None, table)
    found = _table(part, NamedTable(table), resolver)
    return list_subpopulation_keys(_expression(part, found, resolver), found)


def list_subpopulation_keys(expression: Expression, table: Table) -> tuple[Value, ...]:
    """Return all values that can tell a part, from declared keys and ranges."""
    values = find_key_values(expression, table)
    if values is None:
        shown = show_expression(expression)
        raise Unsupported("part-keys-undeclared", column=shown, name=column_name(expression))
    return values


def check_reached(relation: Relation, member: ResolvedSubpopulation) -> None:
    """Refuse a question without the table, or one that finds another table's owners in all of its parts."""
    if member.table not in [table.name for table in sources(relation)]:
        raise QueryError("part-of-unread-table", table=member.table)
    if not member.holds(relation):
        raise Unsupported("part-of-other-table", table=member.table)


def _table(part: SubpopulationRequest, source: Source, resolver: Resolver) -> Table:
    name = part.table or _first(source)
    found = None if name is None else resolver.catalog.find(name)
    if isinstance(found, Table):
        return found
    known = [t.name for t in resolver.catalog.tables if isinstance(t, Table)]
    raise Unsupported("part-of-unprotected", table=name or "The subquery", tables=tuple(known))


def _first(source: Source) -> str | None:
    while isinstance(source, Joined | Derived):
        if isinstance(source, Derived):
            return None
        source = source.left
    return source.name


def _expression(part: SubpopulationRequest, table: Table, resolver: Resolver) -> Expression:
    written, scan = read_value(part.by), Scan(table)
    if has_aggregate(written):
        raise Unsupported("part-columns")
    (expression,), level = resolver.expressions(
        [written], SelectScope(scan, Scope(visible_columns(table, table.name)))
    )
    if level.relation != scan:
        raise Unsupported("part-columns")
    return expression


def _place(key: Value, values: tuple[Value, ...]) -> int | None:
    """Find a key; true is not 1. Text finds the key that is written so."""
    exact = [
        i for i, value in enumerate(values) if value == key and isinstance(value, bool) == isinstance(key, bool)
    ]
    written = [i for i, value in enumerate(values) if isinstance(key, str) and str(value) == key]
    return next(iter(exact + written), None)


def _prefix_columns(expression: Expression, prefix: str) -> Expression:
    if isinstance(expression, Column):
        return replace(expression, name=prefix + expression.name)
    return map_children(lambda part: _prefix_columns(part, prefix), expression)
