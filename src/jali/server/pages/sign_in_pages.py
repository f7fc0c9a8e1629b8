"""The pages to sign in with a token, and to sign out."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from jali.execution.access_tokens import TokenRefused
from jali.server.auth import SESSION_COOKIE, SESSION_HOURS, Caller
from jali.server.dependencies import PageCaller, authenticate_token, check_rate
from jali.server.http_errors import refuse_request
from jali.server.pages.page_forms import CheckedForm, local_path, read_form
from jali.server.pages.rendering import render_page
from jali.server.state import AppState, get_state

router = APIRouter()
_JSON_URL = "/api/v1/me"


@router.get("/sign-in")
async def form(request: Request, next: str = "/") -> Response:  # noqa: A002 - what the address calls it
    """Ask for a token."""
    return render_page("sign_in.html", request, json_url=_JSON_URL, next=local_path(next), reason="")


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Let somebody in who holds a good token; the session names the token and holds no secret."""
    _check_origin(request)
    state, fields = get_state(request), await read_form(request)
    onward = local_path(fields.get("next", "/"))
    try:
        caller = await authenticate_token(request, state, fields.get("token", ""))
    except TokenRefused as refused:
        return render_page(
            "sign_in.html", request, json_url=_JSON_URL, status=401, next=onward, reason=refused.reason.text
        )
    check_rate(state, caller)
    return _start_session(state, caller, onward)


def _check_origin(request: Request) -> None:
    """Refuse another site that would sign somebody in as somebody else.

    Browsers say where a form comes from, over plain HTTP by its origin alone; programs say nothing.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    ours = urlsplit(origin or "").netloc.casefold() == request.headers.get("host", "").casefold()
    if site not in (None, "same-origin", "none") or (site is None and origin is not None and not ours):
        raise refuse_request("form-of-other-site", status=403, type_="FormExpired")


def _start_session(state: AppState, caller: Caller, onward: str) -> Response:
    response = RedirectResponse(onward, 303)
    response.set_cookie(
        SESSION_COOKIE,
        state.auth.cookies.sign(caller.token),
        max_age=SESSION_HOURS * 3600,
        path="/",
        secure=state.settings.secure,
        httponly=True,
        samesite="strict",
    )
    return response


@router.get("/sign-out")
async def stay(_: PageCaller) -> Response:
    """Lead whoever loads the address of the form again to the first page."""
    return RedirectResponse("/", 303)


@router.post("/sign-out")
async def sign_out(request: Request, caller: PageCaller, _: CheckedForm) -> Response:
    """End the session, in this browser and wherever its cookie is."""
    get_state(request).auth.sign_out(caller.cookie)
    response = RedirectResponse("/sign-in", 303)
    secure = get_state(request).settings.secure
    response.delete_cookie(SESSION_COOKIE, path="/", secure=secure, httponly=True, samesite="strict")
    return response
