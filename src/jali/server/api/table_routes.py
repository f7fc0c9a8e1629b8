"""Routes of tables, budgets and grants: what questions can be about, and what may be spent."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query

from jali.catalog.columns import Declared, Keys, Range, Via
from jali.client.account_documents import encode_account_with_decimals, encode_remaining_with_decimals
from jali.client.catalog_documents import encode_public_table, encode_table
from jali.client.release_documents import strip_folders
from jali.database import Account
from jali.errors import CatalogError
from jali.execution.accounts import find_hidden_accounts
from jali.planner import PLANS
from jali.privacy import Budget
from jali.serialization.schema import VALUES
from jali.server.auth import Caller
from jali.server.dependencies import AnyCaller, Curator, CurrentState
from jali.server.http_errors import refuse_not_found, refuse_request
from jali.server.schemas import EXCEEDED, BudgetForm, ColumnForm, GrantForm, PublicForm, TableForm, read_part
from jali.server.state import AppState

router = APIRouter()


@router.get("/tables", tags=["tables"])
async def tables(state: CurrentState, declarations: bool = False) -> dict[str, Any]:
    """List the declarations of the tables: units, bounds, ranges, keys, budgets. All of it is public.

    A client can rebuild the tables from their declarations.
    """
    return await state.jobs.run_without_data(partial(tables_document, state, declarations=declarations))


def tables_document(state: AppState, *, declarations: bool = False) -> dict[str, Any]:
    """Return every table; with the declarations of protected ones, without the curator's folders."""
    database = state.database
    found = database.tables.list()
    document: dict[str, Any] = {
        "tables": [encode_table(table) for table in found],
        "public": [encode_public_table(table) for table in database.tables.list_public()],
    }
    return document | (
        {"declarations": [strip_folders(PLANS.encode(table)) for table in found]} if declarations else {}
    )


@router.get("/tables/{name}", tags=["tables"])
async def table(name: str, state: CurrentState) -> dict[str, Any]:
    """Show the declaration of one table."""

    def find_table() -> dict[str, Any]:
        for one in (one for part in tables_document(state).values() for one in part):
            if one["table"].casefold() == name.casefold():
                return dict(one)
        raise refuse_not_found("table of this name")

    return await state.jobs.run_without_data(find_table)


@router.get("/tables/{name}/parts", tags=["tables"])
async def parts(
    name: str, caller: AnyCaller, state: CurrentState, by: Annotated[str, Query(max_length=10_000)]
) -> dict[str, list[Any]]:
    """List the disjoint subpopulations of a table by an expression with declared keys."""

    def list_parts() -> dict[str, list[Any]]:
        return {"keys": VALUES.to_plain(state.database.tables.partition_keys(name, by))}

    return await state.jobs.run_planning(caller.token, list_parts)


