"""`jali tables`: what questions can be about."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import clean, facts
from jali.documents.tables import SHOWN_KEYS, public_json, table_json

if TYPE_CHECKING:
    from jali.query.catalog import Field, Public, Range, Table


def tables(database: DatabasePath, as_json: AsJson = False) -> None:
    """List the tables: whose privacy counts, within which bounds and budget, every column, and the public ones.

    Example: [bold]jali tables clinic.jali[/bold]
    """
    with open_database(database) as opened:
        found, public = opened.tables(), opened.public_tables()
    if as_json:
        write_json({"tables": [table_json(table) for table in found], "public": [public_json(p) for p in public]})
        return
    ink = ink_for(sys.stdout)
    described = [(t.name, table_facts(t)) for t in found] + [(p.name, public_facts(p)) for p in public]
    blocks = [f"{ink.strong(clean(name))}\n{facts(pairs, ink=ink)}" for name, pairs in described]
    print("\n\n".join(blocks) or "No table is protected yet.")


def table_facts(table: Table) -> list[tuple[str, str]]:
    """Say what was declared about a table."""
    guess = [] if table.rows is None else [("Rows", f"{table.rows:,}, a public guess")]
    least = [("Groups", f"shown from {table.min_people:,} people on")] if table.min_people > 1 else []
    return [
        ("Unit", clean(_unit(table))),
        ("Adjacency", table.adjacency.value),
        ("Budget", f"{table.budget}, for ever"),
        *guess,
        *least,
        *([] if table.memory == "own" else [("Memory", "common: everybody's answers are recalled")]),
        *([] if table.copy is None else [("Prepared", "questions are answered from a copy")]),
        *((clean(field.name), _field(field)) for field in table.fields),
    ]


def public_facts(table: Public) -> list[tuple[str, str]]:
    """Say what is known about a public table."""
    return [("Public", "nobody's secret"), *((clean(field.name), _field(field)) for field in table.fields)]


def _unit(table: Table) -> str:
    if table.row_level:
        return "each row is a person"
    reach = table.reach
    way = "" if reach is None else f", through {reach.table.name} on {reach.here} = {reach.there}"
    if table.unique:
        return f"{table.owner}, one row each by a key of the source"
    return f"{table.owner}{way}, at most {table.max_rows:,} row{'' if table.max_rows == 1 else 's'} each"


def _field(field: Field) -> str:
    if field.keys is not None:
        values = field.keys.values
        more = ", …" if len(values) > SHOWN_KEYS else ""
        shown = ", ".join("NULL" if value is None else str(value) for value in values[:SHOWN_KEYS])
        return f"{field.kind.value}, {len(values):,} key{'' if len(values) == 1 else 's'}: {clean(shown)}{more}"
    if field.range is not None:
        return f"{field.kind.value} {_range(field.range)}"
    return field.kind.value


def _range(declared: Range) -> str:
    """Write a range, and what it cost where it was bought."""
    if declared.wanted:
        return "whose range is still to be bought"
    cost = "" if declared.epsilon is None else f", bought for epsilon {_end(declared.epsilon)}"
    return f"from {_end(declared.low)} to {_end(declared.high)}{cost}"


def _end(value: Any) -> str:
    from jali.privacy import decimal

    return decimal(value) if isinstance(value, Fraction) else str(value)
