"""What curators do: protect tables, grant budgets, make tokens; and the trail of all that."""

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

from jali.errors import JaliError
from jali.ledger import Token
from jali.ledger.access import Deed
from jali.query.catalog import Table
from jali.server.api.access import create_token, revoke_token
from jali.server.api.catalog import budget_of, grant_budget, protect_table, refresh_table
from jali.server.api.doors import TheHouse
from jali.server.api.envelope import RequestRefused
from jali.server.api.forms import BudgetForm, GrantForm, TableForm, TokenForm
from jali.server.house import House
from jali.server.pages.guards import Curator, Fields, Filled, read_as
from jali.server.pages.refusals import failure_of
from jali.server.pages.rendering import page
from jali.server.pages.words import budget_on_page
from jali.server.pages.written import range_said, read_columns
from jali.server.people.caller import Caller
from jali.server.people.notices import Done

router = APIRouter(prefix="/curator")
_SUFFIXES = (".parquet", ".csv", ".duckdb")
# How many files are looked at, and how many are suggested.
_LOOKED, _SUGGESTED, _TRAIL = 5000, 200, 50
Act = Callable[[House, Caller, Fields], Done]


@dataclass(frozen=True)
class Known:
    """What the page of curators shows."""

    tables: tuple[Table, ...]
    tokens: tuple[Token, ...]
    deeds: tuple[Deed, ...]
    files: tuple[str, ...]


@router.get("")
async def curators(request: Request, caller: Curator, house: TheHouse, done: str = "") -> Response:
    """Show the forms, the tokens and the trail; and once, what was just done."""
    notice = house.notices.take(caller.cookie, done) if done else None
    return await _page(request, house, done=notice)


@router.get("/protect")
@router.get("/grant")
@router.get("/refresh")
@router.get("/tokens")
@router.get("/tokens/revoke")
async def back(_: Curator) -> Response:
    """Lead whoever loads the address of a form again to the page."""
    return RedirectResponse("/curator", 303)


@router.post("/protect")
async def protect(request: Request, caller: Curator, house: TheHouse, fields: Filled) -> Response:
    """Protect a table."""
    return await _do(request, house, caller, fields, _protect)


@router.post("/grant")
async def grant(request: Request, caller: Curator, house: TheHouse, fields: Filled) -> Response:
    """Grant a budget to an analyst."""
    return await _do(request, house, caller, fields, _grant)


@router.post("/refresh")
async def refresh(request: Request, caller: Curator, house: TheHouse, fields: Filled) -> Response:
    """Say that the data of a table is new."""
    return await _do(request, house, caller, fields, _refresh)


@router.post("/tokens")
async def make_token(request: Request, caller: Curator, house: TheHouse, fields: Filled) -> Response:
    """Make a token."""
    return await _do(request, house, caller, fields, _make_token)


@router.post("/tokens/revoke")
async def revoke(request: Request, caller: Curator, house: TheHouse, fields: Filled) -> Response:
    """Revoke a token."""
    return await _do(request, house, caller, fields, _revoke)


async def _do(request: Request, house: House, caller: Caller, fields: Fields, act: Act) -> Response:
    """Do something, and lead to the page that says so; or say why not, and keep what was written."""
    try:
        done = await house.desk.in_front(partial(act, house, caller, fields))
    except (JaliError, RequestRefused) as error:
        failure = failure_of(error)
        return await _page(request, house, fields=fields, failure=failure, status=failure.status)
    return RedirectResponse(f"/curator?done={house.notices.keep(caller.cookie, done)}", 303)


async def _page(
    request: Request,
    house: House,
    *,
    fields: Fields | None = None,
    done: Done | None = None,
    failure: Any = None,
    status: int = 200,
) -> Response:
    known = await house.desk.in_front(partial(_known, house))
    said = {"fields": dict(fields or {}), "done": done, "failure": failure}
    return page("curator.html", request, twin="/api/v1/trail", status=status, known=known, **said)


def _known(house: House) -> Known:
    database = house.database
    files = tuple(islice(sorted(islice(files_in(house.settings.data), _LOOKED)), _SUGGESTED))
    return Known(database.tables(), database.access.tokens(), database.access.trail(_TRAIL), files)


def files_in(directory: Path) -> Iterator[str]:
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


def _protect(house: House, caller: Caller, fields: Fields) -> Done:
    said = {
        name: fields.get(name, "").strip() for name in ("table", "source", "unit", "max_rows", "rows", "relation")
    }
    said["adjacency"] = fields.get("adjacency", "")
    columns = {name: form.model_dump() for name, form in read_columns(fields.get("columns", "")).items()}
    form = read_as(TableForm, {**said, "columns": columns, "budget": _budget(fields)})
    before = dict(_bought(house, form.table))
    made = protect_table(house, caller, form)
    paid = [(name, text) for name, text in _bought(house, made["table"]) if before.get(name) != text]
    cost = "".join(f" The range of {name} was bought: {text}, from the table's budget." for name, text in paid)
    return Done(f"Table {made['table']} is protected. Its budget never resets.{cost}")


def _bought(house: House, name: str) -> Iterator[tuple[str, str]]:
    """Name the columns of a table whose range was bought, and say what it is and what it cost."""
    for table in house.database.tables():
        for field in table.fields if table.name.casefold() == name.casefold() else ():
            if field.range is not None and field.range.auto and not field.range.wanted:
                yield field.name, range_said(field.range)


def _budget(fields: Fields) -> dict[str, Any]:
    said = {name: fields.get(name, "").strip() for name in ("epsilon", "delta")}
    return read_as(BudgetForm, said).model_dump()


def _grant(house: House, caller: Caller, fields: Fields) -> Done:
    said = {name: fields.get(name, "").strip() for name in ("analyst", "table")}
    form = read_as(GrantForm, {**said, "budget": _budget(fields)})
    grant_budget(house, caller, form)
    return Done(f"{form.analyst} may spend {budget_on_page(budget_of(form.budget))} on {form.table}.")


def _refresh(house: House, caller: Caller, fields: Fields) -> Done:
    known = refresh_table(house, caller, fields.get("table", ""))
    return Done(f"Questions on {known} are answered anew from now on. Its budget stays as it is.")


def _make_token(house: House, caller: Caller, fields: Fields) -> Done:
    said = {name: fields.get(name, "").strip() for name in ("name", "role", "days")}
    made = create_token(house, caller, read_as(TokenForm, said))
    return Done(f"A token for {made['name']}, good until {made['expires'][:10]}.", made["text"])


def _revoke(house: House, caller: Caller, fields: Fields) -> Done:
    made = revoke_token(house, caller, fields.get("token", ""))
    return Done(f"The token {made['token']} of {made['name']} is refused from now on.")
