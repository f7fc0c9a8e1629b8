"""The lab: made-up bits rebuilt from noisy counts, and audits of what Jali has."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from jali.server.api.doors import TheHouse
from jali.server.api.lab import listed
from jali.server.pages.guards import Visitor
from jali.server.pages.rendering import fragment, page

router = APIRouter(prefix="/lab")
_TWIN = "/api/v1/lab/audits"


@router.get("")
async def lab(request: Request, _: Visitor) -> Response:
    """Show the lab."""
    return page("lab.html", request, twin=_TWIN)


@router.get("/audits")
async def audits(request: Request, _: Visitor, house: TheHouse) -> Response:
    """List what can be audited: the first time this takes a while, so that the script fetches it."""
    return fragment("audits.html", request, audits=await house.desk.in_front(listed))
