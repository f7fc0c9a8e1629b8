"""`jali tables`: what questions can be about."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import clean, facts

if TYPE_CHECKING:
    from jali.query.catalog import Field, Table

_SHOWN_KEYS = 5


def tables(database: DatabasePath, as_json: AsJson = False) -> None:
    """List the protected tables: whose privacy counts, within which bounds and budget, and every column.

    Example: [bold]jali tables clinic.jali[/bold]
    """
    with open_database(database) as opened:
        found = opened.tables()
    if as_json:
        write_json({"tables": [_table_json(table) for table in found]})
        return
    ink = ink_for(sys.stdout)
    blocks = [f"{ink.strong(clean(table.name))}\n{facts(table_facts(table), ink=ink)}" for table in found]
    print("\n\n".join(blocks) or "No table is protected yet.")


def table_facts(table: Table) -> list[tuple[str, str]]:
    """Say what was declared about a table."""
    unit = "each row is a person" if table.unit is None else f"{table.unit}, at most {table.max_rows:,} rows each"
    guess = [] if table.rows is None else [("Rows", f"{table.rows:,}, a public guess")]
    return [
        ("Unit", clean(unit)),
        ("Adjacency", table.adjacency.value),
        ("Budget", f"{table.budget}, for ever"),
        *guess,
        *((clean(field.name), _field(field)) for field in table.fields),
    ]


def _field(field: Field) -> str:
    from jali.privacy import decimal

    if field.range is not None:
        return f"{field.kind.value} from {decimal(field.range.low)} to {decimal(field.range.high)}"
    if field.keys is not None:
        values = field.keys.values
        more = ", …" if len(values) > _SHOWN_KEYS else ""
        shown = ", ".join("NULL" if value is None else str(value) for value in values[:_SHOWN_KEYS])
        return f"{field.kind.value}, {len(values):,} key{'' if len(values) == 1 else 's'}: {clean(shown)}{more}"
    return field.kind.value


def _table_json(table: Table) -> dict[str, Any]:
    return {
        "table": table.name,
        "unit": table.unit,
        "max_rows": table.max_rows,
        "adjacency": table.adjacency.value,
        "budget": {"epsilon": str(table.budget.epsilon), "delta": str(table.budget.delta)},
        "rows": table.rows,
        "columns": [_field_json(field) for field in table.fields],
    }


def _field_json(field: Field) -> dict[str, Any]:
    ends = None if field.range is None else [str(field.range.low), str(field.range.high)]
    keys = None if field.keys is None else [_plain(value) for value in field.keys.values[:_SHOWN_KEYS]]
    count = None if field.keys is None else len(field.keys.values)
    return {"name": field.name, "kind": field.kind.value, "range": ends, "keys": keys, "key_count": count}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else value.isoformat()
