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
from jali.execution.reservation import ReleasedAnswer
from jali.server.api.question_routes import build_result_document, respond_accepted, respond_with_answer
from jali.server.auth import Caller
from jali.server.dependencies import AnyCaller, CurrentState, is_still_authenticated, wait_for_disconnect
from jali.server.http_errors import refuse_request
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
    caller: AnyCaller, house: CurrentState, most: Annotated[int, Query(ge=1, le=1000)] = 100
) -> dict[str, Any]:
    """List your receipts, the latest first; everybody's for a curator."""
    found = await house.desk.run_without_data(
        partial(house.database.ledger.latest_receipts, most, analyst=caller.analyst)
    )
    return {"receipts": [encode_receipt(receipt) for receipt in found]}


@router.get("/{receipt}")
async def receipt(receipt: str, caller: AnyCaller, house: CurrentState) -> dict[str, Any]:
    """Show one receipt: its question, what it cost, and how far it is."""
    serving = house.database.serving
    found = await house.desk.run_without_data(partial(serving.receipt, receipt, analyst=caller.analyst))
    job = house.desk.find_job(receipt)
    working = {} if job is None else {"stage": job.stage, "elapsed": round(job.elapsed, 1)}
    return encode_receipt(found) | {"working": job is not None} | working


@router.get(
    "/{receipt}/answer",
    responses=FOUND | {200: FOUND[200] | {"content": {kind: {} for kind in list(_KINDS.values())[1:]}}},
)
async def answer(
    receipt: str,
    caller: AnyCaller,
    house: CurrentState,
    form: Annotated[Literal["json", "csv", "parquet"], Query(alias="format")] = "json",
    confidence: Confidence = 0.95,
    release: bool = False,
) -> Response:
    """Give the answer of a receipt again, as JSON, CSV or Parquet. Nothing is spent or read."""
    job = house.desk.find_job(receipt)
    released = partial(house.database.serving.find_released, receipt, analyst=caller.analyst)
    found = await house.desk.run_without_data(released)
    if found is None and job is not None:
        return respond_accepted(job)
    if found is None:
        raise refuse_request("receipt-not-answered", status=409, type_="Open", receipt=receipt)
    return await house.desk.run_without_data(
        partial(_respond_in_format, house, caller, found, form, confidence, release=release)
    )


@router.post("/{receipt}/redeem", responses=REDEEMED)
async def redeem(
    request: Request, receipt: str, caller: AnyCaller, house: CurrentState, release: bool = False
) -> Response:
    """Give the one answer that a receipt stands for. It is paid already."""

    def begin(_: Any) -> Any:
        return house.database.serving.take_up(receipt, analyst=caller.analyst)

    job = house.desk.find_job(receipt)
    if job is not None:  # being answered; whose it is, is checked first
        await house.desk.run_without_data(partial(house.database.serving.receipt, receipt, analyst=caller.analyst))
        return await respond_with_answer(
            house, caller, job, release=release, gone=partial(wait_for_disconnect, request)
        )
    taken = await house.desk.submit(("redeem", receipt, caller.analyst), begin, caller.token)
    return await respond_with_answer(
        house, caller, taken, release=release, gone=partial(wait_for_disconnect, request)
    )


@router.post("/{receipt}/cancel", responses=CANCELLED)
async def cancel(receipt: str, caller: AnyCaller, house: CurrentState) -> dict[str, Any]:
    """Stop answering a receipt. It is paid and stays open: redeem it later. Each attempt counts."""
    find = partial(house.database.serving.receipt, receipt, analyst=caller.analyst)
    await house.desk.run_without_data(find)
    job = house.desk.find_job(receipt)
    if job is None:
        raise refuse_request("receipt-nobody-answering", status=409, type_="NotWorking", receipt=receipt)
    job.cancel()
    await house.desk.wait_until_done(job, _STOPPED)
    return encode_receipt(await house.desk.run_without_data(find)) | {"working": not job.done}


@router.get("/{receipt}/events", response_class=StreamingResponse)
async def events(receipt: str, caller: AnyCaller, house: CurrentState) -> Response:
    """Follow a question: its stages and the time it takes, as server-sent events, until it is answered."""
    house.desk.check_following(caller.token)
    await house.desk.run_without_data(partial(house.database.serving.receipt, receipt, analyst=caller.analyst))
    return StreamingResponse(_send_events(house, caller, receipt), media_type="text/event-stream")


async def _send_events(house: AppState, caller: Caller, receipt: str) -> AsyncIterator[str]:
    """Tell each stage as it begins, and the time every second. Never how far the engine is: that is data."""
    said: tuple[str, int] | None = None
    job = house.desk.find_job(receipt)
    async with house.desk.count_follower(caller.token):
        yield _AGAIN
        while job is not None and not job.done and job.elapsed < _LONGEST:
            if house.desk.stopping:
                yield write_event("stop", {"receipt": receipt})
                return
            now = (job.stage, int(job.elapsed))
            if now != said:
                said = now
                if not await is_still_authenticated(house, caller):
                    return
                yield write_event("stage", {"stage": now[0], "elapsed": now[1]})
            await asyncio.sleep(_LOOK)
        yield write_event("end", {"receipt": receipt})


def write_event(name: str, document: dict[str, Any]) -> str:
    """Write one server-sent event."""
    return f"event: {name}\ndata: {json.dumps(document)}\n\n"


def _respond_in_format(
    house: AppState, caller: Caller, found: ReleasedAnswer[Any], form: str, confidence: float, *, release: bool
) -> Response:
    if form == "json":
        return JSONResponse(build_result_document(house, caller, found, confidence, release=release))
    if not isinstance(found.answer, Answer):
        raise QueryError("batch-csv-several-tables")
    body = found.answer.to_csv().encode() if form == "csv" else found.answer.to_parquet()
    name = f'attachment; filename="{found.answer.receipt[:8]}.{form}"'
    return Response(body, media_type=_KINDS[form], headers={"Content-Disposition": name})
