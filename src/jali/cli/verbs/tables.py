"""`jali tables`: list the tables that questions can be about."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.cli.options import AsJson, DatabasePath, open_database
from jali.cli.output import choose_ink, write_json
from jali.client.catalog_documents import SHOWN_KEYS, encode_public_table, encode_table
from jali.display.text import clean, write_facts

if TYPE_CHECKING:
    from jali.catalog.columns import Field, Range
    from jali.catalog.tables import Public, Table


def tables(database: DatabasePath, as_json: AsJson = False) -> None:
    """List protected tables with privacy unit, bounds, budget and columns, and public tables.

    Example: [bold]jali tables clinic.jali[/bold]
    """
    with open_database(database) as opened:
        found, public = opened.tables.list(), opened.tables.list_public()
    if as_json:
        write_json(
            {
                "tables": [encode_table(table) for table in found],
                "public": [encode_public_table(p) for p in public],
            }
        )
        return
    ink = choose_ink(sys.stdout)
    described = [(t.name, list_table_facts(t)) for t in found] + [(p.name, list_public_facts(p)) for p in public]
    blocks = [f"{ink.strong(clean(name))}\n{write_facts(pairs, ink=ink)}" for name, pairs in described]
    print("\n\n".join(blocks) or "No table is protected yet.")


def list_table_facts(table: Table) -> list[tuple[str, str]]:
    """Say what was declared about a table."""
    guess = [] if table.rows is None else [("Rows", f"{table.rows:,}, a public guess")]
    least = [("Groups", f"shown from {table.min_people:,} people on")] if table.min_people > 1 else []
    return [
        ("Unit", clean(_format_unit(table))),
        ("Adjacency", table.adjacency.value),
        ("Budget", f"{table.budget}, for ever"),
        *guess,
        *least,
        *([] if table.memory == "own" else [("Memory", "common: everybody's answers are recalled")]),
        *([] if table.copy is None else [("Prepared", "questions are answered from a copy")]),
        *((clean(field.name), _format_column(field)) for field in table.fields),
    ]


def list_public_facts(table: Public) -> list[tuple[str, str]]:
    """Say what is known about a public table."""
    return [("Public", "nobody's secret"), *((clean(field.name), _format_column(field)) for field in table.fields)]


def _format_unit(table: Table) -> str:
    if table.row_level:
        return "each row is a person"
    reach = table.reach
    way = "" if reach is None else f", through {reach.table.name} on {reach.here} = {reach.there}"
    if table.unique:
        return f"{table.owner}, one row each by a key of the source"
    return f"{table.owner}{way}, at most {table.max_rows:,} row{'' if table.max_rows == 1 else 's'} each"


def _format_column(field: Field) -> str:
    if field.keys is not None:
        values = field.keys.values
        more = ", …" if len(values) > SHOWN_KEYS else ""
        shown = ", ".join("NULL" if value is None else str(value) for value in values[:SHOWN_KEYS])
        return f"{field.kind.value}, {len(values):,} key{'' if len(values) == 1 else 's'}: {clean(shown)}{more}"
    if field.range is not None:
        return f"{field.kind.value} {_format_range(field.range)}"
    return field.kind.value


def _format_range(declared: Range) -> str:
    """Write a range, and what it cost where it was bought."""
    if declared.wanted:
        return "whose range is not estimated yet"
    cost = "" if declared.epsilon is None else f", estimated with epsilon {_format_bound(declared.epsilon)}"
    return f"from {_format_bound(declared.low)} to {_format_bound(declared.high)}{cost}"


def _format_bound(value: Any) -> str:
    from jali.privacy import decimal

    return decimal(value) if isinstance(value, Fraction) else str(value)
