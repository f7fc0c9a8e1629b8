"""Declarations: what a curator says about a table, checked against its schema and against other tables."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.engines.copies import refuse_copied_files
from jali.errors import CatalogError
from jali.postgres_address import is_address, read_address
from jali.privacy import Adjacency, Budget
from jali.query.catalog import Declared, Field, Keys, Kind, Memory, Public, Range, Reach, Source, Table, Via
from jali.query.spelling import meant

if TYPE_CHECKING:
    from jali.engines import Engine

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}
_UNIT_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)
_MAX_ROWS = 1 << 30
# Formats of tables that a server holds.
_SERVED = frozenset({"postgres", "spark"})
# How the address of a Spark cluster begins.
_CLUSTERS = ("spark://", "sc://", "local[")
_PATTERN = frozenset("*?[]{}")
# A public column with more different values than this has no keys.
_PUBLIC_KEYS = 10_000


def declare_table(
    engine: Engine,
    *,
    name: str,
    source: Any,
    unit: str | Via | None,
    budget: Budget,
    max_rows: int | None,
    columns: Mapping[str, Declared | str],
    adjacency: Adjacency,
    rows: int | None,
    relation: str | None,
    min_people: int,
    others: Mapping[str, Table | Public],
    unique: bool = False,
    memory: str = "own",
) -> Table:
    """Make the declaration of a table, or refuse it and say what is wrong."""
    _check_name(name)
    if not isinstance(budget, Budget):
        raise CatalogError("budget must be a jali.Budget.", remedy="Write jali.Budget(epsilon=1, delta=1e-6).")
    frame = None if isinstance(source, str | Path) else source
    place = _source(name, source, relation)
    declared = {column: _as_declared(column, value) for column, value in columns.items()}
    fields = engine.fields(place, {c: _kind(d) for c, d in declared.items()}, frame)
    table = Table(
        name=name,
        source=place,
        unit=None if isinstance(unit, Via) else _unit(unit, fields),
        max_rows=_bound(unit, _one_row(unit, max_rows) if unique else max_rows),
        adjacency=adjacency,
        fields=_with_declared(fields, declared),
        budget=budget,
        rows=_guess(rows),
        reach=_reach(unit, fields, others) if isinstance(unit, Via) else None,
        min_people=_least_people(min_people),
        unique=bool(unique),
        memory=_memory(memory),
    )
    _check_others(table, others, engine)
    if frame is not None:
        check_frame(engine.holder(frame), name)
    return table


def declare_public(
    engine: Engine,
    *,
    name: str,
    source: Any,
    kinds: Mapping[str, str],
    relation: str | None,
    others: Mapping[str, Table | Public],
) -> Public:
    """Make the declaration of a public table: its keys and ranges are read off it, as anybody could."""
    _check_name(name)
    frame = None if isinstance(source, str | Path) else source
    place = _source(name, source, relation)
    earlier = next((other for other in others.values() if other.name.lower() == name.lower()), None)
    if isinstance(earlier, Table) or (earlier is not None and earlier.name != name):
        raise CatalogError(f"There is a table {earlier.name} already.", remedy="Publish it under another name.")
    for other in others.values():
        if isinstance(other, Table) and _same_source(place, other.source, engine):
            raise CatalogError(
                f"This source is protected, as {other.name}.", remedy="A protected source cannot be public."
            )
    if frame is not None:
        check_frame(engine.holder(frame), name)
    if place.format == "frame":
        engine.attach(name, frame)
    declared = {column: _as_declared(column, kind) for column, kind in kinds.items()}
    fields = engine.fields(place, {column: _kind(kind) for column, kind in declared.items()}, frame)
    table = Public(name, place, _with_declared(fields, declared))
    contents, table = engine.contents(table, _PUBLIC_KEYS), count_public(engine, table)
    return replace(table, fields=tuple(_public_field(field, contents.get(field.name)) for field in table.fields))


def count_public(engine: Engine, table: Public) -> Public:
    """Count the rows of a public table and how often values repeat, which joins are bounded by."""
    rows, repeats = engine.count(table)
    return replace(table, rows=rows, repeats=tuple(sorted(repeats.items())))


def _public_field(field: Field, values: tuple[Any, ...] | None) -> Field:
    """Give a public column its values as keys, and its numbers as a range."""
    known = [value for value in values or () if value is not None]
    if not known:
        return field
    if field.kind.numeric:
        numbers = [Fraction(value) for value in known if math.isfinite(value)]
        field = replace(field, range=Range(min(numbers), max(numbers)) if numbers else None)
    return field if field.kind is Kind.REAL else replace(field, keys=Keys(list(values or ())))


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise CatalogError(
            f"A table's name is letters, digits and underscores, not {name!r}.", remedy="Choose such a name."
        )


def _reach(via: Via, fields: tuple[Field, ...], others: Mapping[str, Table | Public]) -> Reach:
    """Resolve a unit that another protected table knows."""
    there = next((t for t in others.values() if t.name.lower() == str(via.table).lower()), None)
    if not isinstance(there, Table) or there.row_level:
        raise CatalogError(
            f"There is no protected table {via.table} with a unit.", remedy="Protect that table first."
        )
    if str(there.owner).lower() != str(via.unit).lower():
        raise CatalogError(f"The unit of {there.name} is {there.owner}, not {via.unit}.", remedy="Name its unit.")
    sides = [side.strip().strip('"').split(".")[-1] for side in str(via.on).split("=")]
    mine = [next((f for f in fields if f.name.lower() == side.lower()), None) for side in sides]
    theirs = [there.field(side) for side in sides]
    pairs = [(mine[0], theirs[1]), (mine[1], theirs[0])] if len(sides) == 2 else []
    for field in (f for f in (*fields, *there.fields) if f.name.lower() in map(str.lower, sides)):
        if not field.readable:
            raise CatalogError(
                f"{field.name} has a type that questions cannot read.",
                remedy="Reach the unit through whole numbers, text, dates or times.",
            )
    for here, other in pairs:
        if here is not None and other is not None:
            if here.type != other.type:
                raise CatalogError(
                    f"{here.name} is {here.type}, {other.name} is {other.type}.",
                    remedy="Store both columns in one type.",
                )
            return Reach(there, here.name, other.name)
    raise CatalogError(
        f"{via.on!r} is not an equality of a column here and one of {there.name}.",
        remedy="Write on='l_orderkey = o_orderkey'.",
    )


def _least_people(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_ROWS:
        raise CatalogError("min_people must be a whole number, at least 1.", remedy="Write min_people=10.")
    return value


def _memory(value: str) -> Memory:
    if value == "own":
        return "own"
    if value == "common":
        return "common"
    raise CatalogError(f"memory cannot be {value!r}.", remedy='Write memory="own" or memory="common".')


def check_frame(holder: str | None, name: str) -> None:
    """Refuse a frame that another table has: one source has one budget."""
    if holder not in (None, name):
        raise CatalogError(
            f"This frame is protected already, as {holder}.", remedy="One source has one budget: ask that table."
        )


def _source(name: str, source: Any, relation: str | None) -> Source:
    if _is_spark_session(source):
        return Source("spark", "session", relation or name)
    if not isinstance(source, str | Path):
        _refuse_spark_frame(source)
        return Source("frame", name)
    if isinstance(source, str) and is_address(source):
        return _in_postgres(name, source, relation)
    if isinstance(source, str) and source.startswith(_CLUSTERS):
        return Source("spark", source, relation or name)
    path = Path(source).expanduser()
    kind = _FORMATS.get(path.suffix.lower())
    if kind is None:
        endings = ", ".join(_FORMATS)
        raise CatalogError(
            f"The format of {source} is not known.",
            remedy=f"Known endings: {endings}. Addresses begin with postgresql://, spark://, sc:// or local[.",
        )
    if set(str(path.resolve())) & _PATTERN:
        raise CatalogError(
            f"The path of {source} could be read as a pattern for several files.",
            remedy=f"Rename the file or its folder, without {' '.join(sorted(_PATTERN))}.",
        )
    if not path.is_file():
        raise CatalogError(f"There is no file {source}.")
    refuse_copied_files(path)
    return Source(kind, str(path.resolve()), (relation or name) if kind == "duckdb" else "")


def _refuse_spark_frame(source: Any) -> None:
    if type(source).__module__.split(".")[0] == "pyspark":
        raise CatalogError(
            "What Spark computes may be another at every reading: only its tables and files are sources.",
            remedy="Write it to a table or Parquet, and give the session: db.protect(name, spark, relation=...).",
        )


def _is_spark_session(source: Any) -> bool:
    """Say whether a source is a session of Spark, which need not be installed."""
    kind = type(source)
    return kind.__module__.split(".")[0] == "pyspark" and kind.__name__ == "SparkSession"


def _in_postgres(name: str, source: str, relation: str | None) -> Source:
    """Name a table in a Postgres database by its schema and its name there."""
    address = read_address(source)
    wanted = relation or name
    if "." in wanted and address.schema is not None:
        raise CatalogError("The schema is named twice.", remedy="Name it in the address or in relation.")
    schema, _, table = wanted.rpartition(".")
    return Source("postgres", address.url, f"{schema or address.schema or 'public'}.{table}")


def _as_declared(column: str, value: Declared | str) -> Declared:
    if isinstance(value, Range | Keys | Kind):
        return value
    try:
        return Kind(value)
    except ValueError:
        kinds = ", ".join(kind.value for kind in Kind if kind is not Kind.OTHER)
        raise CatalogError(
            f"Column {column} is declared as {value!r}.", remedy=f"Give a Range, Keys, or one of: {kinds}."
        ) from None


def _kind(declared: Declared) -> str:
    if isinstance(declared, Range):
        if isinstance(declared.low, datetime.datetime):
            return Kind.TIMESTAMP
        return Kind.DATE if isinstance(declared.low, datetime.date) else Kind.REAL
    return declared.kind if isinstance(declared, Keys) else declared


def _unit(unit: str | None, fields: tuple[Field, ...]) -> str | None:
    if unit is None:
        return None
    found = next((f for f in fields if f.name.lower() == unit.lower()), None)
    if found is None:
        raise CatalogError(f"There is no column {unit} to be the unit.", remedy=_columns(fields, unit))
    if found.kind not in _UNIT_KINDS:
        raise CatalogError(f"Column {unit} cannot name people: it is {found.kind.value}.")
    return found.name


def _bound(unit: str | Via | None, max_rows: int | None) -> int:
    if unit is None:
        if max_rows not in (None, 1):
            raise CatalogError("Without a unit each row is a person, so max_rows is 1.")
        return 1
    if max_rows is None:
        raise CatalogError("max_rows is missing.", remedy="Say for how many rows one person may count.")
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or not 1 <= max_rows <= _MAX_ROWS:
        raise CatalogError(f"max_rows must be a whole number between 1 and {_MAX_ROWS:,}.")
    return max_rows


def _one_row(unit: str | Via | None, max_rows: int | None) -> int:
    """Return the bound of a table where nobody has two rows."""
    if not isinstance(unit, str):
        raise CatalogError(
            "Only a column of this table can be unique in it.", remedy="Name it as the unit, or leave unique out."
        )
    if max_rows not in (None, 1):
        raise CatalogError("Where the unit is unique, max_rows is 1.", remedy="Write max_rows=1, or leave it out.")
    return 1


def _guess(rows: int | None) -> int | None:
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
        raise CatalogError("rows must be a whole number, at least 1.")
    return rows


def _with_declared(fields: tuple[Field, ...], declared: Mapping[str, Declared]) -> tuple[Field, ...]:
    lowered = {column.lower(): value for column, value in declared.items()}
    known = {field.name.lower() for field in fields}
    if len(known) != len(fields):
        raise CatalogError("Two columns differ in upper and lower case only.", remedy="Rename one of them.")
    for column in declared:
        if column.lower() not in known:
            raise CatalogError(f"There is no column {column}.", remedy=_columns(fields, column))
    return tuple(_declared_field(field, lowered.get(field.name.lower())) for field in fields)


def _declared_field(field: Field, declared: Declared | None) -> Field:
    if isinstance(declared, Range):
        if declared.wanted:
            return _wanted(field, declared)
        if not (field.kind.numeric if isinstance(declared.low, Fraction) else field.kind is _kind(declared)):
            raise CatalogError(
                f"Column {field.name} is {field.kind.value} and cannot have the range {declared}.",
                remedy="Give numbers for numbers, dates for dates, times for times.",
            )
        return replace(field, range=declared)
    if isinstance(declared, Keys):
        if field.kind is not declared.kind:
            raise CatalogError(f"Column {field.name} is {field.kind.value}, its keys are {declared.kind.value}.")
        return replace(field, keys=declared)
    if declared is not None and declared is not field.kind:
        raise CatalogError(f"Column {field.name} is {field.kind.value}, not {declared.value}.")
    return field


def _wanted(field: Field, declared: Range) -> Field:
    if not field.kind.numeric and field.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise CatalogError(
            f"Column {field.name} is {field.kind.value}: it has no range that could be bought.",
            remedy="Ranges are bought for numbers, dates and times.",
        )
    return replace(field, range=declared)


def _check_others(table: Table, others: Mapping[str, Table | Public], engine: Engine) -> None:
    for other in others.values():
        same_name = other.name.lower() == table.name.lower()
        if same_name and other.name != table.name:
            raise CatalogError(f"There is a table {other.name} already.")
        if not same_name and _same_source(table.source, other.source, engine):
            raise CatalogError(
                f"This source is protected already, as {other.name}.",
                remedy="One source has one budget: ask that table.",
            )
    earlier = others.get(table.name)
    if isinstance(earlier, Public):
        raise CatalogError(f"There is a public table {table.name} already.", remedy="Choose another name.")
    if earlier is not None:
        _check_unchanged(table, earlier)


def _check_unchanged(table: Table, earlier: Table) -> None:
    """What the ledger's entries mean must not change under them."""
    for part in ("unit", "reach", "adjacency", "budget", "source"):
        if getattr(table, part) != getattr(earlier, part):
            raise CatalogError(
                f"Table {table.name} is protected already with another {part}.",
                remedy="Ranges, keys, max_rows and rows may change; protect other data under another name.",
            )


def _same_source(one: Source, other: Source, engine: Engine) -> bool:
    if "frame" in (one.format, other.format):
        return False
    if one.format in _SERVED or other.format in _SERVED:
        # Names there tell upper from lower case, and one table has many.
        return one == other or _alike(engine.identity(one), engine.identity(other))
    try:
        same = Path(one.location).samefile(other.location)
    except OSError:
        same = one.location == other.location
    return same and one.relation.lower() == other.relation.lower()


def _alike(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    """Say whether two sources are one, or one holds the files of the other."""
    if one is None or other is None:
        return False
    if one[0] == other[0] == "path":
        return Path(one[1]).is_relative_to(other[1]) or Path(other[1]).is_relative_to(one[1])
    return one == other


def _columns(fields: tuple[Field, ...], name: str) -> str:
    """Name the columns there are, and first the one that a wrong name is nearest to."""
    names = [field.name for field in fields]
    return f"{meant(name, names)}Its columns are {', '.join(names)}."
