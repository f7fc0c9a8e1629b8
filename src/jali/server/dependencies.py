"""Dependencies of the API's routes: the authenticated caller, the curator, the state of the server."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from jali.execution.access_tokens import TokenRefused
from jali.server.auth import SESSION_COOKIE, Caller
from jali.server.http_errors import refuse_not_allowed, refuse_request, refuse_too_often, require_sign_in
from jali.server.jobs import LANE, Lane
from jali.server.state import AppState, get_state

CSRF_HEADER = "x-csrf-token"
_SAFE = ("GET", "HEAD", "OPTIONS")


async def authenticate_caller(request: Request) -> Caller:
    """Return who makes a request: by the token that it carries, or by the session of the page."""
    house = get_state(request)
    caller = await _authenticate(request, house)
    LANE.set(Lane.CURATORS if caller.curator else Lane.ANALYSTS)
    seconds = house.rates.wait(caller.token)
    if seconds:
        raise refuse_too_often(seconds)
    return caller


AnyCaller = Annotated[Caller, Depends(authenticate_caller)]


def require_curator(caller: AnyCaller) -> Caller:
    """Return the curator who makes a request; refuse anybody else."""
    if not caller.curator:
        raise refuse_not_allowed()
    return caller


Curator = Annotated[Caller, Depends(require_curator)]
CurrentState = Annotated[AppState, Depends(get_state)]
# How a caller shows who they are, for the OpenAPI document; `authenticate_caller` looks itself.
SHOWN_BY = [
    Security(HTTPBearer(scheme_name="token", description="jali_..., as the curator gave it.", auto_error=False)),
    Security(
        APIKeyCookie(
            name=SESSION_COOKIE,
            scheme_name="session",
            description="Of the page; with X-CSRF-Token.",
            auto_error=False,
        )
    ),
]
# For routes that do not ask who it is.
SIGNED_IN, CURATORS = [Depends(authenticate_caller)], [Depends(require_curator)]


async def _authenticate(request: Request, house: AppState) -> Caller:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    try:
        if kind:
            return await authenticate_token(request, house, text if kind.casefold() == "bearer" else "")
        cookie = request.cookies.get(SESSION_COOKIE)
        if cookie:
            check_csrf_token(request, house, cookie, request.headers.get(CSRF_HEADER, ""))
            return await house.desk.run_authentication(partial(house.gate.authenticate_cookie, cookie))
    except TokenRefused as refused:
        raise require_sign_in(refused.reason) from None
    raise require_sign_in()


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client of a request has left. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def is_still_authenticated(house: AppState, caller: Caller) -> bool:
    """Say whether a caller's token is still good, where a response goes on for long."""
    try:
        await house.desk.run_authentication(partial(house.gate.authenticate_again, caller))
    except TokenRefused:
        return False
    return True


async def authenticate_token(request: Request, house: AppState, text: str) -> Caller:
    """Return who holds a token. An address that sent many wrong ones is told to wait.

    Raises:
        Refused: The token is not good.
    """
    address = "" if request.client is None else request.client.host
    try:
        return await house.desk.run_authentication(partial(house.gate.authenticate_token, text))
    except TokenRefused:
        seconds = house.wrong.wait(address)
        if seconds:
            raise refuse_too_often(seconds) from None
        raise


def check_csrf_token(request: Request, house: AppState, cookie: str, word: str) -> None:
    """Refuse a change that comes by a cookie without the word of its session: another site may have made it."""
    if request.method not in _SAFE and not house.gate.cookies.matches_csrf_token(cookie, word):
        raise refuse_request("form-of-other-session", status=403, type_="FormExpired")