@router.post("/tables", tags=["curator"], status_code=201, responses=EXCEEDED)
async def protect(form: TableForm, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Protect a table. Its data is then only released with noise, within a budget that never resets."""
    return await state.jobs.run_without_data(partial(protect_table, state, caller, form))


def protect_table(state: AppState, caller: Caller, form: TableForm) -> dict[str, Any]:
    """Protect a table for a curator, and write into the trail who did it."""
    source = resolve_inside(state.settings.data, form.source)
    with state.database.access.acting(caller.name, "protect", f"{form.table}, from {form.source}"):
        made = state.database.protect(
            form.table,
            source,
            unit=form.unit if form.via is None else Via(form.via.table, on=form.via.on, unit=form.unit or ""),
            budget=read_budget(form.budget),
            max_rows=form.max_rows,
            columns={name: _read_column_form(column) for name, column in form.columns.items()},
            adjacency=form.adjacency,
            rows=form.rows,
            relation=form.relation,
            min_people=form.min_people,
            unique=form.unique,
            memory=form.memory,
        )
    return encode_table(made) | {"version": state.database.tables.version(made.name)}


@router.post("/tables/{name}/refresh", tags=["curator"])
async def refresh(name: str, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Declare that a table has new data: questions are then answered again. Budgets never reset."""
    return {"table": await state.jobs.run_without_data(partial(refresh_table, state, caller, name))}


def refresh_table(state: AppState, caller: Caller, name: str) -> str:
    """Say for a curator that the data of a table is new, and write into the trail who did it."""
    known = state.database.tables.find(name).name
    with state.database.access.acting(caller.name, "refresh", known):
        state.database.refresh(known)
    return known


@router.post("/public", tags=["curator"], status_code=201)
async def publish(form: PublicForm, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Declare a public table, which needs no protection."""

    def publish_table() -> dict[str, Any]:
        source = resolve_inside(state.settings.data, form.source)
        with state.database.access.acting(caller.name, "publish", f"{form.table}, from {form.source}"):
            made = state.database.publish(form.table, source, kinds=form.kinds, relation=form.relation)
        return encode_public_table(made)

    return await state.jobs.run_without_data(publish_table)


@router.get("/budgets", tags=["budgets"])
async def budgets(caller: AnyCaller, state: CurrentState) -> dict[str, Any]:
    """Show budget, spent and remaining loss of the tables and of your own grants."""
    return await state.jobs.run_without_data(partial(budgets_document, state, caller))


def budgets_document(state: AppState, caller: Caller) -> dict[str, Any]:
    """Return the accounts that concern a caller: all of them for a curator."""
    return {
        "accounts": [encode_account_with_decimals(account) for account in list_visible_accounts(state, caller)]
    }


def list_visible_accounts(state: AppState, caller: Caller) -> tuple[Account, ...]:
    """Return the accounts that a caller may see: what was spent on a table may tell what others have asked."""
    from jali.ledger.charge import grant_account, table_account

    accounts = state.database.ledger.accounts()
    if caller.analyst is None:
        return accounts
    # By whole names: that of one analyst may be the beginning of another's.
    tables = state.database.tables.list()
    shown = {grant_account(caller.analyst, table.name) for table in tables}
    shown |= {table_account(table.name) for table in tables} - find_hidden_accounts(tables, caller.analyst)
    return tuple(account for account in accounts if account.name in shown)


@router.get("/budgets/{table}", tags=["budgets"])
async def budget(
    table: str,
    caller: AnyCaller,
    state: CurrentState,
    part: Annotated[str | None, Query(max_length=10_000)] = None,
) -> dict[str, Any]:
    """Return the largest privacy loss that your next question on a table, or on a subpopulation, could have."""
    asked = None if part is None else read_part(part)

    def find_remaining() -> dict[str, Any]:
        if table.casefold() not in {one.name.casefold() for one in state.database.tables.list()}:
            raise refuse_not_found("protected table of this name")
        found = state.database.remaining(table, analyst=caller.analyst, part=asked)
        return {"table": table} | encode_remaining_with_decimals(found)

    return await state.jobs.run_without_data(find_remaining)


@router.post("/grants", tags=["curator"], status_code=201)
async def grant(form: GrantForm, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Grant an analyst a budget on a table, within the budget of the table."""
    return await state.jobs.run_without_data(partial(grant_budget, state, caller, form))


def grant_budget(state: AppState, caller: Caller, form: GrantForm) -> dict[str, Any]:
    """Grant a budget for a curator, and write into the trail who did it."""
    wanted = read_budget(form.budget)
    with state.database.access.acting(caller.name, "grant", f"{form.analyst} on {form.table}: {wanted}"):
        state.database.grant(form.analyst, form.table, wanted)
    left = state.database.remaining(form.table, analyst=form.analyst)
    return {"analyst": form.analyst, "table": form.table, "remaining": encode_remaining_with_decimals(left)}


def read_budget(form: BudgetForm) -> Budget:
    """Read a budget, exactly."""
    return Budget(epsilon=form.epsilon, delta=form.delta)


def resolve_inside(directory: Path, name: str) -> Path:
    """Return a file below the data directory; whatever lies elsewhere is refused, and not looked at."""
    root = directory.resolve()
    try:
        place = (root / name).resolve()
    except (OSError, ValueError, RuntimeError):
        place = root
    if place == root or not place.is_relative_to(root):
        raise refuse_request("file-outside-data", status=403, type_="OutsideData")
    return place


def _read_column_form(form: ColumnForm) -> Declared | str:
    given = [value for value in (form.range, form.keys, form.kind) if value is not None]
    if len(given) != 1:
        raise CatalogError("column-form-empty")
    if form.keys is not None:
        return Keys(form.keys)
    if form.range == "auto":
        return Range(auto=True)
    if form.range is not None:
        from jali.catalog.columns import read_end

        low, high = (read_end(str(end)) for end in form.range)
        return Range(low, high)
    return form.kind or ""
