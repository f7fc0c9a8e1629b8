"""One receipt with its answer, or the way to it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from jali.errors import JaliError
from jali.ledger import Receipt
from jali.server.api.doors import TheHouse
from jali.server.api.envelope import Refusal, as_refusal
from jali.server.house import House
from jali.server.pages.answers import card_of
from jali.server.pages.ask import outcome
from jali.server.pages.guards import Filled, Visitor
from jali.server.pages.refusals import failure_of
from jali.server.pages.rendering import fragment, page, wants_fragment
from jali.server.people.caller import Caller
from jali.server.work.desk import Busy

router = APIRouter(prefix="/receipts")
_Shown = tuple[str, dict[str, Any], int]


@router.get("/{receipt}")
async def receipt_page(
    request: Request, receipt: str, caller: Visitor, house: TheHouse, column: str | None = None
) -> Response:
    """Show a receipt, and what it stands for. Nothing is spent or read."""
    known = await _receipt(house, caller, receipt)
    shown = await _card(house, caller, known, column)
    return _answered(request, known, shown)


@router.post("/{receipt}/redeem")
async def redeem(request: Request, receipt: str, caller: Visitor, house: TheHouse, _: Filled) -> Response:
    """Give the one answer that a receipt stands for. It is paid already."""
    known = await _receipt(house, caller, receipt)
    try:
        job = house.desk.job(receipt)
        taken = job or await house.desk.take(
            ("redeem", receipt, caller.analyst), lambda _: _taken_up(house, caller, receipt), caller.token
        )
        shown = await outcome(house, caller, taken)
    except (JaliError, Refusal, Busy) as error:
        shown = _failed(error)
    return _answered(request, await _receipt(house, caller, known.id), shown)


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
    if found is not None:
        # It is looked at again, which is no news.
        return "answer.html", {"card": replace(card_of(house, caller, found, column), cached=False)}, 200
    return ("open.html", {"receipt": known}, 200) if job is None else ("waiting.html", {"job": job}, 200)


def _failed(error: Exception) -> _Shown:
    failure = failure_of(as_refusal(error))
    return "failure.html", {"failure": failure}, failure.status


def _answered(request: Request, known: Receipt, shown: _Shown) -> Response:
    template, context, status = shown
    if wants_fragment(request):
        return fragment(template, request, **context)
    twin = f"/api/v1/receipts/{known.id}"
    return page("receipt.html", request, twin=twin, status=status, result=template, **{"receipt": known} | context)
