"""Routes of receipts: what was paid, what it stands for, and how far it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from jali.answer import Answer
from jali.client.account_documents import encode_receipt
from jali.errors import QueryError
from jali.execution.reservation import ReleasedAnswer, ReservedQuestion, Stage
from jali.ledger import Receipt
from jali.server.api.question_routes import build_result_document, respond_accepted, respond_with_answer
from jali.server.auth import Caller
from jali.server.dependencies import AnyCaller, CurrentState, is_still_authenticated
from jali.server.http_errors import refuse_request
from jali.server.jobs import Job
from jali.server.schemas import CANCELLED, FOUND, REDEEMED
from jali.server.state import AppState

router = APIRouter(prefix="/receipts", tags=["receipts"])
# How often a question that is being answered is looked at, and for how long at most, in seconds.
_LOOK, _LONGEST = 0.2, 3600.0
# How long somebody who cancels waits for the engine to stop, in seconds.
_STOPPED = 5.0
# After so many milliseconds a browser that lost the stream tries again.
_AGAIN = "retry: 1000\n\n"
_KINDS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
Confidence = Annotated[float, Query(gt=0, lt=1)]


@router.get("")
async def receipts(
    caller: AnyCaller, state: CurrentState, most: Annotated[int, Query(ge=1, le=1000)] = 100
) -> dict[str, Any]:
    """List your receipts, latest first. Curators see those of everybody."""
    found = await state.jobs.run_without_data(
        partial(state.database.ledger.latest_receipts, most, analyst=caller.analyst)
    )
    return {"receipts": [encode_receipt(receipt) for receipt in found]}


@router.get("/{receipt}")
async def receipt(receipt: str, caller: AnyCaller, state: CurrentState) -> dict[str, Any]:
    """Show one receipt: its question, its privacy loss and its state."""
    found = await find_receipt(state, caller, receipt)
    job = state.jobs.find_job(receipt)
    working = {} if job is None else {"stage": job.stage, "elapsed": round(job.elapsed, 1)}
    return encode_receipt(found) | {"working": job is not None} | working


@router.get(
    "/{receipt}/answer",
    responses=FOUND | {200: FOUND[200] | {"content": {kind: {} for kind in list(_KINDS.values())[1:]}}},
)
async def answer(
    receipt: str,
    caller: AnyCaller,
    state: CurrentState,
    form: Annotated[Literal["json", "csv", "parquet"], Query(alias="format")] = "json",
    confidence: Confidence = 0.95,
    release: bool = False,
) -> Response:
    """Return the released answer of a receipt as JSON, CSV or Parquet. Nothing is spent or read."""
    job = state.jobs.find_job(receipt)
    released = partial(state.database.serving.find_released, receipt, analyst=caller.analyst)
    found = await state.jobs.run_without_data(released)
    if found is None and job is not None:
        return respond_accepted(job)
    if found is None:
        raise refuse_request("receipt-not-answered", status=409, type_="Open", receipt=receipt)
    return await state.jobs.run_without_data(
        partial(_respond_in_format, state, caller, found, form, confidence, release=release)
    )


@router.post("/{receipt}/redeem", responses=REDEEMED)
async def redeem(
    request: Request, receipt: str, caller: AnyCaller, state: CurrentState, release: bool = False
) -> Response:
    """Redeem an open receipt for its answer. Nothing more is spent."""
    taken = await submit_redemption(state, caller, receipt)
    return await respond_with_answer(request, state, caller, taken, release=release)


async def submit_redemption(state: AppState, caller: Caller, receipt: str) -> ReleasedAnswer[Any] | Job:
    """Return the job that is answering a receipt of a caller; submit the receipt if there is none."""
    job = state.jobs.find_job(receipt)
    if job is not None:
        await find_receipt(state, caller, receipt)  # refuses the receipt of somebody else
        return job

    def begin(_: Stage) -> ReleasedAnswer[Any] | ReservedQuestion[Any]:
        return state.database.serving.take_up(receipt, analyst=caller.analyst)

    return await state.jobs.submit(("redeem", receipt, caller.analyst), begin, caller.token)


async def find_receipt(state: AppState, caller: Caller, receipt: str) -> Receipt:
    """Return a receipt that the caller may see."""
    find = partial(state.database.serving.receipt, receipt, analyst=caller.analyst)
    return await state.jobs.run_without_data(find)


@router.post("/{receipt}/cancel", responses=CANCELLED)
async def cancel(receipt: str, caller: AnyCaller, state: CurrentState) -> dict[str, Any]:
    """Cancel the job of a receipt. The receipt stays open, to be redeemed later. Each attempt counts."""
    await find_receipt(state, caller, receipt)
    job = state.jobs.find_job(receipt)
    if job is None:
        raise refuse_request("receipt-nobody-answering", status=409, type_="NotWorking", receipt=receipt)
    job.cancel()
    await state.jobs.wait_until_done(job, _STOPPED)
    return encode_receipt(await find_receipt(state, caller, receipt)) | {"working": not job.done}


@router.get("/{receipt}/events", response_class=StreamingResponse)
async def events(receipt: str, caller: AnyCaller, state: CurrentState) -> Response:
    """Follow a question until it is answered: its stages and the elapsed time, as server-sent events."""
    state.jobs.check_following(caller.token)
    await find_receipt(state, caller, receipt)
    return StreamingResponse(_send_events(state, caller, receipt), media_type="text/event-stream")


async def _send_events(state: AppState, caller: Caller, receipt: str) -> AsyncIterator[str]:
    """Tell each stage as it begins, and the time every second. Never how far the engine is: that is data."""
    sent: tuple[str, int] | None = None
    job = state.jobs.find_job(receipt)
    async with state.jobs.count_follower(caller.token):
        yield _AGAIN
        while job is not None and not job.done and job.elapsed < _LONGEST:
            if state.jobs.stopping:
                yield write_event("stop", {"receipt": receipt})
                return
            now = (job.stage, int(job.elapsed))
            if now != sent:
                sent = now
                if not await is_still_authenticated(state, caller):
                    return
                yield write_event("stage", {"stage": now[0], "elapsed": now[1]})
            await asyncio.sleep(_LOOK)
        yield write_event("end", {"receipt": receipt})


def write_event(name: str, document: dict[str, Any]) -> str:
    """Write one server-sent event."""
    return f"event: {name}\ndata: {json.dumps(document)}\n\n"


def _respond_in_format(
    state: AppState, caller: Caller, found: ReleasedAnswer[Any], form: str, confidence: float, *, release: bool
) -> Response:
    if form == "json":
        return JSONResponse(build_result_document(state, caller, found, confidence, release=release))
    if not isinstance(found.answer, Answer):
        raise QueryError("batch-csv-several-tables")
    body = found.answer.to_csv().encode() if form == "csv" else found.answer.to_parquet()
    name = f'attachment; filename="{found.answer.receipt[:8]}.{form}"'
    return Response(body, media_type=_KINDS[form], headers={"Content-Disposition": name})
