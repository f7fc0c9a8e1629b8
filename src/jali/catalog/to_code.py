"""Write a declaration as the Python call or the command that would make it."""

from __future__ import annotations

import csv
import datetime
import io
import re
import shlex
from collections.abc import Iterator
from fractions import Fraction

from jali.catalog.columns import Field, Keys, Kind, Range, Via
from jali.catalog.tables import Table
from jali.catalog.value_domain import Value

_INTEGER = re.compile(r"[+-]?[0-9]+")


def write_python_call(table: Table) -> str:
    """Write the `db.protect(...)` that declares a table like this."""
    source = "frame" if table.source.format == "frame" else repr(table.source.location)
    lines = [f"    {table.name!r},", f"    {source},", f"    unit={_write_unit(table)},"]
    lines += [] if table.row_level else [f"    max_rows={table.max_rows},"]
    columns = [f"        {f.name!r}: {declared}," for f in table.fields if (declared := _write_column(table, f))]
    lines += ["    columns={", *columns, "    },"] if columns else []
    lines += [f"    {name}," for name in _write_options(table)]
    return "\n".join(["db.protect(", *lines, ")"])


def _write_options(table: Table) -> Iterator[str]:
    parts = f"delta_events={to_exact(table.budget.delta_events)!r}"
    usual = table.budget.delta_events == table.budget.delta / 2
    budget = f"epsilon={to_exact(table.budget.epsilon)!r}, delta={to_exact(table.budget.delta)!r}"
    yield f"budget=jali.Budget({budget}{'' if usual else ', ' + parts})"
    if table.adjacency.value != "add-remove":
        yield f"adjacency={table.adjacency.value!r}"
    if table.rows is not None:
        yield f"rows={table.rows}"
    if table.min_people > 1:
        yield f"min_people={table.min_people}"
    if table.source.relation:
        yield f"relation={table.source.relation!r}"
    if table.unique:
        yield "unique=True"
    if table.memory != "own":
        yield f"memory={table.memory!r}"


def _write_unit(table: Table) -> str:
    via = _build_via(table)
    return repr(table.unit) if via is None else f"jali.{via!r}"


def _build_via(table: Table) -> Via | None:
    reach = table.reach
    if reach is None:
        return None
    return Via(reach.table.name, on=f"{reach.here} = {reach.there}", unit=str(table.owner))


def _write_column(table: Table, field: Field) -> str:
    if field.keys is not None:
        return f"jali.Keys({list(field.keys.values)!r})"
    if field.range is not None:
        return _write_range(field.range)
    needed = table.source.format == "csv" and field.kind is not Kind.TEXT
    return repr(field.kind.value) if needed else ""


def _write_range(declared: Range) -> str:
    if declared.low is None or declared.high is None:
        return repr(declared).replace("Range", "jali.Range", 1)
    low, high = (repr(to_exact(end)) if isinstance(end, Fraction) else repr(end) for end in _get_ends(declared))
    return f"jali.Range({low}, {high})"


def _get_ends(declared: Range) -> tuple[Fraction | datetime.date, Fraction | datetime.date]:
    assert declared.low is not None
    assert declared.high is not None
    return declared.low, declared.high


def to_exact(value: Fraction) -> int | float | str:
    """Return a number that is read as just this rational: a whole one, a short decimal, or text.

    Example:
        >>> to_exact(Fraction(3)), to_exact(Fraction(1, 10)), to_exact(Fraction(1, 3))
        (3, 0.1, '1/3')
    """
    if value.denominator == 1:
        return int(value)
    short = float(value)
    return short if Fraction(repr(short)) == value else str(value)


def write_shell_call(table: Table, database: str) -> str:
    """Write the `jali protect` that declares a table like this."""
    words = ["jali", "protect", database, table.name, table.source.location, *_list_shell_words(table)]
    return " ".join(shlex.quote(word) for word in words)


def _list_shell_words(table: Table) -> Iterator[str]:
    via = _build_via(table)
    yield from ["--no-unit"] if table.row_level else ["--unit", str(table.owner)]
    yield from [] if via is None else ["--via", via.table, "--on", via.on]
    yield from [] if table.row_level else ["--max-rows", str(table.max_rows)]
    for field in table.fields:
        yield from _list_column_words(table, field)
    yield from ["--epsilon", str(to_exact(table.budget.epsilon)), "--delta", str(to_exact(table.budget.delta))]
    yield from ["--adjacency", table.adjacency.value] if table.adjacency.value != "add-remove" else []
    yield from [] if table.rows is None else ["--rows", str(table.rows)]
    yield from ["--min-people", str(table.min_people)] if table.min_people > 1 else []
    yield from ["--relation", table.source.relation] if table.source.relation else []
    yield from ["--unique"] if table.unique else []
    yield from ["--memory", table.memory] if table.memory != "own" else []


def _list_column_words(table: Table, field: Field) -> list[str]:
    if field.keys is not None:
        return ["--keys", _write_shell_keys(field.name, field.keys)]
    if field.range is not None and not field.range.wanted:
        return ["--range", f"{field.name}={'..'.join(_write_end(end) for end in _get_ends(field.range))}"]
    if field.range is not None:
        return ["--range", f"{field.name}=auto"]
    needed = table.source.format == "csv" and field.kind is not Kind.TEXT
    return ["--kind", f"{field.name}={field.kind.value}"] if needed else []


def _write_end(end: Fraction | datetime.date) -> str:
    return str(to_exact(end)) if isinstance(end, Fraction) else end.isoformat()


def _write_shell_keys(name: str, keys: Keys) -> str:
    """Write keys with commas between them; NULL has no sign on the command line and is left out."""
    words = [_write_key(key) for key in keys.values if key is not None]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(words)
    guessed = Kind.INTEGER if all(_INTEGER.fullmatch(word) for word in words) else Kind.TEXT
    kind = "" if keys.kind is guessed else f":{keys.kind.value}"
    return f"{name}{kind}={line.getvalue()}"


def _write_key(key: Value) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    return key.isoformat() if isinstance(key, datetime.date) else str(key)
