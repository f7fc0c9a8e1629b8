"""`jali protect`, `jali publish` and `jali grant`: declare protected tables, public tables and grants."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.column_options import find_guessed_integers, read_columns
from jali.cli.options import AsJson, BudgetDelta, BudgetEpsilon, DatabasePath, Relation, open_database
from jali.cli.output import choose_ink, write_json
from jali.cli.verbs.tables import list_public_facts, list_table_facts
from jali.client.account_documents import encode_remaining
from jali.client.catalog_documents import encode_public_table, encode_table
from jali.display.text import clean, write_facts
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.catalog.columns import Via
    from jali.catalog.tables import Table


CSV = (
    "CSV is read line by line: one record per line, commas, quotes doubled inside quotes; other lines are "
    "dropped. Columns are text unless declared."
)


def protect(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The name of the table in questions.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A Parquet, CSV or DuckDB file; postgresql://...; spark://...")
    ],
    epsilon: BudgetEpsilon,
    delta: BudgetDelta = "0",
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the privacy unit.")] = None,
    no_unit: Annotated[bool, typer.Option("--no-unit", help="Each row is a person.")] = False,
    via: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The protected table that has the unit column."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="EQUALITY", help="The link to that table: 'column here = unique column there'."),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Contribution bound: rows per person.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="COLUMN=LOW:HIGH",
            help="Clamping bounds, numbers or dates. Times are written LOW..HIGH. COLUMN=auto estimates a "
            "range from the budget. Repeatable.",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--keys",
            metavar="COLUMN=A,B,...",
            help="The group keys: a list, or @FILE with one per line; COLUMN:text=1,2 sets the kind. Repeatable.",
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="COLUMN=KIND", help="The type of a CSV column, such as date. Repeatable."),
    ] = None,
    adjacency: Annotated[str, typer.Option(metavar="NAME", help="add-remove, or replace-one.")] = "add-remove",
    rows: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="A public estimate of the number of rows, for forecasts only."),
    ] = None,
    min_people: Annotated[
        int, typer.Option(metavar="NUMBER", help="Release only groups of at least this many people.")
    ] = 1,
    unique: Annotated[
        bool, typer.Option("--unique", help="Each person has one row: a key of the DuckDB table ensures it.")
    ] = False,
    memory: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Which released answers are reused: own, or common for those of all analysts."
        ),
    ] = "own",
    relation: Relation = None,
    as_json: AsJson = False,
) -> None:
    """Protect a table. Its data is then only released with noise, within a budget that never resets.

    Everything declared here is public; nothing is derived from the data.

    Example: [bold]jali protect clinic.jali visits visits.parquet --unit patient_id --max-rows 5
    --range age=0:120 --keys ward=A,B,C --epsilon 3 --delta 1e-6 --rows 200000[/bold]

    A unit column in another table: [bold]jali protect shop.jali lines lines.parquet --unit customer --via orders
    --on 'order_id = id' --max-rows 50 --range price=0:100 --range day=2025-01-01:2025-12-31 --epsilon 3[/bold]
    """
    if no_unit == (unit is not None):
        raise CatalogError("protect-unit-missing")
    from jali.privacy import Budget

    columns = read_columns(ranges or [], keys or [], kinds or [])
    with open_database(database) as opened:
        before = opened.tables.version(table)
        try:
            made = opened.protect(
                table,
                source,
                unit=_read_unit(unit, via, on),
                budget=Budget(epsilon=epsilon, delta=delta),
                max_rows=max_rows,
                columns=columns,
                adjacency=adjacency,
                rows=rows,
                min_people=min_people,
                unique=unique,
                memory=memory,
                relation=relation,
            )
        except CatalogError as error:
            raise _explain_keys(error, keys or []) from None
        version = opened.tables.version(made.name)
    _write_table(made, before, version, as_json=as_json)


def _read_unit(unit: str | None, via: str | None, on: str | None) -> str | Via | None:
    """Return the unit: a column, one that is reached through another table, or none."""
    from jali.catalog.columns import Via

    if via is None and on is None:
        return unit
    if unit is None or via is None or on is None:
        raise CatalogError("protect-via-incomplete")
    return Via(via, on=on, unit=unit)


def _explain_keys(error: CatalogError, keys: list[str]) -> CatalogError:
    """Where keys were taken for integers and the column is not one, say how to write text."""
    for column in find_guessed_integers(keys) if error.code in ("keys-kind", "column-kind") else ():
        if error.fields["column"] == column:
            return CatalogError("key-taken-for-integer", problem=error.phrase, column=column)
    return error


def _write_table(table: Table, before: int, version: int, *, as_json: bool) -> None:
    if as_json:
        write_json(encode_table(table) | {"version": version})
        return
    print(_format_headline(table.name, before, version))
    print(write_facts(list_table_facts(table)))
    if table.source.format == "csv":
        print(CSV)


def _format_headline(name: str, before: int, version: int) -> str:
    if before == 0:
        return f"Protected {name}."
    if before == version:
        return f"{name} was protected like this already (version {version}). Nothing changed."
    return f"Changed {name} (version {version}). What was spent stays spent."


def publish(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The name of the table in questions.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A Parquet, CSV or DuckDB file; postgresql://...; spark://...")
    ],
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=KIND", help="The type of a column of a CSV file: floor=integer. Repeatable."),
    ] = None,
    relation: Relation = None,
    as_json: AsJson = False,
) -> None:
    """Declare a public table, which questions may join freely.

    Its values define keys and ranges, read once, now. Publish it again when it changes. Columns of
    a CSV file are text, unless --kind gives their type.

    Example: [bold]jali publish clinic.jali wards wards.csv[/bold]
    """
    with open_database(database) as opened:
        before = opened.tables.version(table)
        kinds = read_columns([], [], kind or [])
        made = opened.publish(table, source, kinds={c: str(k) for c, k in kinds.items()}, relation=relation)
        version = opened.tables.version(made.name)
    if as_json:
        write_json(encode_public_table(made) | {"version": version})
        return
    ink = choose_ink(sys.stdout)
    verb = "Published" if before == 0 else "Published again"
    print(f"{verb} {clean(made.name)} (version {version}). The whole table is public.")
    print(write_facts(list_public_facts(made), ink=ink))


def grant(
    database: DatabasePath,
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="The analyst.")],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table.")],
    epsilon: BudgetEpsilon,
    delta: BudgetDelta = "0",
    as_json: AsJson = False,
) -> None:
    """Grant an analyst a budget on a table, within the budget of the table.

    Example: [bold]jali grant clinic.jali ana visits --epsilon 1[/bold]
    """
    from jali.privacy import Budget

    budget = Budget(epsilon=epsilon, delta=delta)
    with open_database(database) as opened:
        opened.grant(analyst, table, budget)
        left = opened.remaining(table, analyst=analyst)
    if as_json:
        write_json({"analyst": analyst, "table": table, "remaining": encode_remaining(left)})
    else:
        print(f"{analyst} may spend {budget} on {table}; remaining {left}.")
