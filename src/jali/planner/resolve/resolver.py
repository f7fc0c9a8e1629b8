"""Resolve written relations and names to owned relations, or refuse them with the place and a remedy.

Every relation made here keeps the rules of `ir.ownership`: two protected relations meet only where the question
equates their owners, and rows are merged only within one owner. Engines pair rows by the hidden owner besides, so
a wrong proof here could change the meaning of a question but not whose rows a person's contribution is made of.
"""

from __future__ import annotations

from jali.catalog.spelling import suggest_name
from jali.catalog.tables import Catalog, Public, Table
from jali.errors import QueryError
from jali.ir.expressions import (
    Column,
    Derived,
    Expression,
    NamedTable,
    Output,
    Position,
    Select,
    Source,
    Star,
    Subquery,
    UnionQuery,
    walk,
)
from jali.ir.relations import Compute, Computed, Keep, PerOwner, Relation, Scan, rename_field
from jali.planner.resolve.column_names import (
    FreshNames,
    Scope,
    SelectScope,
    VisibleColumn,
    build_field,
    expect_condition,
    has_aggregate,
    plain_name,
    resolve_alias,
    visible_columns,
)
from jali.planner.resolve.joins_and_unions import check_merged, check_stack, resolve_join, stack_relations
from jali.planner.resolve.per_person import PersonSummaries
from jali.planner.resolve.subqueries import ConditionResolver
from jali.planner.subpopulations import ResolvedSubpopulation


