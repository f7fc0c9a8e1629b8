"""Resolving: written relations and names become owned relations, or are refused with the place and a remedy.

Every relation made here keeps the rules of `query.ownership`: two protected relations meet only where the question
equates their owners, and rows are merged only within one owner. Engines pair rows by the hidden owner besides, so
a wrong proof here could change the meaning of a question but not whose rows a person's contribution is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jali.errors import QueryError, Unsupported
from jali.planner.key_values import key_values
from jali.planner.scope import Scope, Visible
from jali.planner.stack import stacked
from jali.planner.summarise import Summaries
from jali.query.catalog import Catalog, Field, Keys, Kind, Public, Table
from jali.query.functions import alike
from jali.query.nodes import (
    Aggregate,
    Call,
    Column,
    Derived,
    Every,
    Expression,
    Found,
    Joined,
    Literal,
    Named,
    Output,
    Position,
    Select,
    Source,
    Stacked,
    conjuncts,
    walk,
)
from jali.query.ownership import Ownership, own, same_owner
from jali.query.read_expression import conjunction
from jali.query.relation import Compute, Computed, Keep, Match, Pair, PerOwner, Relation, Scan, Side, renamed
from jali.query.types import dated, find_field, type_of


@dataclass(frozen=True)
class Meeting:
    """Two protected relations that meet in an inner join: some condition must equate their owners."""

    left: Relation
    right: Relation
    position: Position


@dataclass(frozen=True)
class Level:
    """One SELECT on its way: its rows, the names in sight, and the meetings still to be proved."""

    relation: Relation
    scope: Scope
    meetings: tuple[Meeting, ...] = ()
    conditions: tuple[Expression, ...] = ()


class Resolver:
    """Resolves one question against the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        # Flags have a prefix of their own.
        self._prefixes = {"found."}
        self._flags = 0

    # Relations.

    def top(self, source: Source, where: Expression | None, *, bare: bool) -> Level:
        """Resolve FROM and WHERE of the question itself."""
        alone = bare and isinstance(source, Named) and not self._reaches(source)
        level = self._bare(source) if alone and isinstance(source, Named) else self._source(source, None)
        return self.filtered(level, where)

    def _reaches(self, source: Named) -> bool:
        """Say whether the owners of a table are found in another one, whose columns stand beside its own."""
        table = self._table(source)
        return isinstance(table, Table) and table.reach is not None

    def _bare(self, source: Named) -> Level:
        """A single table: its columns keep their names."""
        scan = Scan(self._table(source))
        alias = source.alias or scan.table.name
        return Level(scan, Scope(tuple(Visible(f.name, f.name, alias) for f in scan.fields)))

    def _table(self, source: Named) -> Table | Public:
        found = self.catalog.find(source.name)
        if found is None:
            known = ", ".join(table.name for table in self.catalog.tables) or "none yet"
            raise QueryError(
                f"There is no protected table {source.name}.",
                position=source.position,
                remedy=f"Tables: {known}.",
            )
        return found

    def _source(self, source: Source, outer: Scope | None) -> Level:
        if isinstance(source, Named):
            return self._scanned(source, outer)
        if isinstance(source, Derived):
            return self._derived(source, outer)
        return self._joined(source, outer)

    def _scanned(self, source: Named, outer: Scope | None) -> Level:
        table = self._table(source)
        alias = source.alias or table.name
        scan = Scan(table, self._prefix(alias))
        seen = tuple(Visible(f.name, scan.prefix + f.name, alias) for f in table.fields)
        return Level(scan, Scope(seen, outer))

    def _prefix(self, alias: str) -> str:
        """Return a prefix with one dot, unlike all others also in an engine that ignores case."""
        plain = alias.replace(".", "_")
        prefix, number = f"{plain}.", 1
        while prefix.lower() in self._prefixes:
            number += 1
            prefix = f"{plain}_{number}."
        self._prefixes.add(prefix.lower())
        return prefix

    def _derived(self, source: Derived, outer: Scope | None) -> Level:
        relation = self.query(source.query, None)
        if source.columns and len(source.columns) != len(relation.fields):
            raise QueryError(
                f"The subquery has {len(relation.fields)} columns, not {len(source.columns)}.",
                position=source.position,
                remedy="Name each of its columns.",
            )
        if len({name.lower() for name in source.columns}) < len(source.columns):
            raise QueryError(
                "Two columns of the subquery have the same name.",
                position=source.position,
                remedy="Name them apart.",
            )
        prefix = self._prefix(source.alias or "subquery")
        names = source.columns or tuple(_plain_name(field.name) for field in relation.fields)
        columns = tuple(
            Computed(renamed(field, prefix + name), Column(field.name))
            for field, name in zip(relation.fields, names, strict=True)
        )
        seen = tuple(Visible(name, prefix + name, source.alias) for name in names)
        return Level(Compute(relation, columns), Scope(seen, outer))

    def query(self, query: Select | Stacked, outer: Scope | None) -> Relation:
        """Resolve a subquery to a relation with one column per output."""
        return self._stacked(query) if isinstance(query, Stacked) else self._select(query, outer)

    def _stacked(self, query: Stacked) -> Relation:
        parts = [self.query(part, None) for part in query.parts]
        _check_stack(parts, query.position)
        stack = stacked(parts, self._prefix("union"), query.position)
        return stack if not query.distinct else self._distinct(stack, query.position)

    def _select(self, query: Select, outer: Scope | None) -> Relation:
        level = self.filtered(self._source(query.source, outer), query.where)
        outputs = self._outputs(query, level.scope)
        grouped = query.group_by or any(_has_aggregate(o.expression) for o in outputs) or query.having is not None
        relation = self._grouped(query, outputs, level) if grouped else self._computed(outputs, level)
        return self._distinct(relation, query.position) if query.distinct else relation

    def _outputs(self, query: Select, scope: Scope) -> tuple[Output, ...]:
        found: list[Output] = []
        for output in query.outputs:
            found += [output] if isinstance(output, Output) else _expanded(output, scope)
        names = [output.name.lower() for output in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise QueryError(
                f"Two columns of the subquery are called {twice}.",
                position=query.position,
                remedy="Name them apart with AS.",
            )
        return tuple(found)

    def _computed(self, outputs: tuple[Output, ...], level: Level) -> Relation:
        """Make the outputs; a column that is only handed on may be of any type."""
        plain = {o.name for o in outputs if isinstance(o.expression, Column)}
        made, level = self.expressions([o.expression for o in outputs if o.name not in plain], level)
        rest = iter(made)
        resolved = [
            level.scope.find(o.expression) if isinstance(o.expression, Column) else next(rest) for o in outputs
        ]
        return self._made(level.relation, [(o.name, e) for o, e in zip(outputs, resolved, strict=True)])

    def _made(self, source: Relation, columns: list[tuple[str, Expression]]) -> Compute:
        """Make columns under names of their own."""
        prefix = self._prefix("select")
        return Compute(source, tuple(Computed(column_of(prefix + n, e, source), e) for n, e in columns))

    def _grouped(self, query: Select, outputs: tuple[Output, ...], level: Level) -> Relation:
        written = [_alias_or_self(e, outputs, level.scope) for e in query.group_by]
        having = [] if query.having is None else [query.having]
        roots = [*written, *(o.expression for o in outputs), *having]
        resolved, level = self.expressions(roots, level)
        keys = resolved[: len(written)]
        self._check_merged(level.relation, keys, query.position)
        summaries = Summaries(level.relation, keys, self._prefix("person"))
        after = [summaries.after(e) for e in resolved[len(written) :]]
        relation: Relation = summaries.relation()
        if having:
            _expect_condition(after[-1], relation, "HAVING")
            relation = Keep(relation, after.pop())
        return self._made(relation, [(o.name, e) for o, e in zip(outputs, after, strict=True)])

    @staticmethod
    def _check_merged(relation: Relation, keys: list[Expression], position: Position) -> None:
        """Refuse a subquery that merges rows of different people."""
        owners = own(relation)
        names = {key.name for key in keys if isinstance(key, Column)}
        if owners.public or names & {name for name, _ in owners.copies}:
            return
        raise _merges(owners, position)

    def _distinct(self, relation: Relation, position: Position) -> Relation:
        self._check_merged(relation, [Column(f.name) for f in relation.fields], position)
        prefix = self._prefix("distinct")
        keys = tuple(Computed(renamed(f, prefix + _plain_name(f.name)), Column(f.name)) for f in relation.fields)
        return PerOwner(relation, keys)

    # Joins.

    def _joined(self, joined: Joined, outer: Scope | None) -> Level:
        left, right = self._source(joined.left, outer), self._source(joined.right, outer)
        twice = left.scope.tables() & right.scope.tables()
        if twice:
            raise QueryError(
                f"Two tables of the question are called {min(twice)}.",
                position=joined.position,
                remedy="Give each an alias: FROM visits AS v.",
            )
        if joined.kind == "right":
            joined, left, right = replace(joined, kind="left"), right, left
        condition, scope = self._condition(joined, left, right)
        meetings = left.meetings + right.meetings
        conditions = left.conditions + right.conditions + conjuncts(condition)
        if joined.kind in ("semi", "anti"):
            relation = self._match(left.relation, right.relation, condition, joined.position)
            if joined.kind == "anti":
                relation = self._without(left.relation, right.relation, condition)
            return Level(relation, left.scope, meetings, left.conditions)
        return self._paired(
            joined, left.relation, right.relation, condition, Level(left.relation, scope, meetings, conditions)
        )

    def _condition(self, joined: Joined, left: Level, right: Level) -> tuple[Expression | None, Scope]:
        both = left.scope + right.scope
        using = joined.using
        if joined.natural:
            mine = {v.name.lower() for v in left.scope.columns}
            using = tuple(v.name for v in right.scope.columns if v.name.lower() in mine)
        parts = [self._equal(name, left, right, joined.position) for name in using]
        if joined.on is not None:
            if any(isinstance(node, Found) for node in walk(joined.on)):
                raise Unsupported(
                    "A subquery cannot stand in the condition of a join.",
                    position=joined.position,
                    remedy="Put it in WHERE.",
                )
            parts.append(self.expression(joined.on, both, Side(left.relation.fields + right.relation.fields)))
            _expect_condition(parts[-1], Side(left.relation.fields + right.relation.fields), "ON")
        if using and joined.kind != "full":
            # The shared column is written without its table: it means the left one, which is never NULL alone.
            merged = tuple(
                replace(v, merged=True) if v.name.lower() in {u.lower() for u in using} else v
                for v in left.scope.columns
            )
            both = Scope(merged + right.scope.columns, both.outer)
        return conjunction(parts), both

    @staticmethod
    def _equal(name: str, left: Level, right: Level, position: Position) -> Expression:
        written = Column(name, position)
        return Call("=", (left.scope.find(written), right.scope.find(written)), position)

    def _paired(
        self, joined: Joined, left: Relation, right: Relation, condition: Expression | None, level: Level
    ) -> Level:
        one, other = own(left), own(right)
        if one.public or other.public:
            return replace(level, relation=_with_public(joined.kind, left, right, condition, one, other))
        _check_meeting(one, other, joined.position)
        pair = Pair(joined.kind, left, right, condition)
        if joined.kind == "inner":
            met = Meeting(left, right, joined.position)
            return replace(level, relation=pair, meetings=(*level.meetings, met))
        if not _equates(left, right, conjuncts(condition)):
            raise _unequal(one, other, joined.position)
        return replace(level, relation=pair, conditions=level.conditions[: -len(conjuncts(condition))])

    # Conditions and expressions.

    def filtered(self, level: Level, where: Expression | None) -> Level:
        """Apply WHERE, and prove the meetings of the joins before it."""
        kept: list[Expression] = []
        for condition in conjuncts(where):
            if isinstance(condition, Found):
                level = self._semi(level, condition)
                continue
            resolved, level = self.expressions([condition], level)
            _expect_condition(resolved[0], level.relation, "WHERE")
            kept.append(resolved[0])
        known = level.conditions + tuple(kept)
        for meeting in level.meetings:
            if not _equates(meeting.left, meeting.right, known):
                raise _unequal(own(meeting.left), own(meeting.right), meeting.position)
        every = conjunction(kept)
        relation = level.relation if every is None else Keep(level.relation, every)
        return replace(level, relation=relation, meetings=(), conditions=())

    def expressions(self, written: list[Expression], level: Level) -> tuple[list[Expression], Level]:
        """Resolve expressions over the rows of a level; subqueries in them become columns of it."""
        made, flags = [], dict[Found, Expression]()
        for root in written:
            expression = root
            for found in [node for node in walk(root) if isinstance(node, Found)]:
                # The same subquery written twice, in SELECT and in GROUP BY for example, is one column.
                if found not in flags:
                    flags[found], level = self._flagged(level, found)
                expression = _replaced(expression, found, flags[found])
            made.append(self.expression(expression, level.scope, level.relation))
        return made, level

    def expression(self, written: Expression, scope: Scope, fields: Relation | Side) -> Expression:
        """Resolve the names of one expression, and read text as dates where it is compared with them."""
        if isinstance(written, Column):
            if written.table is None and fields.field(written.name) is not None and "." in written.name:
                return written
            return _usable(scope.find(written), fields)
        if isinstance(written, Call):
            arguments = tuple(self.expression(a, scope, fields) for a in written.arguments)
            return dated(replace(written, arguments=arguments), fields)
        if isinstance(written, Aggregate):
            return self._aggregate(written, scope, fields)
        return written

    def _aggregate(self, written: Aggregate, scope: Scope, fields: Relation | Side) -> Aggregate:
        return replace(
            written,
            argument=None if written.argument is None else self.expression(written.argument, scope, fields),
            others=tuple(self.expression(other, scope, fields) for other in written.others),
            filter=None if written.filter is None else self.expression(written.filter, scope, fields),
        )

    # Subqueries in conditions.

    def _semi(self, level: Level, found: Found) -> Level:
        other, condition = self._sought(level, found)
        return replace(level, relation=self._match(level.relation, other, condition, found.position))

    def _flagged(self, level: Level, found: Found) -> tuple[Expression, Level]:
        """Add a column that says whether the subquery has a row; IN is NULL where its value is."""
        other, condition = self._sought(level, found)
        self._flags += 1
        flag = Field(f"found.{self._flags}", Kind.BOOLEAN, "BOOLEAN", computed=True)
        relation = self._match(level.relation, other, condition, found.position, flag)
        column: Expression = Column(flag.name, found.position)
        if found.value is not None:
            value = self.expression(found.value, level.scope, level.relation)
            column = Call("case", (Call("is null", (value,)), Literal(None), column), found.position)
        return column, replace(level, relation=relation)

    def _sought(self, level: Level, found: Found) -> tuple[Relation, Expression | None]:
        """Return the rows that a subquery looks for, and the condition that ties them to a row around it."""
        query = found.query
        plain = isinstance(query, Select) and not (query.group_by or query.distinct or query.having is not None)
        if isinstance(query, Select) and plain and not any(_aggregated(output) for output in query.outputs):
            return self._correlated(level, found, query)
        other = self.query(query, None)
        value = None if found.value is None else self._member(level, found, other, Column(other.fields[0].name))
        if len(other.fields) != 1 and found.value is not None:
            raise _one_column(found)
        return other, value

    def _correlated(self, level: Level, found: Found, query: Select) -> tuple[Relation, Expression | None]:
        inner = self._source(query.source, level.scope)
        here: list[Expression] = []
        ties: list[Expression] = []
        for condition in conjuncts(query.where):
            (ties if _speaks_outside(condition, inner.scope) else here).append(condition)
        inner = self.filtered(inner, conjunction(here))
        both = Side(level.relation.fields + inner.relation.fields)
        parts = [self.expression(tie, inner.scope, both) for tie in ties]
        for part in parts:
            _expect_condition(part, both, "WHERE")
        if found.value is not None:
            outputs = self._outputs(query, inner.scope)
            if len(outputs) != 1:
                raise _one_column(found)
            resolved, inner = self.expressions([outputs[0].expression], inner)
            parts.insert(0, self._member(level, found, inner.relation, resolved[0]))
        return inner.relation, conjunction(parts)

    def _member(self, level: Level, found: Found, other: Relation, item: Expression) -> Expression:
        assert found.value is not None
        value = self.expression(found.value, level.scope, level.relation)
        types = [type_of(value, level.relation), type_of(item, other)]
        try:
            alike(types)
        except ValueError:
            raise QueryError(
                "IN compares values of different kinds.", position=found.position, remedy="Cast one of them."
            ) from None
        return Call("=", (value, item), found.position)

    @staticmethod
    def _match(
        source: Relation,
        other: Relation,
        condition: Expression | None,
        position: Position,
        flag: Field | None = None,
    ) -> Relation:
        one, two = own(source), own(other)
        if not two.public:
            if one.public:
                raise Unsupported(
                    "A public table would be filtered by a protected one.",
                    position=position,
                    remedy="Join them instead: the rows of the join belong to people.",
                )
            _check_meeting(one, two, position)
            if not _equates(source, other, conjuncts(condition)):
                raise _unequal(one, two, position)
        return Match(source, other, condition, flag)

    def _without(self, source: Relation, other: Relation, condition: Expression | None) -> Relation:
        self._flags += 1
        flag = Field(f"found.{self._flags}", Kind.BOOLEAN, "BOOLEAN", computed=True)
        return Keep(Match(source, other, condition, flag), Call("not", (Column(flag.name),)))


def column_of(name: str, expression: Expression, fields: Relation) -> Field:
    """Return the column that an expression makes: a copy of a column, or a computed one."""
    if isinstance(expression, Column):
        return renamed(find_field(expression, fields), name)
    kind = type_of(expression, fields)
    known = key_values(expression, fields) if kind.kind is Kind.TEXT else None
    keys = None if known is None or known == (None,) else Keys(known)
    return Field(name, kind.kind or Kind.INTEGER, "", keys=keys, computed=True, bounds=kind.bounds)


def _plain_name(name: str) -> str:
    return name.split(".", 1)[1] if "." in name else name


def _check_stack(parts: list[Relation], position: Position) -> None:
    owners = [own(part) for part in parts]
    if len({o.public for o in owners}) > 1:
        raise Unsupported(
            "UNION mixes a public and a protected table: the public rows have no owner.",
            position=position,
            remedy="Ask about them separately.",
        )
    for other in owners[1:]:
        if not other.public:
            _check_meeting(owners[0], other, position)


def _expanded(every: Every, scope: Scope) -> list[Output]:
    wanted = None if every.table is None else every.table.lower()
    seen = [v for v in scope.columns if wanted is None or (v.table or "").lower() == wanted]
    if not seen:
        raise QueryError(
            f"There is no table {every.table} in this question.",
            position=every.position,
            remedy="Name one of FROM.",
        )
    return [Output(v.name, Column(v.name, every.position, v.table)) for v in seen]


def _alias_or_self(expression: Expression, outputs: tuple[Output, ...], scope: Scope) -> Expression:
    """Read a name of GROUP BY: a column, or else the alias of an output, as DuckDB does."""
    if isinstance(expression, Column) and not scope.knows(expression):
        for output in outputs:
            if output.name.lower() == expression.name.lower() and not _has_aggregate(output.expression):
                return output.expression
    return expression


def _has_aggregate(expression: Expression) -> bool:
    return any(isinstance(node, Aggregate) for node in walk(expression))


def _aggregated(output: Output | Every) -> bool:
    return isinstance(output, Output) and _has_aggregate(output.expression)


def _usable(column: Column, fields: Relation | Side) -> Column:
    if find_field(column, fields).kind is Kind.OTHER:
        raise Unsupported(
            f"Column {column.name} has a type that questions cannot use.",
            position=column.position,
            remedy="Use another column.",
        )
    return column


def _expect_condition(expression: Expression, fields: Relation | Side, clause: str) -> None:
    if type_of(expression, fields).kind not in (Kind.BOOLEAN, None):
        raise QueryError(
            f"{clause} takes a condition.", position=expression.position, remedy="Compare it with a value."
        )


def _replaced(expression: Expression, old: Expression, new: Expression) -> Expression:
    if expression == old:
        return new
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_replaced(a, old, new) for a in expression.arguments))
    if isinstance(expression, Aggregate):
        return replace(
            expression,
            argument=None if expression.argument is None else _replaced(expression.argument, old, new),
            others=tuple(_replaced(other, old, new) for other in expression.others),
            filter=None if expression.filter is None else _replaced(expression.filter, old, new),
        )
    return expression


