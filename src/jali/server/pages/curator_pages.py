"""The page of curators: protect tables, grant budgets, make tokens; and the audit log of all that."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from jali.catalog.tables import Table
from jali.errors import JaliError
from jali.ledger import Token
from jali.ledger.access import AdminAct
from jali.server.api.admin_routes import create_token, revoke_token
from jali.server.api.table_routes import grant_budget, protect_table, read_budget, refresh_table
from jali.server.auth import Caller
from jali.server.dependencies import CurrentState, PageCurator
from jali.server.flash import FlashMessage
from jali.server.http_errors import RequestRefused
from jali.server.pages.error_pages import build_error_card
from jali.server.pages.page_forms import CheckedForm, Fields, describe_range, read_columns, validate_fields
from jali.server.pages.rendering import render_page, write_budget
from jali.server.schemas import BudgetForm, GrantForm, TableForm, TokenForm
from jali.server.state import AppState

router = APIRouter(prefix="/curator")
_SUFFIXES = (".parquet", ".csv", ".duckdb")
# How many files are looked at, and how many are suggested.
_LOOKED, _SUGGESTED, _TRAIL = 5000, 200, 50
Act = Callable[[AppState, Caller, Fields], FlashMessage]


@dataclass(frozen=True)
class CuratorOverview:
    """What the page of curators shows."""

    tables: tuple[Table, ...]
    tokens: tuple[Token, ...]
    acts: tuple[AdminAct, ...]
    files: tuple[str, ...]


@router.get("")
async def curators(request: Request, caller: PageCurator, state: CurrentState, done: str = "") -> Response:
    """Show the forms, the tokens and the trail; and once, what was just done."""
    message = state.flash.take(caller.cookie, done) if done else None
    return await _show_overview(request, state, done=message)


@router.get("/protect")
@router.get("/grant")
@router.get("/refresh")
@router.get("/tokens")
@router.get("/tokens/revoke")
async def back(_: PageCurator) -> Response:
    """Lead whoever loads the address of a form again to the page."""
    return RedirectResponse("/curator", 303)


@router.post("/protect")
async def protect(request: Request, caller: PageCurator, state: CurrentState, fields: CheckedForm) -> Response:
    """Protect a table."""
    return await _do(request, state, caller, fields, _protect)


@router.post("/grant")
async def grant(request: Request, caller: PageCurator, state: CurrentState, fields: CheckedForm) -> Response:
    """Grant a budget to an analyst."""
    return await _do(request, state, caller, fields, _grant)


@router.post("/refresh")
async def refresh(request: Request, caller: PageCurator, state: CurrentState, fields: CheckedForm) -> Response:
    """Say that the data of a table is new."""
    return await _do(request, state, caller, fields, _refresh)


@router.post("/tokens")
async def make_token(request: Request, caller: PageCurator, state: CurrentState, fields: CheckedForm) -> Response:
    """Make a token."""
    return await _do(request, state, caller, fields, _make_token)


@router.post("/tokens/revoke")
async def revoke(request: Request, caller: PageCurator, state: CurrentState, fields: CheckedForm) -> Response:
    """Revoke a token."""
    return await _do(request, state, caller, fields, _revoke)


async def _do(request: Request, state: AppState, caller: Caller, fields: Fields, act: Act) -> Response:
    """Do something, and lead to the page that says so; or say why not, and keep what was written."""
    try:
        done = await state.jobs.run_without_data(partial(act, state, caller, fields))
    except (JaliError, RequestRefused) as error:
        failure = build_error_card(error)
        return await _show_overview(request, state, fields=fields, failure=failure, status=failure.status)
    return RedirectResponse(f"/curator?done={state.flash.keep(caller.cookie, done)}", 303)


async def _show_overview(
    request: Request,
    state: AppState,
    *,
    fields: Fields | None = None,
    done: FlashMessage | None = None,
    failure: Any = None,
    status: int = 200,
) -> Response:
    known = await state.jobs.run_without_data(partial(_load_overview, state))
    given = {"fields": dict(fields or {}), "done": done, "failure": failure}
    return render_page("curator.html", request, json_url="/api/v1/trail", status=status, known=known, **given)


def _load_overview(state: AppState) -> CuratorOverview:
    database = state.database
    files = tuple(islice(sorted(islice(list_files(state.settings.data), _LOOKED)), _SUGGESTED))
    return CuratorOverview(database.tables.list(), database.access.tokens(), database.access.trail(_TRAIL), files)


def list_files(directory: Path) -> Iterator[str]:
    """Name the files below a directory that can be protected; hidden ones and links are left out."""
    looked = 0
    for place, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            looked += 1
            if looked > _LOOKED:
                return
            path = Path(place, name)
            if name.endswith(_SUFFIXES) and not name.startswith(".") and not path.is_symlink():
                yield path.relative_to(directory).as_posix()


def _protect(state: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    given = {
        name: fields.get(name, "").strip() for name in ("table", "source", "unit", "max_rows", "rows", "relation")
    }
    given["adjacency"] = fields.get("adjacency", "")
    columns = {name: form.model_dump() for name, form in read_columns(fields.get("columns", "")).items()}
    form = validate_fields(TableForm, {**given, "columns": columns, "budget": _read_budget_fields(fields)})
    before = dict(_list_purchases(state, form.table))
    made = protect_table(state, caller, form)
    paid = [(name, text) for name, text in _list_purchases(state, made["table"]) if before.get(name) != text]
    cost = "".join(f" The range of {name} was estimated: {text}, from its budget." for name, text in paid)
    return FlashMessage(f"Table {made['table']} is protected. Its budget never resets.{cost}")


def _list_purchases(state: AppState, name: str) -> Iterator[tuple[str, str]]:
    """Name the columns of a table whose range was bought, and say what it is and what it cost."""
    for table in state.database.tables.list():
        for field in table.fields if table.name.casefold() == name.casefold() else ():
            if field.range is not None and field.range.auto and not field.range.wanted:
                yield field.name, describe_range(field.range)


def _read_budget_fields(fields: Fields) -> dict[str, Any]:
    given = {name: fields.get(name, "").strip() for name in ("epsilon", "delta")}
    return validate_fields(BudgetForm, given).model_dump()


def _grant(state: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    given = {name: fields.get(name, "").strip() for name in ("analyst", "table")}
    form = validate_fields(GrantForm, {**given, "budget": _read_budget_fields(fields)})
    grant_budget(state, caller, form)
    return FlashMessage(f"{form.analyst} may spend {write_budget(read_budget(form.budget))} on {form.table}.")


def _refresh(state: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    known = refresh_table(state, caller, fields.get("table", ""))
    return FlashMessage(f"Questions on {known} are now answered on the new data. Its budget does not reset.")


def _make_token(state: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    given = {name: fields.get(name, "").strip() for name in ("name", "role", "days")}
    made = create_token(state, caller, validate_fields(TokenForm, given))
    return FlashMessage(f"Token for {made['name']}, valid until {made['expires'][:10]}.", made["text"])


def _revoke(state: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    made = revoke_token(state, caller, fields.get("token", ""))
    return FlashMessage(f"The token {made['token']} of {made['name']} is revoked.")
