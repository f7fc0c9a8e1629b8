"""Streams: what was published, tick after tick, as it comes."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from jali.display.cells import flat
from jali.display.text import legend
from jali.documents.streams import stream_json
from jali.server.api.doors import TheHouse
from jali.server.api.streams import view, views
from jali.server.house import House
from jali.server.pages.answers import grid_of
from jali.server.pages.guards import Visitor
from jali.server.pages.rendering import fragment, page
from jali.server.pages.strands import picture_of
from jali.stream import StreamView
from jali.stream_display import CONFIDENCE, headline, paid, rows, seen, usual

router = APIRouter(prefix="/streams")
_TWIN = "/api/v1/streams"


@router.get("")
async def listed(request: Request, _: Visitor, house: TheHouse) -> Response:
    """List the streams."""
    found = await house.desk.in_front(lambda: [_declared(one) for one in views(house)])
    return page("streams.html", request, twin=_TWIN, streams=found)


@router.get("/{name}")
async def stream(request: Request, name: str, _: Visitor, house: TheHouse) -> Response:
    """Show one stream."""
    told = await house.desk.in_front(partial(_shown, house, name))
    twin = f"{_TWIN}/{quote(told['stream']['stream'], safe='')}"
    return page("stream.html", request, twin=twin, **told)


@router.get("/{name}/picture")
async def picture(request: Request, name: str, _: Visitor, house: TheHouse) -> Response:
    """Draw one stream as it is now."""
    told = await house.desk.in_front(partial(_shown, house, name))
    return fragment("picture.html", request, **told)


def _declared(known: StreamView) -> dict[str, Any]:
    return stream_json(known) | {"headline": headline(known, known.published), "paid": paid(known)}


def _shown(house: House, name: str) -> dict[str, Any]:
    known = view(house, name)
    ticks = known.ticks()
    columns, found, spans = rows(known, ticks[-usual(known) :])
    return {
        "stream": _declared(known),
        "published": len(ticks),
        "picture": picture_of(seen(known, ticks)),
        "grid": grid_of(columns, found[::-1], spans[::-1]) if found else None,
        "legend": legend(*flat(found, spans), CONFIDENCE),
        "explained": known.explain(),
    }
