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
async def streams(state: CurrentState) -> dict[str, Any]:
    """List the streams with their declarations and published ticks."""

    def list_documents() -> dict[str, Any]:
        return {"streams": [encode_stream(view) for view in list_stream_views(state)]}

    return await state.jobs.run_without_data(list_documents)


def list_stream_views(state: AppState) -> list[StreamView]:
    """Return all streams as anybody may see them."""
    return [state.database.streams.view(name) for name in state.database.streams.list()]


def find_stream_view(state: AppState, name: str) -> StreamView:
    """Return a stream as anybody may see it."""
    if name.casefold() not in {one.casefold() for one in state.database.streams.list()}:
        raise refuse_not_found("stream of this name")
    return state.database.streams.view(name)


@router.get("/{name}")
async def stream(
    name: str, state: CurrentState, confidence: Confidence = 0.95, release: bool = False
) -> dict[str, Any]:
    """Show what a stream has published. It is free: the stream was charged when it was created."""

    def build_document() -> dict[str, Any]:
        known = find_stream_view(state, name)
        document = encode_stream(known) | encode_ticks(known.ticks(), confidence)
        return document | (_build_stream_release(state, known) if release else {})

    return await state.jobs.run_without_data(build_document)


def _build_stream_release(state: AppState, known: StreamView) -> dict[str, Any]:
    """Return what a client makes the same stream from."""
    return {
        "declaration": strip_folders(known.declaration.text()),
        "bodies": list(state.database.streams.bodies(known.name)),
    }


@router.get("/{name}/events", response_class=StreamingResponse)
async def events(
    name: str, caller: AnyCaller, state: CurrentState, after: Annotated[int, Query(ge=0, le=1 << 40)] = 0
) -> Response:
    """Follow a stream: each tick as it is published, as server-sent events."""
    state.jobs.check_following(caller.token)
    known = await state.jobs.run_without_data(partial(find_stream_view, state, name))
    return StreamingResponse(_follow_stream(state, caller, known, after), media_type="text/event-stream")


async def _follow_stream(state: AppState, caller: Caller, known: StreamView, after: int) -> AsyncIterator[str]:
    async with state.jobs.count_follower(caller.token):
        async for document in _send_ticks(state, caller, known, after):
            yield document


async def _send_ticks(state: AppState, caller: Caller, known: StreamView, after: int) -> AsyncIterator[str]:
    """Tell each tick as it is published, as long as the caller's token is good."""
    waited = 0.0
    yield write_event("begin", {"stream": known.name})
    while waited < _LONGEST and not state.jobs.stopping and await is_still_authenticated(state, caller):
        published = await state.jobs.run_without_data(lambda: known.published)
        if published > after:
            tick = await state.jobs.run_without_data(partial(known.value, after + 1))
            after += 1
            yield write_event("tick", encode_tick(tick, 0.95))
            continue
        await asyncio.sleep(_LOOK)
        waited += _LOOK
        yield ": nothing new\n\n"


@router.post("", tags=["curator"], status_code=201, responses=EXCEEDED)
async def create(form: StreamForm, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Create a stream. Its total privacy loss is charged once, now."""

    def create_stream() -> dict[str, Any]:
        declared = form.model_dump(exclude={"stream", "value", "unit"}, exclude_none=True)
        if form.value is not None:
            declared["value"] = Range(*(read_end(str(end)) for end in form.value))
        if form.query is None:
            declared["unit"] = form.unit
        with state.database.access.acting(caller.name, "make stream", form.stream):
            return encode_stream(state.database.stream(form.stream, **declared))

    return await state.jobs.run_without_data(create_stream)


@router.post("/{name}/items", tags=["curator"], dependencies=CURATORS)
async def append(name: str, form: ItemsForm, state: CurrentState) -> dict[str, Any]:
    """Append items to the open tick, all of them or none. The response is for curators only."""

    def append_items() -> dict[str, Any]:
        known = state.database.stream(find_stream_view(state, name).name)
        found = known.append(form.items)
        return {
            "new": found.new,
            "known": found.known,
            "dropped": found.dropped,
            "unreadable": found.unreadable,
        }

    return await state.jobs.run_without_data(append_items)


@router.post("/{name}/publish", tags=["curator"])
async def publish(name: str, form: PublishForm, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Close the open tick and publish its noisy value; published ticks never change."""

    def publish_tick() -> dict[str, Any]:
        known = state.database.stream(find_stream_view(state, name).name)
        if form.tick is not None and form.tick > known.published + _MOST_TICKS:
            raise QueryError("ticks-too-many", most=_MOST_TICKS)
        with state.database.access.acting(caller.name, "publish tick", known.name):
            return {"stream": known.name} | encode_tick(known.publish(form.tick), 0.95)

    return await state.jobs.run_without_data(publish_tick)


_MOST_TICKS = 10_000
