"""The page of one receipt: its answer, or the way to it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from jali.errors import JaliError
from jali.execution.reservation import ReleasedAnswer
from jali.ledger import Receipt
from jali.planner.buy_range import purchase_name, read_range
from jali.server.api.receipt_routes import find_receipt, submit_redemption
from jali.server.auth import Caller
from jali.server.dependencies import CurrentState, PageCaller
from jali.server.http_errors import RequestRefused
from jali.server.jobs import Busy
from jali.server.pages.answer_view import build_answer_card
from jali.server.pages.ask_pages import Shown, show_failure, show_outcome
from jali.server.pages.page_forms import CheckedForm, describe_range
from jali.server.pages.rendering import render_fragment, render_page, wants_fragment
from jali.server.state import AppState

router = APIRouter(prefix="/receipts")
# How long a form waits for an answer before it leads to the receipt, in seconds.
_GLANCE = 1.0


@router.get("/{receipt}")
async def receipt_page(
    request: Request, receipt: str, caller: PageCaller, state: CurrentState, column: str | None = None
) -> Response:
    """Show a receipt, and what it stands for. Nothing is spent or read."""
    known = await find_receipt(state, caller, receipt)
    shown = await _show_card(state, caller, known, column)
    return _respond(request, known, shown)


@router.get("/{receipt}/redeem")
async def back(receipt: str, _: PageCaller) -> Response:
    """Lead whoever loads the address of the form again to the receipt."""
    return RedirectResponse(_build_address(receipt), 303)


@router.post("/{receipt}/redeem")
async def redeem(
    request: Request, receipt: str, caller: PageCaller, state: CurrentState, _: CheckedForm
) -> Response:
    """Have the one answer found that a receipt stands for, and lead to it. It is paid already."""
    known = await find_receipt(state, caller, receipt)
    try:
        taken = await submit_redemption(state, caller, receipt)
        await show_outcome(None, state, caller, taken, wait=_GLANCE)
    except (JaliError, RequestRefused, Busy) as error:
        return _respond(request, known, show_failure(error))
    return RedirectResponse(_build_address(known.id), 303)


def _build_address(receipt: str) -> str:
    return f"/receipts/{quote(receipt, safe='')}"


async def _show_card(state: AppState, caller: Caller, known: Receipt, column: str | None) -> Shown:
    job = state.jobs.find_job(known.id)
    try:
        return await state.jobs.run_without_data(partial(_show_released, state, caller, known, column, job))
    except JaliError as error:
        return show_failure(error)


def _show_released(state: AppState, caller: Caller, known: Receipt, column: str | None, job: Any) -> Shown:
    if known.question.startswith("stream "):  # no SQL begins like this
        return "stream_receipt.html", {}, 200
    found = state.database.serving.find_released(known.id, analyst=caller.analyst)
    if found is not None and (bought := _describe_purchase(state, known, found)) is not None:
        return "bought.html", {"bought": bought}, 200
    if found is not None:
        # It is looked at again, which is no news.
        card = replace(build_answer_card(state, caller, found, column), cached=False)
        return "answer.html", {"card": card, "again": None if card.batch else known.question}, 200
    return ("open.html", {"receipt": known}, 200) if job is None else ("waiting.html", {"job": job}, 200)


def _describe_purchase(state: AppState, known: Receipt, found: ReleasedAnswer[Any]) -> str | None:
    """Say which range a receipt bought, as it is declared; None for a question. The draw itself is of codes."""
    for table in state.database.tables.list():
        for field in table.fields:
            if known.question == purchase_name(table, field):
                return describe_range(read_range(field, found.answer.rows[0], found.answer.cost.epsilon))
    return None


def _respond(request: Request, known: Receipt, shown: Shown) -> Response:
    template, context, status = shown
    if wants_fragment(request):
        part: dict[str, Any] = {"asked": known.question} | context
        return render_fragment(template, request, **part)
    json_url = f"/api/v1/receipts/{known.id}"
    held = {"again": None, "asked": ""} | context | {"receipt": known}
    return render_page("receipt.html", request, json_url=json_url, status=status, result=template, **held)
