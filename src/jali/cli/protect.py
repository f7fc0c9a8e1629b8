"""`jali protect`: from now on a table is read only through noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.declarations import guessed_integers, read_columns
from jali.cli.opening import open_database
from jali.cli.options import AsJson, BudgetDelta, BudgetEpsilon, DatabasePath, Relation
from jali.cli.tables import table_facts
from jali.cli.writing import write_json
from jali.display.text import facts
from jali.documents.tables import table_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.query.catalog import Table, Via

CSV = (
    "CSV is read line by line: one record per line, commas, quotes doubled inside quotes; other lines are "
    "dropped. Columns are text unless declared."
)


def protect(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="What questions will call it.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A Parquet, CSV or DuckDB file; postgresql://...; spark://...")
    ],
    epsilon: BudgetEpsilon,
    delta: BudgetDelta = "0",
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the person.")] = None,
    no_unit: Annotated[bool, typer.Option("--no-unit", help="Each row is a person.")] = False,
    via: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The protected table that has the unit, where this one has it not."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="EQUALITY", help="How rows find it: 'a column here = a unique column there'."),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="For how many rows one person may count.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="COLUMN=LOW:HIGH",
            help="Numbers or dates; values outside are clamped. Times are written LOW..HIGH. COLUMN=auto buys a "
            "range from the budget. Repeatable.",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--keys",
            metavar="COLUMN=A,B,...",
            help="The groups there can be: a list, or @FILE with one in each line; COLUMN:text=1,2 sets "
            "the kind. Repeatable.",
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="COLUMN=KIND", help="The kind of a CSV column, such as date. Repeatable."),
    ] = None,
    adjacency: Annotated[str, typer.Option(metavar="NAME", help="add-remove, or replace-one.")] = "add-remove",
    rows: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="A public guess of the rows, for forecasts only.")
    ] = None,
    min_people: Annotated[
        int, typer.Option(metavar="NUMBER", help="Show a group only if so many people stand behind it.")
    ] = 1,
    unique: Annotated[
        bool, typer.Option("--unique", help="Nobody has two rows: a key of the DuckDB table says so.")
    ] = False,
    memory: Annotated[
        str,
        typer.Option(metavar="NAME", help="Whose answers are recalled: own; or common, those of all analysts."),
    ] = "own",
    relation: Relation = None,
    as_json: AsJson = False,
) -> None:
    """Protect a table: from now on it is read only through noise, within a budget that never resets.

    Everything declared here is public knowledge; nothing is read off the data.

    Example: [bold]jali protect clinic.jali visits visits.parquet --unit patient_id --max-rows 5
    --range age=0:120 --keys ward=A,B,C --epsilon 3 --delta 1e-6 --rows 200000[/bold]

    A unit that another table has: [bold]jali protect shop.jali lines lines.parquet --unit customer --via orders
    --on 'order_id = id' --max-rows 50 --range price=0:100 --range day=2025-01-01:2025-12-31 --epsilon 3[/bold]
    """
    if no_unit == (unit is not None):
        raise CatalogError("protect-unit-missing")
    from jali.privacy import Budget

    columns = read_columns(ranges or [], keys or [], kinds or [])
    with open_database(database) as opened:
        before = opened.version(table)
        try:
            made = opened.protect(
                table,
                source,
                unit=_unit(unit, via, on),
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
            raise _with_remedy(error, keys or []) from None
        version = opened.version(made.name)
    _write(made, before, version, as_json=as_json)


def _unit(unit: str | None, via: str | None, on: str | None) -> str | Via | None:
    """Return the unit: a column, one that is reached through another table, or none."""
    from jali.query.catalog import Via

    if via is None and on is None:
        return unit
    if unit is None or via is None or on is None:
        raise CatalogError("protect-via-incomplete")
    return Via(via, on=on, unit=unit)


def _with_remedy(error: CatalogError, keys: list[str]) -> CatalogError:
    """Where keys were taken for integers and the column is not one, say how to write text."""
    for column in guessed_integers(keys) if error.code in ("keys-kind", "column-kind") else ():
        if error.fields["column"] == column:
            return CatalogError("key-taken-for-integer", problem=error.phrase, column=column)
    return error


def _write(table: Table, before: int, version: int, *, as_json: bool) -> None:
    if as_json:
        write_json(table_json(table) | {"version": version})
        return
    print(_headline(table.name, before, version))
    print(facts(table_facts(table)))
    if table.source.format == "csv":
        print(CSV)


def _headline(name: str, before: int, version: int) -> str:
    if before == 0:
        return f"Protected {name}."
    if before == version:
        return f"{name} was protected like this already (version {version}). Nothing changed."
    return f"Changed {name} (version {version}). What was spent stays spent."
