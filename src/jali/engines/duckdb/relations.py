"""Relations in DuckDB's SQL. Each is a SELECT whose hidden column `owner` no question can name.

Two protected relations are joined on their owners besides what the question says, so that every row has one owner
whatever the data. All names of columns hold a dot, so none of them can be mistaken for `owner`.
"""

from __future__ import annotations

from jali.engines.duckdb.expressions import Emitter, double, quoted
from jali.engines.duckdb.key_lists import key_list, key_places
from jali.engines.duckdb.sources import scan as scan_sql
from jali.query.catalog import Field, Public, Table
from jali.query.nodes import Column, Expression, Literal, walk
from jali.query.ownership import own
from jali.query.relation import (
    Belonging,
    Compute,
    Fields,
    Keep,
    Match,
    Pair,
    PerOwner,
    Relation,
    Scan,
    Side,
    Stack,
    Summary,
)

FINITE = "'inf'::DOUBLE"


class RelationEmitter(Emitter):
    """Writes expressions over the columns of a relation, which have their types already."""

    def _column(self, column: Column) -> str:
        return quoted(column.name)


def select(relation: Relation, wanted: frozenset[str]) -> str:
    """Write a relation, with the owner and the wanted columns."""
    owned = not own(relation).public
    if isinstance(relation, Scan):
        return _scan(relation, wanted)
    if isinstance(relation, Compute):
        return _compute(relation, wanted, owned)
    if isinstance(relation, Keep):
        return _keep(relation, wanted, owned)
    if isinstance(relation, Pair):
        return _pair(relation, wanted)
    if isinstance(relation, Match):
        return _match(relation, wanted)
    if isinstance(relation, Stack):
        return _stack(relation, wanted, owned)
    if isinstance(relation, Belonging):
        return _belonging(relation, wanted)
    return _per_owner(relation, wanted, owned)


def present(emitter: Emitter, expression: Expression) -> str:
    """Write a condition that is true where a value is neither NULL nor NaN."""
    written = emitter.write(expression)
    if emitter.is_double(expression):
        return f"coalesce({written} <= {FINITE}, FALSE)"
    return f"({written} IS NOT NULL)"


def needed_by(expressions: list[Expression]) -> frozenset[str]:
    """Return the names of the columns that expressions speak of."""
    return frozenset(n.name for e in expressions for n in walk(e) if isinstance(n, Column))


def _shown(owner: str | None, columns: list[str]) -> str:
    return ", ".join(([] if owner is None else [f"{owner} AS owner"]) + columns) or "1 AS one"


def _kept(fields: tuple[Field, ...], wanted: frozenset[str]) -> list[str]:
    return [quoted(field.name) for field in fields if field.name in wanted]


def _scan(scan: Scan, wanted: frozenset[str]) -> str:
    table = scan.table
    emitter = Emitter(table)
    columns = [
        f"{emitter.write(Column(field.name))} AS {quoted(scan.prefix + field.name)}"
        for field in table.fields
        if scan.prefix + field.name in wanted
    ]
    source = scan_sql(table)
    if isinstance(table, Public):
        return f"SELECT {_shown(None, columns)} FROM {source}"
    if table.reach is not None:
        names = [f"here.{quoted(scan.prefix + f.name)}" for f in table.fields if scan.prefix + f.name in wanted]
        columns.append(f"{emitter.write(Column(table.reach.here))} AS reached_by")
        return (
            f"SELECT {_shown('reached.owner', names)} FROM (SELECT {', '.join(columns)} FROM {source}) AS here"
            f" JOIN ({_reached(table.reach.table, table.reach.there)}) AS reached"
            " ON here.reached_by = reached.there"
        )
    if table.unit is None:
        # The row itself is the owner; whoever reads this twice must keep the numbers.
        return f"SELECT {_shown('row_number() OVER ()', columns)} FROM {source}"
    owner = emitter.write(Column(table.unit))
    return f"SELECT {_shown(owner, columns)} FROM {source} WHERE {owner} IS NOT NULL"


def _reached(table: Table, key: str) -> str:
    """The owner of each key of a table through which others reach it."""
    scan = Scan(table, "reached.")
    field = table.field(key)
    assert field is not None
    name = f"reached.{field.name}"
    return f"SELECT owner, {quoted(name)} AS there FROM ({select(scan, frozenset({name}))})"


