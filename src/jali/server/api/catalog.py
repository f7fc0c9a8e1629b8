"""Tables, budgets and grants: what questions can be about, and what may be spent."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query

from jali.database import Account
from jali.database.accounts import accounts_of_others
from jali.documents.accounts import left_json, told_account_json
from jali.documents.releases import without_folders
from jali.documents.tables import public_json, table_json
from jali.errors import CatalogError
from jali.planner import PLANS
from jali.privacy import Budget
from jali.query.catalog import Declared, Keys, Range, Via
from jali.serialization.schema import VALUES
from jali.server.api.doors import AnyCaller, Curator, TheHouse
from jali.server.api.envelope import not_found, refuse_request
from jali.server.api.forms import BudgetForm, ColumnForm, GrantForm, PublicForm, TableForm, read_part
from jali.server.api.told import EXCEEDED
from jali.server.house import House
from jali.server.people.caller import Caller

router = APIRouter()


@router.get("/tables", tags=["tables"])
async def tables(house: TheHouse, declarations: bool = False) -> dict[str, Any]:
    """List the tables as declared: units, bounds, ranges, keys, budgets. All of it is public knowledge.

    With their declarations a client makes the same tables.
    """
    return await house.desk.in_front(partial(tables_document, house, declarations=declarations))


def tables_document(house: House, *, declarations: bool = False) -> dict[str, Any]:
    """Return every table; with the declarations of protected ones, without the curator's folders."""
    database = house.database
    found = database.tables()
    told: dict[str, Any] = {
        "tables": [table_json(table) for table in found],
        "public": [public_json(table) for table in database.public_tables()],
    }
    return told | (
        {"declarations": [without_folders(PLANS.encode(table)) for table in found]} if declarations else {}
    )


@router.get("/tables/{name}", tags=["tables"])
async def table(name: str, house: TheHouse) -> dict[str, Any]:
    """Show one table as declared."""

    def found() -> dict[str, Any]:
        for one in (one for part in tables_document(house).values() for one in part):
            if one["table"].casefold() == name.casefold():
                return dict(one)
        raise not_found("table of this name")

    return await house.desk.in_front(found)


@router.get("/tables/{name}/parts", tags=["tables"])
async def parts(
    name: str, caller: AnyCaller, house: TheHouse, by: Annotated[str, Query(max_length=10_000)]
) -> dict[str, list[Any]]:
    """Return the disjoint parts of a table by an expression with declared keys; dates say what they are."""

    def found() -> dict[str, list[Any]]:
        return {"keys": VALUES.to_plain(house.database.part_keys(name, by))}

    return await house.desk.planning(caller.token, found)


@router.post("/tables", tags=["curator"], status_code=201, responses=EXCEEDED)
async def protect(form: TableForm, caller: Curator, house: TheHouse) -> dict[str, Any]:
    """Protect a table: from now on it is read only through noise, within a budget that never resets."""
    return await house.desk.in_front(partial(protect_table, house, caller, form))


def protect_table(house: House, caller: Caller, form: TableForm) -> dict[str, Any]:
    """Protect a table for a curator, and write into the trail who did it."""
    source = inside(house.settings.data, form.source)
    with house.database.access.acting(caller.name, "protect", f"{form.table}, from {form.source}"):
        made = house.database.protect(
            form.table,
            source,
            unit=form.unit if form.via is None else Via(form.via.table, on=form.via.on, unit=form.unit or ""),
            budget=budget_of(form.budget),
            max_rows=form.max_rows,
            columns={name: _declared(column) for name, column in form.columns.items()},
            adjacency=form.adjacency,
            rows=form.rows,
            relation=form.relation,
            min_people=form.min_people,
            unique=form.unique,
            memory=form.memory,
        )
    return table_json(made) | {"version": house.database.version(made.name)}


@router.post("/tables/{name}/refresh", tags=["curator"])
async def refresh(name: str, caller: Curator, house: TheHouse) -> dict[str, Any]:
    """Say that the data of a table is new: questions are answered anew. Budgets never reset."""
    return {"table": await house.desk.in_front(partial(refresh_table, house, caller, name))}


def refresh_table(house: House, caller: Caller, name: str) -> str:
    """Say for a curator that the data of a table is new, and write into the trail who did it."""
    known = house.database.table_named(name).name
    with house.database.access.acting(caller.name, "refresh", known):
        house.database.refresh(known)
    return known


