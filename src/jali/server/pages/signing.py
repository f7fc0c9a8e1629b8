"""Signing in with a token, and out."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from jali.database.access import Refused
from jali.server.api.doors import by_token
from jali.server.api.envelope import refuse_request, too_often
from jali.server.house import House, house_of
from jali.server.pages.guards import Filled, Visitor, local, read_form
from jali.server.pages.rendering import page
from jali.server.people.caller import Caller
from jali.server.people.cookies import HOURS, NAME

router = APIRouter()
_TWIN = "/api/v1/me"


@router.get("/sign-in")
async def form(request: Request, next: str = "/") -> Response:  # noqa: A002 - what the address calls it
    """Ask for a token."""
    return page("sign_in.html", request, twin=_TWIN, next=local(next), reason="")


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Let somebody in who holds a good token; the session names the token and holds no secret."""
    _check_origin(request)
    house, fields = house_of(request), await read_form(request)
    onward = local(fields.get("next", "/"))
    try:
        caller = await by_token(request, house, fields.get("token", ""))
    except Refused as refused:
        return page("sign_in.html", request, twin=_TWIN, status=401, next=onward, reason=refused.reason.text)
    seconds = house.rates.wait(caller.token)
    if seconds:
        raise too_often(seconds)
    return _let_in(house, caller, onward)


def _check_origin(request: Request) -> None:
    """Refuse another site that would sign somebody in as somebody else.

    Browsers say where a form comes from, over plain HTTP by its origin alone; programs say nothing.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    ours = urlsplit(origin or "").netloc.casefold() == request.headers.get("host", "").casefold()
    if site not in (None, "same-origin", "none") or (site is None and origin is not None and not ours):
        raise refuse_request("form-of-other-site", status=403, type_="FormExpired")


def _let_in(house: House, caller: Caller, onward: str) -> Response:
    response = RedirectResponse(onward, 303)
    response.set_cookie(
        NAME,
        house.gate.cookies.make(caller.token),
        max_age=HOURS * 3600,
        path="/",
        secure=house.settings.secure,
        httponly=True,
        samesite="strict",
    )
    return response


@router.get("/sign-out")
async def stay(_: Visitor) -> Response:
    """Lead whoever loads the address of the form again to the first page."""
    return RedirectResponse("/", 303)


@router.post("/sign-out")
async def sign_out(request: Request, visitor: Visitor, _: Filled) -> Response:
    """End the session, in this browser and wherever its cookie is."""
    house_of(request).gate.sign_out(visitor.cookie)
    response = RedirectResponse("/sign-in", 303)
    secure = house_of(request).settings.secure
    response.delete_cookie(NAME, path="/", secure=secure, httponly=True, samesite="strict")
    return response