def _compute(relation: Compute, wanted: frozenset[str], owned: bool) -> str:
    columns = [column for column in relation.columns if column.field.name in wanted]
    emitter = RelationEmitter(relation.source)
    shown = [f"{emitter.write(c.expression)} AS {quoted(c.field.name)}" for c in columns]
    source = select(relation.source, needed_by([c.expression for c in columns]))
    return f"SELECT {_shown('owner' if owned else None, shown)} FROM ({source})"


def _keep(relation: Keep, wanted: frozenset[str], owned: bool) -> str:
    condition = RelationEmitter(relation.source).write(relation.condition)
    source = select(relation.source, wanted | needed_by([relation.condition]))
    shown = _shown("owner" if owned else None, _kept(relation.fields, wanted))
    return f"SELECT {shown} FROM ({source}) WHERE {condition}"


def _condition(fields: Fields, condition: Expression | None, same_owner: str | None) -> str:
    parts = [] if same_owner is None else [same_owner]
    parts += [] if condition is None else [RelationEmitter(fields).write(condition)]
    return " AND ".join(parts) or "TRUE"


def _pair(pair: Pair, wanted: frozenset[str]) -> str:
    left, right = own(pair.left), own(pair.right)
    used = wanted | needed_by([] if pair.condition is None else [pair.condition])
    both = not left.public and not right.public
    condition = _condition(Side(pair.fields), pair.condition, "l.owner = r.owner" if both else None)
    owner = None if left.public and right.public else ("r.owner" if left.public else "l.owner")
    if both and pair.kind == "full":
        owner = "coalesce(l.owner, r.owner)"
    kind = {"inner": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}[pair.kind]
    return (
        f"SELECT {_shown(owner, _kept(pair.fields, wanted))} FROM ({select(pair.left, used)}) AS l"
        f" {kind} ({select(pair.right, used)}) AS r ON {condition}"
    )


def _match(match: Match, wanted: frozenset[str]) -> str:
    used = needed_by([] if match.condition is None else [match.condition])
    owned, shared = not own(match.source).public, not own(match.other).public
    condition = _condition(match.both, match.condition, "s.owner = o.owner" if shared else None)
    source, other = select(match.source, wanted | used), select(match.other, used)
    columns = _kept(match.source.fields, wanted)
    if match.flag is None:
        shown = _shown("s.owner" if owned else None, columns)
        return f"SELECT {shown} FROM ({source}) AS s SEMI JOIN ({other}) AS o ON {condition}"
    if match.flag.name in wanted:
        columns.append(f"EXISTS (SELECT 1 FROM ({other}) AS o WHERE {condition}) AS {quoted(match.flag.name)}")
    return f"SELECT {_shown('s.owner' if owned else None, columns)} FROM ({source}) AS s"


def _stack(stack: Stack, wanted: frozenset[str], owned: bool) -> str:
    parts = []
    for part in stack.parts:
        pairs = [(m.name, f.name) for m, f in zip(part.fields, stack.fields, strict=True) if f.name in wanted]
        shown = _shown("owner" if owned else None, [f"{quoted(m)} AS {quoted(f)}" for m, f in pairs])
        parts.append(f"SELECT {shown} FROM ({select(part, frozenset(m for m, _ in pairs))})")
    return " UNION ALL ".join(parts)


def _per_owner(relation: PerOwner, wanted: frozenset[str], owned: bool) -> str:
    """Group by all keys, also those that nobody reads further on: they decide which rows there are."""
    emitter = RelationEmitter(relation.source)
    keys = [_key(emitter, key.expression) for key in relation.keys]
    columns = [
        f"{sql} AS {quoted(key.field.name)}"
        for sql, key in zip(keys, relation.keys, strict=True)
        if key.field.name in wanted
    ]
    summaries = [summary for summary in relation.summaries if summary.field.name in wanted]
    columns += [f"{_summary(emitter, summary)} AS {quoted(summary.field.name)}" for summary in summaries]
    arguments = [s.argument for s in summaries if s.argument is not None]
    source = select(relation.source, needed_by([*(key.expression for key in relation.keys), *arguments]))
    # A constant would be read as the place of a column.
    pairs = zip(keys, relation.keys, strict=True)
    varying = [sql for sql, key in pairs if not isinstance(key.expression, Literal)]
    grouped = ", ".join((["owner"] if owned else []) + varying)
    return f"SELECT {_shown('owner' if owned else None, columns)} FROM ({source}) GROUP BY {grouped or '()'}"