def _speaks_outside(condition: Expression, scope: Scope) -> bool:
    columns = (node for node in walk(condition) if isinstance(node, Column))
    return any(not scope.knows(column) for column in columns)


def _equates(left: Relation, right: Relation, conditions: tuple[Expression, ...]) -> bool:
    """Say whether some condition equates the owners of two relations."""
    for condition in conditions:
        if not (isinstance(condition, Call) and condition.function == "="):
            continue
        one, other = condition.arguments
        if isinstance(one, Column) and isinstance(other, Column):
            for a, b in ((one.name, other.name), (other.name, one.name)):
                if left.field(a) is not None and right.field(b) is not None and same_owner(left, a, right, b):
                    return True
    return False


def _with_public(
    kind: str,
    left: Relation,
    right: Relation,
    condition: Expression | None,
    one: Ownership,
    other: Ownership,
) -> Relation:
    """Join with a public table: the rows belong to the owners of the protected side; rows without owner drop."""
    if one.public and other.public:
        return Pair(kind, left, right, condition)
    if one.public:
        return Pair("left" if kind == "full" else "inner", right, left, condition)
    return Pair("left" if kind in ("left", "full") else "inner", left, right, condition)


def _check_meeting(one: Ownership, other: Ownership, position: Position) -> None:
    if one.row_level or other.row_level:
        raise Unsupported(
            "A table without a unit cannot be joined with a protected table: its rows are people of their own.",
            position=position,
            remedy="Ask the curator to declare the unit column of both tables.",
        )
    if one.type != other.type:
        raise Unsupported(
            f"The units of the two tables differ in type: {one.unit} is {one.type}, {other.unit} is {other.type}.",
            position=position,
            remedy="Ask the curator to store both units in one type.",
        )


