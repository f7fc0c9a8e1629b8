"""The lab: made-up bits rebuilt from noisy counts, and audits of what Jali has."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from jali.server.api.doors import TheHouse
from jali.server.api.lab import ends_of, epsilon_of, law_of, listed, noise_of, rebuilt, run_audit
from jali.server.house import House
from jali.server.pages.audited import Audited, audited_row, untried
from jali.server.pages.curves import Curve, curve_of
from jali.server.pages.guards import Filled, Visitor
from jali.server.pages.rendering import fragment, page, wants_fragment
from jali.server.work.desk import Busy

router = APIRouter(prefix="/lab")
_TWIN = "/api/v1/lab/audits"
# Sliders say logarithms: of people to the base two, of noise and epsilon to the base ten.
People = Annotated[int, Query(ge=2, le=14)]
Power = Annotated[float | None, Query(ge=-10, le=10)]


@router.get("")
async def lab(request: Request, _: Visitor, house: TheHouse, people: People = 10, noise: Power = 1.0) -> Response:
    """Show the lab."""
    return page("lab.html", request, twin=_TWIN, curve=await _curve(house, people, noise, None))


@router.get("/curve")
async def curve(
    request: Request, _: Visitor, house: TheHouse, people: People = 10, noise: Power = None, loss: Power = None
) -> Response:
    """Draw what is recovered with a noise, or with that of an epsilon."""
    return fragment("curve.html", request, curve=await _curve(house, people, noise, loss))


async def _curve(house: House, people: int, noise: float | None, loss: float | None) -> Curve:
    n = 2**people
    wanted = noise_of(n, 10**loss) if loss is not None else 10 ** (1.0 if noise is None else noise)
    low, high = ends_of(n)
    stddev = min(max(wanted, low), high)
    losses = [epsilon_of(n, end) or 0.0 for end in (high, low)]
    try:
        told = await house.desk.in_lab(partial(rebuilt, n, stddev), most=32)
    except Busy:
        told = law_of(n, stddev)
    return curve_of(people, told, (low, high), (losses[0], losses[1]))


@router.get("/audits")
async def audits(request: Request, _: Visitor, house: TheHouse) -> Response:
    """List what can be audited: the first time this takes a while, so that the script fetches it."""
    rows = [untried(one) for one in await house.desk.in_front(listed)]
    return _listed(request, rows)


@router.get("/audits/{name}")
async def back(_: Visitor) -> Response:
    """Lead whoever loads the address of a form again to the list."""
    return RedirectResponse("/lab/audits", 303)


@router.post("/audits/{name}")
async def audit(request: Request, name: str, _: Visitor, house: TheHouse, __: Filled) -> Response:
    """Try for a few seconds to prove the claims of a name false."""
    told = await run_audit(house, name)
    known = await house.desk.in_front(listed)
    rows = [audited_row(one, told) if one["name"].casefold() == name.casefold() else untried(one) for one in known]
    if wants_fragment(request):
        return fragment("audit.html", request, one=next(row for row in rows if row.tried))
    return _listed(request, sorted(rows, key=lambda row: not row.tried))


def _listed(request: Request, rows: list[Audited]) -> Response:
    if wants_fragment(request):
        return fragment("audits.html", request, audits=rows)
    return page("audits_page.html", request, twin=_TWIN, audits=rows)
