"""The pages of streams: what was published, tick after tick, as it comes."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from jali.client.catalog_documents import encode_stream
from jali.display.stream_display import (
    CONFIDENCE,
    build_rows,
    build_small_plot,
    count_usual_ticks,
    write_cost,
    write_headline,
)
from jali.display.text import write_legend
from jali.display.view_models import flatten_cells
from jali.server.api.stream_routes import find_stream_view, list_stream_views
from jali.server.dependencies import CurrentState, PageCaller
from jali.server.pages.answer_view import build_grid
from jali.server.pages.charts import build_stream_picture
from jali.server.pages.rendering import render_fragment, render_page
from jali.server.state import AppState
from jali.stream import StreamView

router = APIRouter(prefix="/streams")
_JSON_URL = "/api/v1/streams"


@router.get("")
async def list_streams(request: Request, _: PageCaller, state: CurrentState) -> Response:
    """List the streams."""
    found = await state.jobs.run_without_data(lambda: [_describe_stream(one) for one in list_stream_views(state)])
    return render_page("streams.html", request, json_url=_JSON_URL, streams=found)


@router.get("/{name}")
async def stream(request: Request, name: str, _: PageCaller, state: CurrentState) -> Response:
    """Show one stream."""
    document = await state.jobs.run_without_data(partial(_show_stream, state, name))
    json_url = f"{_JSON_URL}/{quote(document['stream']['stream'], safe='')}"
    return render_page("stream.html", request, json_url=json_url, **document)


@router.get("/{name}/picture")
async def picture(request: Request, name: str, _: PageCaller, state: CurrentState) -> Response:
    """Draw one stream as it is now."""
    document = await state.jobs.run_without_data(partial(_show_stream, state, name))
    return render_fragment("picture.html", request, **document)


def _describe_stream(known: StreamView) -> dict[str, Any]:
    return encode_stream(known) | {"headline": write_headline(known, known.published), "paid": write_cost(known)}


def _show_stream(state: AppState, name: str) -> dict[str, Any]:
    known = find_stream_view(state, name)
    ticks = known.ticks()
    columns, found, spans = build_rows(known, ticks[-count_usual_ticks(known) :])
    return {
        "stream": _describe_stream(known),
        "published": len(ticks),
        "picture": build_stream_picture(build_small_plot(known, ticks)),
        "grid": build_grid(columns, found[::-1], spans[::-1]) if found else None,
        "legend": write_legend(*flatten_cells(found, spans), CONFIDENCE),
        "explained": known.explain(),
    }
