"""Write relations in the SQL of a dialect, each as a SELECT whose hidden column `owner` no question can name.

Two protected relations are joined on their owners besides what the question says, so that every row has one owner
whatever the data. All names of columns hold a dot, so none of them can be mistaken for `owner`.
"""

from __future__ import annotations

from jali.catalog.columns import Field, Kind
from jali.catalog.tables import Public, Table
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.expression_emitter import Emitter
from jali.ir.expressions import Column, Expression, Literal, walk
from jali.ir.ownership import own
from jali.ir.relations import (
    Belonging,
    Capped,
    Compute,
    Computed,
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


def select(dialect: Dialect, relation: Relation, wanted: frozenset[str]) -> str:
    """Write a relation, with the owner and the wanted columns."""
    owned = not own(relation).public
    if isinstance(relation, Scan):
        return _scan(dialect, relation, wanted)
    if isinstance(relation, Compute):
        return _compute(dialect, relation, wanted, owned)
    if isinstance(relation, Keep):
        return _keep(dialect, relation, wanted, owned)
    if isinstance(relation, Pair):
        return _pair(dialect, relation, wanted)
    if isinstance(relation, Match):
        return _match(dialect, relation, wanted)
    if isinstance(relation, Stack):
        return _stack(dialect, relation, wanted, owned)
    if isinstance(relation, Belonging):
        return _belonging(dialect, relation, wanted)
    if isinstance(relation, Capped):
        return _cap(dialect, relation, wanted)
    return _per_owner(dialect, relation, wanted, owned)


def present(emitter: Emitter, expression: Expression) -> str:
    """Write a condition that is true where a value is neither NULL nor NaN."""
    written = emitter.write(expression)
    if emitter.is_double(expression):
        return f"coalesce({written} <= {emitter.dialect.infinite}, FALSE)"
    return f"({written} IS NOT NULL)"


def find_columns(expressions: list[Expression]) -> frozenset[str]:
    """Return the names of the columns that expressions speak of."""
    return frozenset(n.name for e in expressions for n in walk(e) if isinstance(n, Column))


def _select_list(owner: str | None, columns: list[str]) -> str:
    return ", ".join(([] if owner is None else [f"{owner} AS owner"]) + columns) or "1 AS one"


def _keep_columns(dialect: Dialect, fields: tuple[Field, ...], wanted: frozenset[str]) -> list[str]:
    return [dialect.quote(field.name) for field in fields if field.name in wanted]


def _scan(dialect: Dialect, scan: Scan, wanted: frozenset[str]) -> str:
    table = scan.table
    emitter = Emitter(table, dialect)
    columns = [
        f"{emitter.write(Column(field.name))} AS {dialect.quote(scan.prefix + field.name)}"
        for field in table.columns
        if scan.prefix + field.name in wanted
    ]
    source = dialect.scan(table, _find_stored_columns(scan, wanted))
    if isinstance(table, Public):
        return f"SELECT {_select_list(None, columns)} FROM {source}"
    if table.reach is not None:
        names = [
            f"here.{dialect.quote(scan.prefix + f.name)}" for f in table.columns if scan.prefix + f.name in wanted
        ]
        columns.append(f"{emitter.write(Column(table.reach.here))} AS reached_by")
        return (
            f"SELECT {_select_list('reached.owner', names)}"
            f" FROM (SELECT {', '.join(columns)} FROM {source}) AS here"
            f" JOIN ({_select_reach(dialect, table.reach.table, table.reach.there)}) AS reached"
            " ON here.reached_by = reached.there"
        )
    if table.unit is None:
        # The row itself is the owner; whoever reads this twice must keep the numbers.
        return f"SELECT {_select_list(dialect.row_owner(table), columns)} FROM {source}"
    owner = emitter.write(Column(table.unit))
    return f"SELECT {_select_list(owner, columns)} FROM {source} WHERE {owner} IS NOT NULL"


def _find_stored_columns(scan: Scan, wanted: frozenset[str]) -> frozenset[str] | None:
    """Return the stored columns that a scan reads; all of them where a row is told from others by its values."""
    table = scan.table
    names = frozenset(field.name for field in table.columns if scan.prefix + field.name in wanted)
    if isinstance(table, Public):
        return names
    if table.reach is not None:
        return names | {table.reach.here}
    return None if table.unit is None else names | {table.unit}


def _select_reach(dialect: Dialect, table: Table, key: str) -> str:
    """The owner of each key of a table through which others reach it."""
    scan = Scan(table, "reached.")
    field = table.field(key)
    assert field is not None
    name = f"reached.{field.name}"
    rows = dialect.nest_query(select(dialect, scan, frozenset({name})))
    return f"SELECT owner, {dialect.quote(name)} AS there FROM {rows}"


def _compute(dialect: Dialect, relation: Compute, wanted: frozenset[str], owned: bool) -> str:
    columns = [column for column in relation.columns if column.field.name in wanted]
    emitter = Emitter(relation.source, dialect)
    shown = [f"{_write_column(emitter, c)} AS {dialect.quote(c.field.name)}" for c in columns]
    source = select(dialect, relation.source, find_columns([c.expression for c in columns]))
    return f"SELECT {_select_list('owner' if owned else None, shown)} FROM {dialect.nest_query(source)}"


def _write_column(emitter: Emitter, column: Computed) -> str:
    """Write a computed column; one that is always NULL in the type that is expected of it further on."""
    kind = column.field.kind
    return emitter.write_as(column.expression, Kind.REAL if kind.numeric else kind)


def _keep(dialect: Dialect, relation: Keep, wanted: frozenset[str], owned: bool) -> str:
    condition = Emitter(relation.source, dialect).condition(relation.condition)
    source = select(dialect, relation.source, wanted | find_columns([relation.condition]))
    shown = _select_list("owner" if owned else None, _keep_columns(dialect, relation.fields, wanted))
    return f"SELECT {shown} FROM {dialect.nest_query(source)} WHERE {condition}"


def _condition(dialect: Dialect, fields: Fields, condition: Expression | None, same_owner: str | None) -> str:
    parts = [] if same_owner is None else [same_owner]
    parts += [] if condition is None else [Emitter(fields, dialect).condition(condition)]
    return " AND ".join(parts) or "TRUE"


def _pair(dialect: Dialect, pair: Pair, wanted: frozenset[str]) -> str:
    left, right = own(pair.left), own(pair.right)
    used = wanted | find_columns([] if pair.condition is None else [pair.condition])
    both = not left.public and not right.public
    condition = _condition(dialect, Side(pair.fields), pair.condition, "l.owner = r.owner" if both else None)
    owner = None if left.public and right.public else ("r.owner" if left.public else "l.owner")
    if both and pair.kind == "full":
        owner = "coalesce(l.owner, r.owner)"
    kind = {"inner": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}[pair.kind]
    shown, one, other = _keep_columns(dialect, pair.fields, wanted), pair.left, pair.right
    return (
        f"SELECT {_select_list(owner, shown)} FROM ({select(dialect, one, used)}) AS l"
        f" {kind} ({select(dialect, other, used)}) AS r ON {condition}"
    )


def _match(dialect: Dialect, match: Match, wanted: frozenset[str]) -> str:
    used = find_columns([] if match.condition is None else [match.condition])
    owned, shared = not own(match.source).public, not own(match.other).public
    condition = _condition(dialect, match.both, match.condition, "s.owner = o.owner" if shared else None)
    source, other = select(dialect, match.source, wanted | used), select(dialect, match.other, used)
    columns = _keep_columns(dialect, match.source.fields, wanted)
    if match.flag is None:
        shown = _select_list("s.owner" if owned else None, columns)
        return dialect.semi_join(shown, source, other, condition, ("s", "o"))
    if match.flag.name in wanted:
        owner, flag = "s.owner" if owned else None, dialect.quote(match.flag.name)
        return dialect.flag_rows(owner, source, other, condition, columns, flag)
    return f"SELECT {_select_list('s.owner' if owned else None, columns)} FROM ({source}) AS s"


def _stack(dialect: Dialect, stack: Stack, wanted: frozenset[str], owned: bool) -> str:
    parts = []
    for part in stack.parts:
        pairs = [(m.name, f.name) for m, f in zip(part.fields, stack.fields, strict=True) if f.name in wanted]
        shown = _select_list(
            "owner" if owned else None, [f"{dialect.quote(m)} AS {dialect.quote(f)}" for m, f in pairs]
        )
        rows = select(dialect, part, frozenset(m for m, _ in pairs))
        parts.append(f"SELECT {shown} FROM {dialect.nest_query(rows)}")
    return " UNION ALL ".join(parts)


def _per_owner(dialect: Dialect, relation: PerOwner, wanted: frozenset[str], owned: bool) -> str:
    """Group by all keys, also those that nobody reads further on: they decide which rows there are."""
    emitter = Emitter(relation.source, dialect)
    keys = [_key(emitter, key.expression) for key in relation.keys]
    columns = [
        f"{sql} AS {dialect.quote(key.field.name)}"
        for sql, key in zip(keys, relation.keys, strict=True)
        if key.field.name in wanted
    ]
    summaries = [summary for summary in relation.summaries if summary.field.name in wanted]
    columns += [f"{_summary(emitter, summary)} AS {dialect.quote(summary.field.name)}" for summary in summaries]
    arguments = [s.argument for s in summaries if s.argument is not None]
    source = select(
        dialect, relation.source, find_columns([*(key.expression for key in relation.keys), *arguments])
    )
    # A constant would be read as the place of a column.
    pairs = zip(keys, relation.keys, strict=True)
    varying = [sql for sql, key in pairs if not isinstance(key.expression, Literal)]
    grouped = dialect.group_by((["owner"] if owned else []) + varying)
    return f"SELECT {_select_list('owner' if owned else None, columns)} FROM {dialect.nest_query(source)}{grouped}"


def _belonging(dialect: Dialect, relation: Belonging, wanted: frozenset[str]) -> str:
    """The rows of the owners whose part this is."""
    shown = _select_list("s.owner", [f"s.{name}" for name in _keep_columns(dialect, relation.fields, wanted)])
    rows, owners = select(dialect, relation.source, wanted), _belonging_owners(dialect, relation)
    return dialect.semi_join(shown, rows, owners, "s.owner = o.owner", ("s", "o"))


def _belonging_owners(dialect: Dialect, relation: Belonging) -> str:
    """Of an owner's parts the one with the least hash is theirs; equal hashes are told apart by the part's place.

    All readings of the source see the same rows, and a hash of an owner's own values gives the same part in every
    question: the number of a row, which is another in each reading, is never an owner here. Owners without a row
    in this part are left out before their other parts are hashed.
    """
    written = _key(Emitter(relation.source, dialect), relation.expression)
    rows = select(dialect, relation.source, find_columns([relation.expression]))
    parts = f"SELECT owner, {written} AS part FROM {dialect.nest_query(rows)}"
    this = dialect.write_key(relation.values[relation.place], relation.kind)
    here = f"SELECT owner FROM {dialect.nest_query(parts)} WHERE part IS NOT DISTINCT FROM {this}"
    pairs = dialect.semi_join("DISTINCT a.owner, a.part", parts, here, "a.owner = h.owner", ("a", "h"))
    digits = len(str(len(relation.values)))
    place = dialect.cast_to_text("place")
    digest = dialect.digest(f"{dialect.cast_to_text('owner')} || '|' || {dialect.integer_to_text('place')}")
    hashed = f"{digest} || lpad({place}, {digits}, '0')"
    same = dialect.match_keys("k.value", "d.part", relation.kind, missing=None in relation.values)
    return (
        f"SELECT owner FROM ({pairs}) AS d JOIN ({dialect.key_places(relation.values, relation.kind)}) AS k"
        f" ON {same} GROUP BY owner"
        f" HAVING right(min({hashed}), {digits}) = '{str(relation.place).rjust(digits, '0')}'"
    )


def _cap(dialect: Dialect, relation: Capped, wanted: frozenset[str]) -> str:
    """At most so many rows of each owner: those of owners who have more are ranked, by a hash of their content.

    The rows are read twice. A row's rank depends on the rows of its owner alone, so that the two readings agree.
    """
    names = _keep_columns(dialect, relation.fields, wanted)
    # A text may be long, and all are joined: its digest stands for it.
    texts = {dialect.quote(field.name) for field in relation.fields if field.kind is Kind.TEXT}
    spelled = {name: dialect.cast_to_text(f"r.{name}") for name in names}
    contents = [f"coalesce({dialect.digest(s) if name in texts else s}, '')" for name, s in spelled.items()]
    digest = dialect.digest(dialect.concatenate(_between("'|'", contents)) if contents else "''")
    order = ", ".join([digest, *(f"r.{name}" for name in names)])
    shown = ", ".join(["r.owner AS owner", *(f"r.{name} AS {name}" for name in names)])
    rank = f"row_number() OVER (PARTITION BY r.owner ORDER BY {order}) AS place"
    met = "FROM capped_rows AS r {} JOIN capped_people AS p ON r.owner = p.owner"
    ranked = f"SELECT {shown}, {rank} {met.format('INNER')}"
    return (
        f"WITH capped_rows AS ({select(dialect, relation.source, wanted)}), capped_people AS"
        f" (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > {relation.rows})"
        f" SELECT {shown} {met.format('LEFT')} WHERE p.owner IS NULL"
        f" UNION ALL SELECT {', '.join(['owner', *names])} FROM {dialect.nest_query(ranked)}"
        f" WHERE place <= {relation.rows}"
    )


def _between(mark: str, texts: list[str]) -> list[str]:
    return [item for text in texts for item in (mark, text)][1:]


def _key(emitter: Emitter, expression: Expression) -> str:
    """Write a key. Doubles have two zeros: adding 0 makes one of them, whichever row comes first."""
    written = emitter.write_as(expression, Kind.REAL)
    return f"({written} + 0.0)" if emitter.is_double(expression) else written


def _summary(emitter: Emitter, summary: Summary) -> str:
    """Write one exact number about an owner's rows: whole sums, whatever the order of the rows."""
    bounds, argument = summary.field.bounds, summary.argument
    if summary.function == "count":
        assert bounds.high is not None
        return emitter.dialect.real(f"least({_count(emitter, summary)}, {int(bounds.high)})")
    assert argument is not None
    dialect, there = emitter.dialect, present(emitter, argument)
    count = dialect.aggregate_where("count", "1", there)
    if summary.function in ("min", "max"):
        found = dialect.extreme(summary.function, emitter.write_as(argument, Kind.REAL), there, summary.field.kind)
        # Adding 0 makes one zero of the two that doubles have.
        return f"{dialect.real(found)} + 0.0" if summary.field.kind.numeric else found
    clamped = dialect.clamp(emitter.real(argument), dialect.double(summary.low), dialect.double(summary.high))
    point = dialect.round_half_even(dialect.multiply(clamped, summary.steps), dialect.large, fits=True)
    total = f"{dialect.real(dialect.total_where(point, there))} / {dialect.double(summary.steps)}"
    if summary.function == "avg":
        total = f"({total}) / ({count})"
    assert bounds.low is not None
    assert bounds.high is not None
    cut = dialect.clamp(total, dialect.double(bounds.low), dialect.double(bounds.high))
    return f"CASE WHEN ({count}) > 0 THEN {cut} END"


def _count(emitter: Emitter, summary: Summary) -> str:
    if summary.argument is None:
        return "count(*)"
    there = present(emitter, summary.argument)
    if summary.distinct:
        return emitter.dialect.count_distinct(emitter.write(summary.argument), there)
    return emitter.dialect.aggregate_where("count", "1", there)
