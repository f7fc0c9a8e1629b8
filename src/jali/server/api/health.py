"""Whether the server lives, and what it counted."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from jali.server.api.doors import CURATORS, SHOWN_BY, TheHouse
from jali.server.api.told import REFUSED, Responses

router = APIRouter(tags=["health"])
_REFUSED: Responses = {status: REFUSED[status] for status in (401, 403, 429)}


@router.get("/health")
async def health(house: TheHouse) -> dict[str, str]:
    """Say that the server answers and its ledger opens."""
    await house.desk.at_door(house.database.streams)
    return {"status": "ok"}


@router.get("/metrics", response_class=PlainTextResponse, dependencies=[*SHOWN_BY, *CURATORS], responses=_REFUSED)
async def metrics(house: TheHouse) -> Response:
    """Show how many requests were answered, by route and status. No times and no sizes."""
    return PlainTextResponse(house.metrics.text(house.desk.under_way))