def _unequal(one: Ownership, other: Ownership, position: Position) -> Unsupported:
    return Unsupported(
        "The question does not say that both rows belong to the same person.",
        position=position,
        remedy=f"Add the equality of the two units to the condition: {_owner(one)} = {_owner(other)}.",
    )


def _owner(owners: Ownership) -> str:
    """Name the unit with its table, where there is one."""
    return f"{next(iter(owners.needed))}.{owners.unit}" if len(owners.needed) == 1 else str(owners.unit)


def _merges(owners: Ownership, position: Position) -> Unsupported:
    if owners.row_level:
        return Unsupported(
            "The subquery merges rows of different people: each row is a person here.",
            position=position,
            remedy="Aggregate in the question itself.",
        )
    named = owners.owner_columns()
    unit = _plain_name(named[0]) if named else owners.unit
    return Unsupported(
        "The subquery merges rows of different people.",
        position=position,
        remedy=f"Add {unit} to its GROUP BY (or to SELECT DISTINCT), so that each row keeps one owner.",
    )


def _one_column(found: Found) -> QueryError:
    return QueryError("The subquery of IN has one column.", position=found.position, remedy="Select one column.")


def is_bare(source: Source, expressions: list[Expression]) -> bool:
    """Say whether a question reads one table and has no subqueries, so that names can stay as they are."""
    plain = not any(isinstance(node, Found) for e in expressions for node in walk(e))
    return isinstance(source, Named) and plain
