"""Routes of streams: what was published, tick after tick; and for curators, creating, appending and publishing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from jali.catalog.columns import Range, read_end
from jali.client.catalog_documents import encode_stream, encode_tick, encode_ticks
from jali.client.release_documents import strip_folders
from jali.errors import QueryError
from jali.server.api.receipt_routes import Confidence, write_event
from jali.server.auth import Caller
from jali.server.dependencies import CURATORS, AnyCaller, Curator, CurrentState, is_still_authenticated
from jali.server.http_errors import refuse_not_found
from jali.server.schemas import EXCEEDED, ItemsForm, PublishForm, StreamForm
from jali.server.state import AppState
from jali.stream import StreamView

router = APIRouter(prefix="/streams", tags=["streams"])
# How often a stream is looked at for new ticks, in seconds, and for how long one request follows it.
_LOOK, _LONGEST = 0.5, 3600.0


@router.get("")
async def streams(house: CurrentState) -> dict[str, Any]:
    """List the streams as declared, and how far they have come."""

    def list_documents() -> dict[str, Any]:
        return {"streams": [encode_stream(view) for view in list_stream_views(house)]}

    return await house.desk.run_without_data(list_documents)


def list_stream_views(house: AppState) -> list[StreamView]:
    """Return all streams as anybody may see them."""
    return [house.database.streams.view(name) for name in house.database.streams.list()]


def find_stream_view(house: AppState, name: str) -> StreamView:
    """Return a stream as anybody may see it."""
    if name.casefold() not in {one.casefold() for one in house.database.streams.list()}:
        raise refuse_not_found("stream of this name")
    return house.database.streams.view(name)


@router.get("/{name}")
async def stream(
    name: str, house: CurrentState, confidence: Confidence = 0.95, release: bool = False
) -> dict[str, Any]:
    """Show what a stream has published. It costs nothing: the whole stream is paid."""

    def build_document() -> dict[str, Any]:
        known = find_stream_view(house, name)
        told = encode_stream(known) | encode_ticks(known.ticks(), confidence)
        return told | (_build_stream_release(house, known) if release else {})

    return await house.desk.run_without_data(build_document)


def _build_stream_release(house: AppState, known: StreamView) -> dict[str, Any]:
    """Return what a client makes the same stream from."""
    return {
        "declaration": strip_folders(known.declaration.text()),
        "bodies": list(house.database.streams.bodies(known.name)),
    }


@router.get("/{name}/events", response_class=StreamingResponse)
async def events(
    name: str, caller: AnyCaller, house: CurrentState, after: Annotated[int, Query(ge=0, le=1 << 40)] = 0
) -> Response:
    """Follow a stream: each tick as it is published, as server-sent events."""
    house.desk.check_following(caller.token)
    known = await house.desk.run_without_data(partial(find_stream_view, house, name))
    return StreamingResponse(_follow_stream(house, caller, known, after), media_type="text/event-stream")


async def _follow_stream(house: AppState, caller: Caller, known: StreamView, after: int) -> AsyncIterator[str]:
    async with house.desk.count_follower(caller.token):
        async for told in _send_ticks(house, caller, known, after):
            yield told


async def _send_ticks(house: AppState, caller: Caller, known: StreamView, after: int) -> AsyncIterator[str]:
    """Tell each tick as it is published, as long as the caller's token is good."""
    waited = 0.0
    yield write_event("begin", {"stream": known.name})
    while waited < _LONGEST and not house.desk.stopping and await is_still_authenticated(house, caller):
        published = await house.desk.run_without_data(lambda: known.published)
        if published > after:
            tick = await house.desk.run_without_data(partial(known.value, after + 1))
            after += 1
            yield write_event("tick", encode_tick(tick, 0.95))
            continue
        await asyncio.sleep(_LOOK)
        waited += _LOOK
        yield ": nothing new\n\n"


@router.post("", tags=["curator"], status_code=201, responses=EXCEEDED)
async def create(form: StreamForm, caller: Curator, house: CurrentState) -> dict[str, Any]:
    """Make a stream. Its whole loss is charged now, once."""

    def create_stream() -> dict[str, Any]:
        said = form.model_dump(exclude={"stream", "value", "unit"}, exclude_none=True)
        if form.value is not None:
            said["value"] = Range(*(read_end(str(end)) for end in form.value))
        if form.query is None:
            said["unit"] = form.unit
        with house.database.access.acting(caller.name, "make stream", form.stream):
            return encode_stream(house.database.stream(form.stream, **said))

    return await house.desk.run_without_data(create_stream)


@router.post("/{name}/items", tags=["curator"], dependencies=CURATORS)
async def append(name: str, form: ItemsForm, house: CurrentState) -> dict[str, Any]:
    """Add items to the open tick: all of them durably, or none. What is returned is for the curator alone."""

    def append_items() -> dict[str, Any]:
        known = house.database.stream(find_stream_view(house, name).name)
        found = known.append(form.items)
        return {
            "new": found.new,
            "known": found.known,
            "dropped": found.dropped,
            "unreadable": found.unreadable,
        }

    return await house.desk.run_without_data(append_items)


@router.post("/{name}/publish", tags=["curator"])
async def publish(name: str, form: PublishForm, caller: Curator, house: CurrentState) -> dict[str, Any]:
    """Close the open tick and publish the number; what was published before is returned as it was."""

    def publish_tick() -> dict[str, Any]:
        known = house.database.stream(find_stream_view(house, name).name)
        if form.tick is not None and form.tick > known.published + _MOST_TICKS:
            raise QueryError("ticks-too-many", most=_MOST_TICKS)
        with house.database.access.acting(caller.name, "publish tick", known.name):
            return {"stream": known.name} | encode_tick(known.publish(form.tick), 0.95)

    return await house.desk.run_without_data(publish_tick)


_MOST_TICKS = 10_000
