"""Streams: what was published, tick after tick; and for curators, the way in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from jali.documents.releases import without_folders
from jali.documents.streams import stream_json, tick_json, ticks_json
from jali.errors import QueryError
from jali.query.catalog import Range
from jali.query.written import read_end
from jali.server.api.doors import CURATORS, AnyCaller, Curator, TheHouse, still_welcome
from jali.server.api.envelope import not_found
from jali.server.api.forms import ItemsForm, PublishForm, StreamForm
from jali.server.api.receipts import Confidence, event
from jali.server.api.told import EXCEEDED
from jali.server.house import House
from jali.server.people.caller import Caller
from jali.stream import StreamView

router = APIRouter(prefix="/streams", tags=["streams"])
# How often a stream is looked at for new ticks, in seconds, and for how long one request follows it.
_LOOK, _LONGEST = 0.5, 3600.0


@router.get("")
async def streams(house: TheHouse) -> dict[str, Any]:
    """List the streams as declared, and how far they have come."""

    def found() -> dict[str, Any]:
        return {"streams": [stream_json(view) for view in views(house)]}

    return await house.desk.in_front(found)


def views(house: House) -> list[StreamView]:
    """Return all streams as anybody may see them."""
    return [house.database.stream_view(name) for name in house.database.streams()]


def view(house: House, name: str) -> StreamView:
    """Return a stream as anybody may see it."""
    if name.casefold() not in {one.casefold() for one in house.database.streams()}:
        raise not_found("stream of this name")
    return house.database.stream_view(name)


@router.get("/{name}")
async def stream(
    name: str, house: TheHouse, confidence: Confidence = 0.95, release: bool = False
) -> dict[str, Any]:
    """Show what a stream has published. It costs nothing: the whole stream is paid."""

    def found() -> dict[str, Any]:
        known = view(house, name)
        told = stream_json(known) | ticks_json(known.ticks(), confidence)
        return told | (_release(house, known) if release else {})

    return await house.desk.in_front(found)


def _release(house: House, known: StreamView) -> dict[str, Any]:
    """Return what a client makes the same stream from."""
    return {
        "declaration": without_folders(known.declaration.text()),
        "bodies": list(house.database.stream_bodies(known.name)),
    }


@router.get("/{name}/events", response_class=StreamingResponse)
async def events(
    name: str, caller: AnyCaller, house: TheHouse, after: Annotated[int, Query(ge=0, le=1 << 40)] = 0
) -> Response:
    """Follow a stream: each tick as it is published, as server-sent events."""
    house.desk.check_following(caller.token)
    known = await house.desk.in_front(partial(view, house, name))
    return StreamingResponse(_followed(house, caller, known, after), media_type="text/event-stream")


async def _followed(house: House, caller: Caller, known: StreamView, after: int) -> AsyncIterator[str]:
    async with house.desk.following(caller.token):
        async for told in _ticks(house, caller, known, after):
            yield told


async def _ticks(house: House, caller: Caller, known: StreamView, after: int) -> AsyncIterator[str]:
    """Tell each tick as it is published, as long as the caller's token is good."""
    waited = 0.0
    yield event("begin", {"stream": known.name})
    while waited < _LONGEST and not house.desk.stopping and await still_welcome(house, caller):
        published = await house.desk.in_front(lambda: known.published)
        if published > after:
            tick = await house.desk.in_front(partial(known.value, after + 1))
            after += 1
            yield event("tick", tick_json(tick, 0.95))
            continue
        await asyncio.sleep(_LOOK)
        waited += _LOOK
        yield ": nothing new\n\n"


@router.post("", tags=["curator"], status_code=201, responses=EXCEEDED)
async def create(form: StreamForm, caller: Curator, house: TheHouse) -> dict[str, Any]:
    """Make a stream. Its whole loss is charged now, once."""

    def made() -> dict[str, Any]:
        said = form.model_dump(exclude={"stream", "value", "unit"}, exclude_none=True)
        if form.value is not None:
            said["value"] = Range(*(read_end(str(end)) for end in form.value))
        if form.query is None:
            said["unit"] = form.unit
        with house.database.access.acting(caller.name, "make stream", form.stream):
            return stream_json(house.database.stream(form.stream, **said))

    return await house.desk.in_front(made)


@router.post("/{name}/items", tags=["curator"], dependencies=CURATORS)
async def append(name: str, form: ItemsForm, house: TheHouse) -> dict[str, Any]:
    """Add items to the open tick: all of them durably, or none. What is returned is for the curator alone."""

    def appended() -> dict[str, Any]:
        known = house.database.stream(view(house, name).name)
        found = known.append(form.items)
        return {
            "new": found.new,
            "known": found.known,
            "dropped": found.dropped,
            "unreadable": found.unreadable,
        }

    return await house.desk.in_front(appended)


@router.post("/{name}/publish", tags=["curator"])
async def publish(name: str, form: PublishForm, caller: Curator, house: TheHouse) -> dict[str, Any]:
    """Close the open tick and publish the number; what was published before is returned as it was."""

    def published() -> dict[str, Any]:
        known = house.database.stream(view(house, name).name)
        if form.tick is not None and form.tick > known.published + _MOST_TICKS:
            raise QueryError("ticks-too-many", most=_MOST_TICKS)
        with house.database.access.acting(caller.name, "publish tick", known.name):
            return {"stream": known.name} | tick_json(known.publish(form.tick), 0.95)

    return await house.desk.in_front(published)


_MOST_TICKS = 10_000