class Resolver:
    """Resolves one question against the catalog."""

    def __init__(self, catalog: Catalog, part: ResolvedSubpopulation | None = None) -> None:
        self.catalog = catalog
        self._part = part
        self._names = FreshNames()
        self._conditions = ConditionResolver(self, self._names)

    def top(self, source: Source, where: Expression | None, *, bare: bool) -> SelectScope:
        """Resolve FROM and WHERE of the question itself."""
        alone = (
            bare and isinstance(source, NamedTable) and not self._reaches(source) and not self._of_people(source)
        )
        level = self._bare(source) if alone and isinstance(source, NamedTable) else self.source(source, None)
        return self._conditions.apply_where(level, where)

    def expressions(self, written: list[Expression], level: SelectScope) -> tuple[list[Expression], SelectScope]:
        """Resolve expressions over the rows of a level; subqueries in them become columns of it."""
        return self._conditions.expressions(written, level)

    def _reaches(self, source: NamedTable) -> bool:
        """Say whether the owners of a table are found in another one, whose columns stand beside its own."""
        table = self._table(source)
        return isinstance(table, Table) and table.reach is not None

    def _bare(self, source: NamedTable) -> SelectScope:
        """A single table: its columns keep their names."""
        scan = Scan(self._table(source))
        alias = source.alias or scan.table.name
        return SelectScope(self._read(scan), Scope(visible_columns(scan.table, alias)))

    def _of_people(self, source: NamedTable) -> bool:
        """Say whether only a part of a table is read, so that people are put into parts: by a relation over it."""
        table = self._table(source)
        parted = self._part is not None and table.name == self._part.table
        return parted and isinstance(table, Table) and not table.row_level

    def _read(self, scan: Scan) -> Relation:
        """Return the rows of a table, or of its part where the question is about one."""
        return self._part.limit_rows(scan) if self._part and self._part.table == scan.table.name else scan

    def _table(self, source: NamedTable) -> Table | Public:
        found = self.catalog.find(source.name)
        if found is None:
            names = [table.name for table in self.catalog.tables]
            raise QueryError(
                "protected-table-unknown",
                position=source.position,
                table=source.name,
                nearest=suggest_name(source.name, names),
                tables=tuple(names),
            )
        return found

    def source(self, source: Source, outer: Scope | None) -> SelectScope:
        """Resolve FROM; around a subquery there is the scope of the query that it stands in."""
        if isinstance(source, NamedTable):
            return self._resolve_table(source, outer)
        if isinstance(source, Derived):
            return self._resolve_derived(source, outer)
        left, right = self.source(source.left, outer), self.source(source.right, outer)
        return resolve_join(source, left, right, self._names)

    def _resolve_table(self, source: NamedTable, outer: Scope | None) -> SelectScope:
        table = self._table(source)
        alias = source.alias or table.name
        scan = Scan(table, self._names.prefix(alias))
        return SelectScope(self._read(scan), Scope(visible_columns(table, alias, scan.prefix), outer))

    def _resolve_derived(self, source: Derived, outer: Scope | None) -> SelectScope:
        relation = self.query(source.query)
        if source.columns and len(source.columns) != len(relation.fields):
            raise QueryError(
                "subquery-column-count",
                position=source.position,
                count=len(relation.fields),
                given=len(source.columns),
            )
        if len({name.lower() for name in source.columns}) < len(source.columns):
            raise QueryError("subquery-columns-repeated", position=source.position)
        prefix = self._names.prefix(source.alias or "subquery")
        names = source.columns or tuple(plain_name(field.name) for field in relation.fields)
        columns = tuple(
            Computed(rename_field(field, prefix + name), Column(field.name))
            for field, name in zip(relation.fields, names, strict=True)
        )
        seen = tuple(VisibleColumn(name, prefix + name, source.alias) for name in names)
        return SelectScope(Compute(relation, columns), Scope(seen, outer))

    def query(self, query: Select | UnionQuery) -> Relation:
        """Resolve a subquery to a relation with one column per output."""
        return self._resolve_union(query) if isinstance(query, UnionQuery) else self._select(query)

    def _resolve_union(self, query: UnionQuery) -> Relation:
        parts = [self.query(part) for part in query.parts]
        check_stack(parts, query.position)
        stack = stack_relations(parts, self._names.prefix("union"), query.position)
        return stack if not query.distinct else self._distinct(stack, query.position)

    def _select(self, query: Select) -> Relation:
        level = self._conditions.apply_where(self.source(query.source, None), query.where)
        outputs = self.outputs(query, level.scope)
        grouped = query.group_by or any(has_aggregate(o.expression) for o in outputs) or query.having is not None
        relation = (
            self._summarise_rows(query, outputs, level) if grouped else self._compute_outputs(outputs, level)
        )
        return self._distinct(relation, query.position) if query.distinct else relation

    def outputs(self, query: Select, scope: Scope) -> tuple[Output, ...]:
        """Return the outputs of a subquery, with stars written out."""
        found: list[Output] = []
        for output in query.outputs:
            found += [output] if isinstance(output, Output) else _expand_star(output, scope)
        names = [output.name.lower() for output in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise QueryError("subquery-column-ambiguous", position=query.position, column=twice)
        return tuple(found)

    def _compute_outputs(self, outputs: tuple[Output, ...], level: SelectScope) -> Relation:
        """Make the outputs; a column that is only handed on may be of any type."""
        plain = {o.name for o in outputs if isinstance(o.expression, Column)}
        made, level = self._conditions.expressions([o.expression for o in outputs if o.name not in plain], level)
        rest = iter(made)
        resolved = [
            level.scope.find(o.expression) if isinstance(o.expression, Column) else next(rest) for o in outputs
        ]
        return self._build_columns(level.relation, [(o.name, e) for o, e in zip(outputs, resolved, strict=True)])

    def _build_columns(self, source: Relation, columns: list[tuple[str, Expression]]) -> Compute:
        """Make columns under names of their own."""
        prefix = self._names.prefix("select")
        return Compute(source, tuple(Computed(build_field(prefix + n, e, source), e) for n, e in columns))

    def _summarise_rows(self, query: Select, outputs: tuple[Output, ...], level: SelectScope) -> Relation:
        written = [resolve_alias(e, outputs, level.scope) for e in query.group_by]
        having = [] if query.having is None else [query.having]
        roots = [*written, *(o.expression for o in outputs), *having]
        resolved, level = self._conditions.expressions(roots, level)
        keys = resolved[: len(written)]
        check_merged(level.relation, keys, query.position)
        summaries = PersonSummaries(level.relation, keys, self._names.prefix("person"))
        after = [summaries.after(e) for e in resolved[len(written) :]]
        relation: Relation = summaries.relation()
        if having:
            expect_condition(after[-1], relation, "HAVING")
            relation = Keep(relation, after.pop())
        return self._build_columns(relation, [(o.name, e) for o, e in zip(outputs, after, strict=True)])

    def _distinct(self, relation: Relation, position: Position) -> Relation:
        check_merged(relation, [Column(f.name) for f in relation.fields], position)
        prefix = self._names.prefix("distinct")
        keys = tuple(
            Computed(rename_field(f, prefix + plain_name(f.name)), Column(f.name)) for f in relation.fields
        )
        return PerOwner(relation, keys)


def _expand_star(every: Star, scope: Scope) -> list[Output]:
    wanted = None if every.table is None else every.table.lower()
    seen = [v for v in scope.readable if wanted is None or (v.table or "").lower() == wanted]
    if not seen:
        raise QueryError("star-table-unknown", position=every.position, table=every.table)
    return [Output(v.name, Column(v.name, every.position, v.table)) for v in seen]


def is_bare(source: Source, expressions: list[Expression]) -> bool:
    """Say whether a question reads one table and has no subqueries, so that names can stay as they are."""
    plain = not any(isinstance(node, Subquery) for e in expressions for node in walk(e))
    return isinstance(source, NamedTable) and plain