@router.post("/public", tags=["curator"], status_code=201)
async def publish(form: PublicForm, caller: Curator, house: TheHouse) -> dict[str, Any]:
    """Declare a public table: its rows are nobody's secret."""

    def published() -> dict[str, Any]:
        source = inside(house.settings.data, form.source)
        with house.database.access.acting(caller.name, "publish", f"{form.table}, from {form.source}"):
            made = house.database.publish(form.table, source, kinds=form.kinds, relation=form.relation)
        return public_json(made)

    return await house.desk.in_front(published)


@router.get("/budgets", tags=["budgets"])
async def budgets(caller: AnyCaller, house: TheHouse) -> dict[str, Any]:
    """Show what may be spent, what was spent and what is left: of tables, and of your own grants."""
    return await house.desk.in_front(partial(budgets_document, house, caller))


def budgets_document(house: House, caller: Caller) -> dict[str, Any]:
    """Return the accounts that concern a caller: all of them for a curator."""
    return {"accounts": [told_account_json(account) for account in accounts_for(house, caller)]}


def accounts_for(house: House, caller: Caller) -> tuple[Account, ...]:
    """Return the accounts that a caller may see: what was spent on a table may tell what others have asked."""
    from jali.ledger.debit import grant_account, table_account

    accounts = house.database.accounts()
    if caller.analyst is None:
        return accounts
    # By whole names: that of one analyst may be the beginning of another's.
    tables = house.database.tables()
    shown = {grant_account(caller.analyst, table.name) for table in tables}
    shown |= {table_account(table.name) for table in tables} - accounts_of_others(tables, caller.analyst)
    return tuple(account for account in accounts if account.name in shown)


@router.get("/budgets/{table}", tags=["budgets"])
async def budget(
    table: str, caller: AnyCaller, house: TheHouse, part: Annotated[str | None, Query(max_length=10_000)] = None
) -> dict[str, Any]:
    """Return the largest loss that a further question of yours on a table, or a part of it, would be granted."""
    asked = None if part is None else read_part(part)

    def left() -> dict[str, Any]:
        if table.casefold() not in {one.name.casefold() for one in house.database.tables()}:
            raise not_found("protected table of this name")
        found = house.database.remaining(table, analyst=caller.analyst, part=asked)
        return {"table": table} | left_json(found)

    return await house.desk.in_front(left)


@router.post("/grants", tags=["curator"], status_code=201)
async def grant(form: GrantForm, caller: Curator, house: TheHouse) -> dict[str, Any]:
    """Let an analyst spend up to a budget on a table, within the table's own."""
    return await house.desk.in_front(partial(grant_budget, house, caller, form))


def grant_budget(house: House, caller: Caller, form: GrantForm) -> dict[str, Any]:
    """Grant a budget for a curator, and write into the trail who did it."""
    wanted = budget_of(form.budget)
    with house.database.access.acting(caller.name, "grant", f"{form.analyst} on {form.table}: {wanted}"):
        house.database.grant(form.analyst, form.table, wanted)
    left = house.database.remaining(form.table, analyst=form.analyst)
    return {"analyst": form.analyst, "table": form.table, "remaining": left_json(left)}


def budget_of(form: BudgetForm) -> Budget:
    """Read a budget, exactly."""
    return Budget(epsilon=form.epsilon, delta=form.delta)


def inside(directory: Path, name: str) -> Path:
    """Return a file below the data directory; whatever lies elsewhere is refused, and not looked at."""
    root = directory.resolve()
    try:
        place = (root / name).resolve()
    except (OSError, ValueError, RuntimeError):
        place = root
    if place == root or not place.is_relative_to(root):
        raise refuse_request("file-outside-data", status=403, type_="OutsideData")
    return place


def _declared(form: ColumnForm) -> Declared | str:
    said = [value for value in (form.range, form.keys, form.kind) if value is not None]
    if len(said) != 1:
        raise CatalogError("column-form-empty")
    if form.keys is not None:
        return Keys(form.keys)
    if form.range == "auto":
        return Range(auto=True)
    if form.range is not None:
        from jali.query.written import read_end

        low, high = (read_end(str(end)) for end in form.range)
        return Range(low, high)
    return form.kind or ""
