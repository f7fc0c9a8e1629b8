"""Receipts: what was paid, what it stands for, and how far it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from jali.answer import Answer
from jali.database.asking import Found
from jali.documents.accounts import receipt_json
from jali.errors import QueryError
from jali.server.api.asking import accepted, answered, found_document
from jali.server.api.doors import AnyCaller, TheHouse, left, still_welcome
from jali.server.api.envelope import refuse_request
from jali.server.api.told import CANCELLED, FOUND, REDEEMED
from jali.server.house import House
from jali.server.people.caller import Caller

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
    caller: AnyCaller, house: TheHouse, most: Annotated[int, Query(ge=1, le=1000)] = 100
) -> dict[str, Any]:
    """List your receipts, the latest first; everybody's for a curator."""
    found = await house.desk.in_front(partial(house.database.latest_receipts, most, analyst=caller.analyst))
    return {"receipts": [receipt_json(receipt) for receipt in found]}


@router.get("/{receipt}")
async def receipt(receipt: str, caller: AnyCaller, house: TheHouse) -> dict[str, Any]:
    """Show one receipt: its question, what it cost, and how far it is."""
    serving = house.database.serving
    found = await house.desk.in_front(partial(serving.receipt, receipt, analyst=caller.analyst))
    job = house.desk.job(receipt)
    working = {} if job is None else {"stage": job.stage, "elapsed": round(job.elapsed, 1)}
    return receipt_json(found) | {"working": job is not None} | working


@router.get(
    "/{receipt}/answer",
    responses=FOUND | {200: FOUND[200] | {"content": {kind: {} for kind in list(_KINDS.values())[1:]}}},
)
async def answer(
    receipt: str,
    caller: AnyCaller,
    house: TheHouse,
    form: Annotated[Literal["json", "csv", "parquet"], Query(alias="format")] = "json",
    confidence: Confidence = 0.95,
    release: bool = False,
) -> Response:
    """Give the answer of a receipt again, as JSON, CSV or Parquet. Nothing is spent or read."""
    job = house.desk.job(receipt)
    released = partial(house.database.serving.released, receipt, analyst=caller.analyst)
    found = await house.desk.in_front(released)
    if found is None and job is not None:
        return accepted(job)
    if found is None:
        raise refuse_request("receipt-not-answered", status=409, type_="Open", receipt=receipt)
    return await house.desk.in_front(partial(_written, house, caller, found, form, confidence, release=release))


@router.post("/{receipt}/redeem", responses=REDEEMED)
async def redeem(
    request: Request, receipt: str, caller: AnyCaller, house: TheHouse, release: bool = False
) -> Response:
    """Give the one answer that a receipt stands for. It is paid already."""

    def begin(_: Any) -> Any:
        return house.database.serving.take_up(receipt, analyst=caller.analyst)

    job = house.desk.job(receipt)
    if job is not None:  # being answered; whose it is, is checked first
        await house.desk.in_front(partial(house.database.serving.receipt, receipt, analyst=caller.analyst))
        return await answered(house, caller, job, release=release, gone=partial(left, request))
    taken = await house.desk.take(("redeem", receipt, caller.analyst), begin, caller.token)
    return await answered(house, caller, taken, release=release, gone=partial(left, request))


@router.post("/{receipt}/cancel", responses=CANCELLED)
async def cancel(receipt: str, caller: AnyCaller, house: TheHouse) -> dict[str, Any]:
    """Stop answering a receipt. It is paid and stays open: redeem it later. Each attempt counts."""
    find = partial(house.database.serving.receipt, receipt, analyst=caller.analyst)
    await house.desk.in_front(find)
    job = house.desk.job(receipt)
    if job is None:
        raise refuse_request("receipt-nobody-answering", status=409, type_="NotWorking", receipt=receipt)
    job.cancel()
    await house.desk.settled(job, _STOPPED)
    return receipt_json(await house.desk.in_front(find)) | {"working": not job.done}


@router.get("/{receipt}/events", response_class=StreamingResponse)
async def events(receipt: str, caller: AnyCaller, house: TheHouse) -> Response:
    """Follow a question: its stages and the time it takes, as server-sent events, until it is answered."""
    house.desk.check_following(caller.token)
    await house.desk.in_front(partial(house.database.serving.receipt, receipt, analyst=caller.analyst))
    return StreamingResponse(_followed(house, caller, receipt), media_type="text/event-stream")


async def _followed(house: House, caller: Caller, receipt: str) -> AsyncIterator[str]:
    """Tell each stage as it begins, and the time every second. Never how far the engine is: that is data."""
    said: tuple[str, int] | None = None
    job = house.desk.job(receipt)
    async with house.desk.following(caller.token):
        yield _AGAIN
        while job is not None and not job.done and job.elapsed < _LONGEST:
            if house.desk.stopping:
                yield event("stop", {"receipt": receipt})
                return
            now = (job.stage, int(job.elapsed))
            if now != said:
                said = now
                if not await still_welcome(house, caller):
                    return
                yield event("stage", {"stage": now[0], "elapsed": now[1]})
            await asyncio.sleep(_LOOK)
        yield event("end", {"receipt": receipt})


def event(name: str, document: dict[str, Any]) -> str:
    """Write one server-sent event."""
    return f"event: {name}\ndata: {json.dumps(document)}\n\n"


def _written(
    house: House, caller: Caller, found: Found[Any], form: str, confidence: float, *, release: bool
) -> Response:
    if form == "json":
        return JSONResponse(found_document(house, caller, found, confidence, release=release))
    if not isinstance(found.answer, Answer):
        raise QueryError("batch-csv-several-tables")
    body = found.answer.to_csv().encode() if form == "csv" else found.answer.to_parquet()
    name = f'attachment; filename="{found.answer.receipt[:8]}.{form}"'
    return Response(body, media_type=_KINDS[form], headers={"Content-Disposition": name})
