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
from jali.server.api.access_routes import create_token, revoke_token
from jali.server.api.table_routes import grant_budget, protect_table, read_budget, refresh_table
from jali.server.auth import Caller
from jali.server.dependencies import CurrentState
from jali.server.flash import FlashMessage
from jali.server.http_errors import RequestRefused
from jali.server.pages.error_pages import build_error_card
from jali.server.pages.page_forms import (
    CheckedForm,
    CuratorVisitor,
    Fields,
    describe_range,
    read_columns,
    validate_fields,
)
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
    deeds: tuple[AdminAct, ...]
    files: tuple[str, ...]


@router.get("")
async def curators(request: Request, caller: CuratorVisitor, house: CurrentState, done: str = "") -> Response:
    """Show the forms, the tokens and the trail; and once, what was just done."""
    notice = house.notices.take(caller.cookie, done) if done else None
    return await _show_overview(request, house, done=notice)


@router.get("/protect")
@router.get("/grant")
@router.get("/refresh")
@router.get("/tokens")
@router.get("/tokens/revoke")
async def back(_: CuratorVisitor) -> Response:
    """Lead whoever loads the address of a form again to the page."""
    return RedirectResponse("/curator", 303)


@router.post("/protect")
async def protect(request: Request, caller: CuratorVisitor, house: CurrentState, fields: CheckedForm) -> Response:
    """Protect a table."""
    return await _do(request, house, caller, fields, _protect)


@router.post("/grant")
async def grant(request: Request, caller: CuratorVisitor, house: CurrentState, fields: CheckedForm) -> Response:
    """Grant a budget to an analyst."""
    return await _do(request, house, caller, fields, _grant)


@router.post("/refresh")
async def refresh(request: Request, caller: CuratorVisitor, house: CurrentState, fields: CheckedForm) -> Response:
    """Say that the data of a table is new."""
    return await _do(request, house, caller, fields, _refresh)


@router.post("/tokens")
async def make_token(
    request: Request, caller: CuratorVisitor, house: CurrentState, fields: CheckedForm
) -> Response:
    """Make a token."""
    return await _do(request, house, caller, fields, _make_token)


@router.post("/tokens/revoke")
async def revoke(request: Request, caller: CuratorVisitor, house: CurrentState, fields: CheckedForm) -> Response:
    """Revoke a token."""
    return await _do(request, house, caller, fields, _revoke)


async def _do(request: Request, house: AppState, caller: Caller, fields: Fields, act: Act) -> Response:
    """Do something, and lead to the page that says so; or say why not, and keep what was written."""
    try:
        done = await house.desk.run_without_data(partial(act, house, caller, fields))
    except (JaliError, RequestRefused) as error:
        failure = build_error_card(error)
        return await _show_overview(request, house, fields=fields, failure=failure, status=failure.status)
    return RedirectResponse(f"/curator?done={house.notices.keep(caller.cookie, done)}", 303)


async def _show_overview(
    request: Request,
    house: AppState,
    *,
    fields: Fields | None = None,
    done: FlashMessage | None = None,
    failure: Any = None,
    status: int = 200,
) -> Response:
    known = await house.desk.run_without_data(partial(_load_overview, house))
    said = {"fields": dict(fields or {}), "done": done, "failure": failure}
    return render_page("curator.html", request, twin="/api/v1/trail", status=status, known=known, **said)


def _load_overview(house: AppState) -> CuratorOverview:
    database = house.database
    files = tuple(islice(sorted(islice(list_files(house.settings.data), _LOOKED)), _SUGGESTED))
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


def _protect(house: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    said = {
        name: fields.get(name, "").strip() for name in ("table", "source", "unit", "max_rows", "rows", "relation")
    }
    said["adjacency"] = fields.get("adjacency", "")
    columns = {name: form.model_dump() for name, form in read_columns(fields.get("columns", "")).items()}
    form = validate_fields(TableForm, {**said, "columns": columns, "budget": _read_budget_fields(fields)})
    before = dict(_list_purchases(house, form.table))
    made = protect_table(house, caller, form)
    paid = [(name, text) for name, text in _list_purchases(house, made["table"]) if before.get(name) != text]
    cost = "".join(f" The range of {name} was bought: {text}, from the table's budget." for name, text in paid)
    return FlashMessage(f"Table {made['table']} is protected. Its budget never resets.{cost}")


def _list_purchases(house: AppState, name: str) -> Iterator[tuple[str, str]]:
    """Name the columns of a table whose range was bought, and say what it is and what it cost."""
    for table in house.database.tables.list():
        for field in table.fields if table.name.casefold() == name.casefold() else ():
            if field.range is not None and field.range.auto and not field.range.wanted:
                yield field.name, describe_range(field.range)


def _read_budget_fields(fields: Fields) -> dict[str, Any]:
    said = {name: fields.get(name, "").strip() for name in ("epsilon", "delta")}
    return validate_fields(BudgetForm, said).model_dump()


def _grant(house: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    said = {name: fields.get(name, "").strip() for name in ("analyst", "table")}
    form = validate_fields(GrantForm, {**said, "budget": _read_budget_fields(fields)})
    grant_budget(house, caller, form)
    return FlashMessage(f"{form.analyst} may spend {write_budget(read_budget(form.budget))} on {form.table}.")


def _refresh(house: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    known = refresh_table(house, caller, fields.get("table", ""))
    return FlashMessage(f"Questions on {known} are answered anew from now on. Its budget stays as it is.")


def _make_token(house: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    said = {name: fields.get(name, "").strip() for name in ("name", "role", "days")}
    made = create_token(house, caller, validate_fields(TokenForm, said))
    return FlashMessage(f"A token for {made['name']}, good until {made['expires'][:10]}.", made["text"])


def _revoke(house: AppState, caller: Caller, fields: Fields) -> FlashMessage:
    made = revoke_token(house, caller, fields.get("token", ""))
    return FlashMessage(f"The token {made['token']} of {made['name']} is refused from now on.")
