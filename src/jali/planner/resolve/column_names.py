"""Resolve column names: which columns a name can mean at a place of the question, and unique names for new ones.

A scope holds the columns that are in sight. Written names become the columns that they mean, and text becomes
dates beside dates. Columns of different relations of one question never share a name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jali.catalog.columns import Field, Keys, Kind
from jali.catalog.spelling import suggest_name
from jali.catalog.tables import Public, Table
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import Aggregate, Call, Column, Expression, Output, Position, Subquery, map_children, walk
from jali.ir.functions import Type
from jali.ir.functions.aggregate_functions import infer_aggregate_type
from jali.ir.relations import Relation, Side, rename_field
from jali.ir.types import find_field, infer_call_type, infer_type, read_dates
from jali.planner.public_facts import find_key_values


class FreshNames:
    """The names that one question has used so far."""

    def __init__(self) -> None:
        # Flags have a prefix of their own.
        self._prefixes = {"found."}
        self._flags = 0

    def prefix(self, alias: str) -> str:
        """Return a prefix with one dot, unlike all others also in an engine that ignores case."""
        plain = alias.replace(".", "_")
        prefix, number = f"{plain}.", 1
        while prefix.lower() in self._prefixes:
            number += 1
            prefix = f"{plain}_{number}."
        self._prefixes.add(prefix.lower())
        return prefix

    def flag(self) -> Field:
        """Return a column that says whether a subquery has a row."""
        self._flags += 1
        return Field(f"found.{self._flags}", Kind.BOOLEAN, "BOOLEAN", computed=True)


def plain_name(name: str) -> str:
    """Return a column's name without its prefix."""
    return name.split(".", 1)[1] if "." in name else name


@dataclass(frozen=True)
class VisibleColumn:
    """A column that can be named: by its own name, or with the table's name before it.

    One that is not `readable`, because of its type, is refused wherever it is named, and `*` leaves it out.
    """

    name: str
    column: str
    table: str | None = None
    merged: bool = False
    readable: bool = True


def visible_columns(table: Table | Public, alias: str, prefix: str = "") -> tuple[VisibleColumn, ...]:
    """Return the columns of a table as a question sees them, each under its unique name."""
    return tuple(VisibleColumn(f.name, prefix + f.name, alias, readable=f.readable) for f in table.fields)


@dataclass(frozen=True)
class Scope:
    """The columns of FROM, and around a subquery those of the query around it."""

    columns: tuple[VisibleColumn, ...]
    outer: Scope | None = None

    def __add__(self, other: Scope) -> Scope:
        return Scope(self.columns + other.columns, self.outer)

    @property
    def readable(self) -> tuple[VisibleColumn, ...]:
        """The columns that questions can read."""
        return tuple(visible for visible in self.columns if visible.readable)

    def tables(self) -> set[str]:
        """Return the names of the tables in sight."""
        return {visible.table.lower() for visible in self.columns if visible.table is not None}

    def find(self, column: Column) -> Column:
        """Return the column that a written one means, under its unique name."""
        found = self._matching(column)
        if not found and self.outer is not None:
            return self.outer.find(column)
        if len({visible.column for visible in found}) > 1:
            raise QueryError(
                "column-ambiguous",
                position=column.position,
                column=column.name,
                tables=tuple(str(visible.table) for visible in found),
                table=found[0].table,
            )
        if not found:
            raise self._unknown(column)
        if not found[0].readable:
            raise Unsupported("column-unreadable", position=column.position, column=column.name)
        return replace(column, name=found[0].column, table=None)

    def knows(self, column: Column) -> bool:
        """Say whether a name means a column of this scope, not of one around it."""
        return bool(self._matching(column))

    def _matching(self, column: Column) -> list[VisibleColumn]:
        name, table = column.name.lower(), None if column.table is None else column.table.lower()
        same = [v for v in self.columns if v.name.lower() == name]
        if table is not None:
            return [v for v in same if v.table is not None and v.table.lower() == table]
        merged = [v for v in same if v.merged]
        return merged or same

    def _unknown(self, column: Column) -> QueryError:
        if column.table is not None and column.table.lower() not in self.tables():
            return QueryError(
                "table-unknown", position=column.position, table=column.table, tables=tuple(sorted(self.tables()))
            )
        seen = [v for v in self.readable if column.table in (None, v.table) or _same(column.table, v.table)]
        names = list(dict.fromkeys(visible.name for visible in seen))
        tables = {visible.table for visible in seen}
        table = next(iter(tables)) if len(tables) == 1 else None
        hint = suggest_name(column.name, names)
        return QueryError(
            "column-unknown",
            position=column.position,
            table=table,
            column=column.name,
            nearest=hint,
            columns=tuple(names),
        )


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.lower() == other.lower()


