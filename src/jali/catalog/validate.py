"""Validate what a curator declares about a table, against its schema and against other tables."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Declared, Field, Keys, Kind, Range, Via
from jali.catalog.copy_names import refuse_copied_files
from jali.catalog.spelling import suggest_name
from jali.catalog.tables import Memory, Public, Reach, Source, Table
from jali.errors import CatalogError
from jali.postgres_address import is_address, read_address
from jali.privacy import Adjacency, Budget

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
SERVED_FORMATS = frozenset({"postgres", "spark"})
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
        raise CatalogError("budget-type")
    frame = None if isinstance(source, str | Path) else source
    place = _build_source(name, source, relation)
    declared = {column: _read_declared(column, value) for column, value in columns.items()}
    fields = engine.fields(place, {c: _find_kind(d) for c, d in declared.items()}, frame)
    table = Table(
        name=name,
        source=place,
        unit=None if isinstance(unit, Via) else _find_unit(unit, fields),
        max_rows=_check_max_rows(unit, _check_unique(unit, max_rows) if unique else max_rows),
        adjacency=adjacency,
        fields=_declare_fields(fields, declared),
        budget=budget,
        rows=_check_rows(rows),
        reach=_resolve_via(unit, fields, others) if isinstance(unit, Via) else None,
        min_people=_check_min_people(min_people),
        unique=bool(unique),
        memory=_check_memory(memory),
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
    place = _build_source(name, source, relation)
    earlier = next((other for other in others.values() if other.name.lower() == name.lower()), None)
    if isinstance(earlier, Table) or (earlier is not None and earlier.name != name):
        raise CatalogError("table-exists-publish", table=earlier.name)
    for other in others.values():
        if isinstance(other, Table) and _is_same_source(place, other.source, engine):
            raise CatalogError("source-protected-publish", table=other.name)
    if frame is not None:
        check_frame(engine.holder(frame), name)
    if place.format == "frame":
        engine.attach(name, frame)
    declared = {column: _read_declared(column, kind) for column, kind in kinds.items()}
    fields = engine.fields(place, {column: _find_kind(kind) for column, kind in declared.items()}, frame)
    table = Public(name, place, _declare_fields(fields, declared))
    contents, table = engine.contents(table, _PUBLIC_KEYS), count_public(engine, table)
    return replace(
        table, fields=tuple(_declare_public_field(field, contents.get(field.name)) for field in table.fields)
    )


def count_public(engine: Engine, table: Public) -> Public:
    """Count the rows of a public table and how often values repeat, which joins are bounded by."""
    rows, repeats = engine.count(table)
    return replace(table, rows=rows, repeats=tuple(sorted(repeats.items())))


def _declare_public_field(field: Field, values: tuple[Any, ...] | None) -> Field:
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
        raise CatalogError("table-name-malformed", given=name)


def _resolve_via(via: Via, fields: tuple[Field, ...], others: Mapping[str, Table | Public]) -> Reach:
    """Resolve a unit that another protected table knows."""
    there = next((t for t in others.values() if t.name.lower() == str(via.table).lower()), None)
    if not isinstance(there, Table) or there.row_level:
        raise CatalogError("table-without-unit-column", table=via.table)
    if str(there.owner).lower() != str(via.unit).lower():
        raise CatalogError("unit-of-other-table", table=there.name, unit=there.owner, given=via.unit)
    sides = [side.strip().strip('"').split(".")[-1] for side in str(via.on).split("=")]
    mine = [next((f for f in fields if f.name.lower() == side.lower()), None) for side in sides]
    theirs = [there.field(side) for side in sides]
    pairs = [(mine[0], theirs[1]), (mine[1], theirs[0])] if len(sides) == 2 else []
    for field in (f for f in (*fields, *there.fields) if f.name.lower() in map(str.lower, sides)):
        if not field.readable:
            raise CatalogError("link-column-unreadable", column=field.name)
    for here, other in pairs:
        if here is not None and other is not None:
            if here.type != other.type:
                raise CatalogError(
                    "link-types", here=here.name, here_type=here.type, there=other.name, there_type=other.type
                )
            return Reach(there, here.name, other.name)
    raise CatalogError("link-malformed", link=via.on, table=there.name)


def _check_min_people(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_ROWS:
        raise CatalogError("min-people-not-positive")
    return value


def _check_memory(value: str) -> Memory:
    if value == "own":
        return "own"
    if value == "common":
        return "common"
    raise CatalogError("memory-unknown", given=value)


def check_frame(holder: str | None, name: str) -> None:
    """Refuse a frame that another table has: one source has one budget."""
    if holder not in (None, name):
        raise CatalogError("frame-protected", table=holder)


def _build_source(name: str, source: Any, relation: str | None) -> Source:
    if _is_spark_session(source):
        return Source("spark", "session", relation or name)
    if not isinstance(source, str | Path):
        _refuse_spark_frame(source)
        return Source("frame", name)
    if isinstance(source, str) and is_address(source):
        return _build_postgres_source(name, source, relation)
    if isinstance(source, str) and source.startswith(_CLUSTERS):
        return Source("spark", source, relation or name)
    path = Path(source).expanduser()
    kind = _FORMATS.get(path.suffix.lower())
    if kind is None:
        raise CatalogError("format-unknown", source=source, endings=tuple(_FORMATS))
    if set(str(path.resolve())) & _PATTERN:
        raise CatalogError("path-is-pattern", source=source, signs=tuple(sorted(_PATTERN)))
    if not path.is_file():
        raise CatalogError("file-missing", path=source)
    refuse_copied_files(path)
    return Source(kind, str(path.resolve()), (relation or name) if kind == "duckdb" else "")


def _refuse_spark_frame(source: Any) -> None:
    if type(source).__module__.split(".")[0] == "pyspark":
        raise CatalogError("spark-frame-computed")


def _is_spark_session(source: Any) -> bool:
    """Say whether a source is a session of Spark, which need not be installed."""
    kind = type(source)
    return kind.__module__.split(".")[0] == "pyspark" and kind.__name__ == "SparkSession"


def _build_postgres_source(name: str, source: str, relation: str | None) -> Source:
    """Name a table in a Postgres database by its schema and its name there."""
    address = read_address(source)
    wanted = relation or name
    if "." in wanted and address.schema is not None:
        raise CatalogError("schema-named-twice")
    schema, _, table = wanted.rpartition(".")
    return Source("postgres", address.url, f"{schema or address.schema or 'public'}.{table}")


def _read_declared(column: str, value: Declared | str) -> Declared:
    if isinstance(value, Range | Keys | Kind):
        return value
    try:
        return Kind(value)
    except ValueError:
        kinds = tuple(kind.value for kind in Kind if kind is not Kind.OTHER)
        raise CatalogError("column-declaration", column=column, given=value, kinds=kinds) from None


def _find_kind(declared: Declared) -> str:
    if isinstance(declared, Range):
        if isinstance(declared.low, datetime.datetime):
            return Kind.TIMESTAMP
        return Kind.DATE if isinstance(declared.low, datetime.date) else Kind.REAL
    return declared.kind if isinstance(declared, Keys) else declared


def _find_unit(unit: str | None, fields: tuple[Field, ...]) -> str | None:
    if unit is None:
        return None
    found = next((f for f in fields if f.name.lower() == unit.lower()), None)
    if found is None:
        raise CatalogError(
            "unit-column-unknown",
            unit=unit,
            nearest=suggest_name(unit, _list_names(fields)),
            columns=tuple(_list_names(fields)),
        )
    if found.kind not in _UNIT_KINDS:
        raise CatalogError("unit-kind", unit=unit, kind=found.kind.value)
    return found.name


def _check_max_rows(unit: str | Via | None, max_rows: int | None) -> int:
    if unit is None:
        if max_rows not in (None, 1):
            raise CatalogError("unit-missing-max-rows")
        return 1
    if max_rows is None:
        raise CatalogError("max-rows-missing")
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or not 1 <= max_rows <= _MAX_ROWS:
        raise CatalogError("max-rows-outside", most=_MAX_ROWS)
    return max_rows


def _check_unique(unit: str | Via | None, max_rows: int | None) -> int:
    """Return the bound of a table where nobody has two rows."""
    if not isinstance(unit, str):
        raise CatalogError("unique-not-unit")
    if max_rows not in (None, 1):
        raise CatalogError("unique-max-rows")
    return 1


def _check_rows(rows: int | None) -> int | None:
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
        raise CatalogError("rows-not-positive")
    return rows


def _declare_fields(fields: tuple[Field, ...], declared: Mapping[str, Declared]) -> tuple[Field, ...]:
    lowered = {column.lower(): value for column, value in declared.items()}
    known = {field.name.lower() for field in fields}
    if len(known) != len(fields):
        raise CatalogError("columns-differ-in-case")
    for column in declared:
        if column.lower() not in known:
            raise CatalogError(
                "declared-column-unknown",
                column=column,
                nearest=suggest_name(column, _list_names(fields)),
                columns=tuple(_list_names(fields)),
            )
    return tuple(_declare_field(field, lowered.get(field.name.lower())) for field in fields)


def _declare_field(field: Field, declared: Declared | None) -> Field:
    if isinstance(declared, Range):
        if declared.wanted:
            return _declare_auto_range(field, declared)
        if not (field.kind.numeric if isinstance(declared.low, Fraction) else field.kind is _find_kind(declared)):
            raise CatalogError("range-kind", column=field.name, kind=field.kind.value, range=str(declared))
        return replace(field, range=declared)
    if isinstance(declared, Keys):
        if field.kind is not declared.kind:
            raise CatalogError("keys-kind", column=field.name, kind=field.kind.value, declared=declared.kind.value)
        return replace(field, keys=declared)
    if declared is not None and declared is not field.kind:
        raise CatalogError("column-kind", column=field.name, kind=field.kind.value, declared=declared.value)
    return field


def _declare_auto_range(field: Field, declared: Range) -> Field:
    if not field.kind.numeric and field.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise CatalogError("column-without-range", column=field.name, kind=field.kind.value)
    return replace(field, range=declared)


def _check_others(table: Table, others: Mapping[str, Table | Public], engine: Engine) -> None:
    for other in others.values():
        same_name = other.name.lower() == table.name.lower()
        if same_name and other.name != table.name:
            raise CatalogError("table-exists", table=other.name)
        if not same_name and _is_same_source(table.source, other.source, engine):
            raise CatalogError("source-protected", table=other.name)
    earlier = others.get(table.name)
    if isinstance(earlier, Public):
        raise CatalogError("public-table-exists", table=table.name)
    if earlier is not None:
        _check_unchanged(table, earlier)


def _check_unchanged(table: Table, earlier: Table) -> None:
    """What the ledger's entries mean must not change under them."""
    for part in ("unit", "reach", "adjacency", "budget", "source"):
        if getattr(table, part) != getattr(earlier, part):
            raise CatalogError("table-declared-otherwise", table=table.name, part=part)


def _is_same_source(one: Source, other: Source, engine: Engine) -> bool:
    if "frame" in (one.format, other.format):
        return False
    if one.format in SERVED_FORMATS or other.format in SERVED_FORMATS:
        # Names there tell upper from lower case, and one table has many.
        return one == other or _is_same_identity(engine.identity(one), engine.identity(other))
    try:
        same = Path(one.location).samefile(other.location)
    except OSError:
        same = one.location == other.location
    return same and one.relation.lower() == other.relation.lower()


def _is_same_identity(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    """Say whether two sources are one, or one holds the files of the other."""
    if one is None or other is None:
        return False
    if one[0] == other[0] == "path":
        return Path(one[1]).is_relative_to(other[1]) or Path(other[1]).is_relative_to(one[1])
    return one == other


def _list_names(fields: tuple[Field, ...]) -> list[str]:
    return [field.name for field in fields]
