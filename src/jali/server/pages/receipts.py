"""One receipt with its answer, or the way to it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from jali.database.asking import Found
from jali.errors import JaliError
from jali.ledger import Receipt
from jali.planner.buy_range import purchase_name, range_of
from jali.server.api.doors import TheHouse
from jali.server.api.envelope import RequestRefused, as_refusal
from jali.server.house import House
from jali.server.pages.answers import card_of
from jali.server.pages.ask import Shown as _Shown
from jali.server.pages.ask import outcome
from jali.server.pages.guards import Filled, Visitor
from jali.server.pages.refusals import failure_of
from jali.server.pages.rendering import fragment, page, wants_fragment
from jali.server.pages.written import range_said
from jali.server.people.caller import Caller
from jali.server.work.desk import Busy

router = APIRouter(prefix="/receipts")
# How long a form waits for an answer before it leads to the receipt, in seconds.
_GLANCE = 1.0


@router.get("/{receipt}")
async def receipt_page(
    request: Request, receipt: str, caller: Visitor, house: TheHouse, column: str | None = None
) -> Response:
    """Show a receipt, and what it stands for. Nothing is spent or read."""
    known = await _receipt(house, caller, receipt)
    shown = await _card(house, caller, known, column)
    return _answered(request, known, shown)


@router.get("/{receipt}/redeem")
async def back(receipt: str, _: Visitor) -> Response:
    """Lead whoever loads the address of the form again to the receipt."""
    return RedirectResponse(_address(receipt), 303)


@router.post("/{receipt}/redeem")
async def redeem(request: Request, receipt: str, caller: Visitor, house: TheHouse, _: Filled) -> Response:
    """Have the one answer found that a receipt stands for, and lead to it. It is paid already."""
    known = await _receipt(house, caller, receipt)
    try:
        job = house.desk.job(receipt)
        taken = job or await house.desk.take(
            ("redeem", receipt, caller.analyst), lambda _: _taken_up(house, caller, receipt), caller.token
        )
        await outcome(house, caller, taken, wait=_GLANCE)
    except (JaliError, RequestRefused, Busy) as error:
        return _answered(request, known, _failed(error))
    return RedirectResponse(_address(known.id), 303)


def _address(receipt: str) -> str:
    return f"/receipts/{quote(receipt, safe='')}"


def _taken_up(house: House, caller: Caller, receipt: str) -> Any:
    return house.database.serving.take_up(receipt, analyst=caller.analyst)


async def _receipt(house: House, caller: Caller, receipt: str) -> Receipt:
    return await house.desk.in_front(partial(house.database.serving.receipt, receipt, analyst=caller.analyst))


async def _card(house: House, caller: Caller, known: Receipt, column: str | None) -> _Shown:
    job = house.desk.job(known.id)
    try:
        return await house.desk.in_front(partial(_released, house, caller, known, column, job))
    except JaliError as error:
        return _failed(error)


def _released(house: House, caller: Caller, known: Receipt, column: str | None, job: Any) -> _Shown:
    if known.question.startswith("stream "):  # no SQL begins like this
        return "stream_receipt.html", {}, 200
    found = house.database.serving.released(known.id, analyst=caller.analyst)
    if found is not None and (bought := _bought(house, known, found)) is not None:
        return "bought.html", {"bought": bought}, 200
    if found is not None:
        # It is looked at again, which is no news.
        card = replace(card_of(house, caller, found, column), cached=False)
        return "answer.html", {"card": card, "again": None if card.batch else known.question}, 200
    return ("open.html", {"receipt": known}, 200) if job is None else ("waiting.html", {"job": job}, 200)


def _bought(house: House, known: Receipt, found: Found[Any]) -> str | None:
    """Say which range a receipt bought, as it is declared; None for a question. The draw itself is of codes."""
    for table in house.database.tables():
        for field in table.fields:
            if known.question == purchase_name(table, field):
                return range_said(range_of(field, found.answer.rows[0], found.answer.cost.epsilon))
    return None


def _failed(error: Exception) -> _Shown:
    failure = failure_of(as_refusal(error))
    return "failure.html", {"failure": failure}, failure.status


def _answered(request: Request, known: Receipt, shown: _Shown) -> Response:
    template, context, status = shown
    if wants_fragment(request):
        part: dict[str, Any] = {"asked": known.question} | context
        return fragment(template, request, **part)
    twin = f"/api/v1/receipts/{known.id}"
    held = {"again": None, "asked": ""} | context | {"receipt": known}
    return page("receipt.html", request, twin=twin, status=status, result=template, **held)