@dataclass(frozen=True)
class UnprovedJoin:
    """Two protected relations that meet in an inner join: some condition must equate their owners."""

    left: Relation
    right: Relation
    position: Position


@dataclass(frozen=True)
class SelectScope:
    """One SELECT on its way: its rows, the names in sight, and the meetings still to be proved."""

    relation: Relation
    scope: Scope
    meetings: tuple[UnprovedJoin, ...] = ()
    conditions: tuple[Expression, ...] = ()


def resolve_expression(written: Expression, scope: Scope, fields: Relation | Side) -> Expression:
    """Resolve the names of one expression, and read text as dates where it is compared with them."""
    if isinstance(written, Column):
        if written.table is None and fields.field(written.name) is not None and "." in written.name:
            return written
        return scope.find(written)
    if isinstance(written, Call):
        arguments = tuple(resolve_expression(a, scope, fields) for a in written.arguments)
        return read_dates(replace(written, arguments=arguments), lambda argument: _kind(argument, fields))
    return map_children(lambda part: resolve_expression(part, scope, fields), written)


def _kind(expression: Expression, fields: Relation | Side) -> Kind | None:
    """Return the kind of an expression in which aggregates may stand; None where it is not known here."""
    return None if isinstance(expression, Subquery) else _type(expression, fields).kind


def _type(expression: Expression, fields: Relation | Side) -> Type:
    if isinstance(expression, Aggregate):
        return infer_aggregate_type(expression, fields)
    if not isinstance(expression, Call):
        return infer_type(expression, fields)
    if expression.function == "grouping":
        return Type(Kind.INTEGER)
    return infer_call_type(expression, [_type(argument, fields) for argument in expression.arguments])


def build_field(name: str, expression: Expression, fields: Relation) -> Field:
    """Return the column that an expression makes: a copy of a column, or a computed one."""
    if isinstance(expression, Column):
        return rename_field(find_field(expression, fields), name)
    kind = infer_type(expression, fields)
    known = find_key_values(expression, fields) if kind.kind is Kind.TEXT else None
    keys = None if known is None or known == (None,) else Keys(known)
    return Field(name, kind.kind or Kind.INTEGER, "", keys=keys, computed=True, bounds=kind.bounds)


def resolve_alias(expression: Expression, outputs: tuple[Output, ...], scope: Scope) -> Expression:
    """Read a name of GROUP BY: a column, or else the alias of an output, as DuckDB does."""
    if isinstance(expression, Column) and not scope.knows(expression):
        for output in outputs:
            if output.name.lower() == expression.name.lower() and not has_aggregate(output.expression):
                return output.expression
    return expression


def has_aggregate(expression: Expression) -> bool:
    """Say whether an aggregate stands anywhere in an expression."""
    return any(isinstance(node, Aggregate) for node in walk(expression))


def expect_condition(expression: Expression, fields: Relation | Side, clause: str) -> None:
    """Refuse anything but a condition."""
    if infer_type(expression, fields).kind not in (Kind.BOOLEAN, None):
        raise QueryError("condition-expected", position=expression.position, clause=clause)


def replace_expression(expression: Expression, old: Expression, new: Expression) -> Expression:
    """Put one expression in the place of another, wherever it stands."""
    if expression == old:
        return new
    return map_children(lambda part: replace_expression(part, old, new), expression)