def _belonging(relation: Belonging, wanted: frozenset[str]) -> str:
    """The rows of the owners whose part this is."""
    shown = _shown("s.owner", [f"s.{name}" for name in _kept(relation.fields, wanted)])
    rows, owners = select(relation.source, wanted), _belonging_owners(relation)
    return f"SELECT {shown} FROM ({rows}) AS s SEMI JOIN ({owners}) AS o ON s.owner = o.owner"


def _belonging_owners(relation: Belonging) -> str:
    """Of an owner's parts the one with the least hash is theirs; equal hashes are told apart by the part's place.

    All readings of the source see the same rows, and a hash of an owner's own values gives the same part in every
    question: the number of a row, which is another in each reading, is never an owner here. Owners without a row
    in this part are left out before their other parts are hashed.
    """
    written = _key(RelationEmitter(relation.source), relation.expression)
    parts = f"SELECT owner, {written} AS part FROM ({select(relation.source, needed_by([relation.expression]))})"
    this = f"({key_list([relation.values[relation.place]], relation.kind)})[1]"
    here = f"SELECT owner FROM ({parts}) WHERE part IS NOT DISTINCT FROM {this}"
    pairs = f"SELECT DISTINCT a.owner, a.part FROM ({parts}) AS a SEMI JOIN ({here}) AS h ON a.owner = h.owner"
    digits = len(str(len(relation.values)))
    hashed = f"md5(CAST(owner AS VARCHAR) || '|' || place) || lpad(CAST(place AS VARCHAR), {digits}, '0')"
    return (
        f"SELECT owner FROM ({pairs}) AS d JOIN ({key_places(relation.values, relation.kind)}) AS k"
        f" ON k.value IS NOT DISTINCT FROM d.part GROUP BY owner"
        f" HAVING right(min({hashed}), {digits}) = '{str(relation.place).rjust(digits, '0')}'"
    )


def _key(emitter: Emitter, expression: Expression) -> str:
    """Write a key. Doubles have two zeros: adding 0 makes one of them, whichever row comes first."""
    written = emitter.write(expression)
    return f"({written} + 0.0)" if emitter.is_double(expression) else written


def _summary(emitter: Emitter, summary: Summary) -> str:
    """Write one exact number about an owner's rows: whole sums, whatever the order of the rows."""
    bounds, argument = summary.field.bounds, summary.argument
    if summary.function == "count":
        assert bounds.high is not None
        return f"CAST(least({_count(emitter, summary)}, {int(bounds.high)}) AS DOUBLE)"
    assert argument is not None
    there = f"FILTER (WHERE {present(emitter, argument)})"
    if summary.function in ("min", "max"):
        found = f"{summary.function}({emitter.write(argument)}) {there}"
        # Adding 0 makes one zero of the two that doubles have.
        return f"CAST({found} AS DOUBLE) + 0.0" if summary.field.kind.numeric else found
    clamped = f"greatest(least({emitter.real(argument)}, {double(summary.high)}), {double(summary.low)})"
    steps = double(summary.steps)
    total = f"CAST(sum(CAST({clamped} * {steps} AS BIGINT)) {there} AS DOUBLE) / {steps}"
    if summary.function == "avg":
        total = f"({total}) / (count(*) {there})"
    assert bounds.low is not None
    assert bounds.high is not None
    cut = f"greatest(least({total}, {double(bounds.high)}), {double(bounds.low)})"
    return f"CASE WHEN (count(*) {there}) > 0 THEN {cut} END"


def _count(emitter: Emitter, summary: Summary) -> str:
    if summary.argument is None:
        return "count(*)"
    there = f"FILTER (WHERE {present(emitter, summary.argument)})"
    return (
        f"count(DISTINCT {emitter.write(summary.argument)}) {there}" if summary.distinct else f"count(*) {there}"
    )
