"""Whether the server lives, and what it counted."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from jali.server.dependencies import CURATORS, SHOWN_BY, CurrentState
from jali.server.schemas import REFUSED, Responses

router = APIRouter(tags=["health"])
_REFUSED: Responses = {status: REFUSED[status] for status in (401, 403, 429)}


@router.get("/health")
async def health(house: CurrentState) -> dict[str, str]:
    """Say that the server answers and its ledger opens."""
    await house.desk.run_authentication(house.database.streams.list)
    return {"status": "ok"}


@router.get("/metrics", response_class=PlainTextResponse, dependencies=[*SHOWN_BY, *CURATORS], responses=_REFUSED)
async def metrics(house: CurrentState) -> Response:
    """Show how many requests were answered, by route and status. No times and no sizes."""
    return PlainTextResponse(house.metrics.text(house.desk.under_way))
