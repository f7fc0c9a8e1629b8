"""Dependencies of routes and pages: the authenticated caller, the curator, the state of the server."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from jali.execution.access_tokens import TokenRefused
from jali.server.auth import SESSION_COOKIE, Caller
from jali.server.csrf import CSRF_HEADER, check_csrf_token
from jali.server.http_errors import refuse_not_allowed, refuse_too_often, require_sign_in
from jali.server.jobs import LANE, Lane
from jali.server.state import AppState, get_state


async def authenticate_caller(request: Request) -> Caller:
    """Authenticate a request by its bearer token or by the session cookie of the pages."""
    state = get_state(request)
    return _admit(state, await _authenticate(request, state))


AnyCaller = Annotated[Caller, Depends(authenticate_caller)]


def require_curator(caller: AnyCaller) -> Caller:
    """Return the curator who makes a request; refuse anybody else."""
    if not caller.curator:
        raise refuse_not_allowed()
    return caller


Curator = Annotated[Caller, Depends(require_curator)]


async def authenticate_page(request: Request) -> Caller:
    """Authenticate a request for a page by its session cookie; without one, redirect to the sign-in page."""
    state, cookie = get_state(request), request.cookies.get(SESSION_COOKIE)
    if not cookie:
        raise require_sign_in()
    try:
        caller = await _authenticate_cookie(state, cookie)
    except TokenRefused as refused:
        raise require_sign_in(refused.reason) from None
    request.state.caller = caller
    return _admit(state, caller)


PageCaller = Annotated[Caller, Depends(authenticate_page)]


def require_page_curator(caller: PageCaller) -> Caller:
    """Return the curator who looks at a page; refuse anybody else."""
    return require_curator(caller)


PageCurator = Annotated[Caller, Depends(require_page_curator)]
CurrentState = Annotated[AppState, Depends(get_state)]
# Security schemes for the OpenAPI document; `authenticate_caller` does the work.
CREDENTIALS = [
    Security(HTTPBearer(scheme_name="token", description="The access token: jali_...", auto_error=False)),
    Security(
        APIKeyCookie(
            name=SESSION_COOKIE,
            scheme_name="session",
            description="The session cookie of the pages; writes also need X-CSRF-Token.",
            auto_error=False,
        )
    ),
]
# For routes that do not ask who it is.
SIGNED_IN, CURATORS = [Depends(authenticate_caller)], [Depends(require_curator)]


async def _authenticate(request: Request, state: AppState) -> Caller:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    try:
        if kind:
            return await authenticate_token(request, state, text if kind.casefold() == "bearer" else "")
        cookie = request.cookies.get(SESSION_COOKIE)
        if cookie:
            check_csrf_token(request, state, cookie, request.headers.get(CSRF_HEADER, ""))
            return await _authenticate_cookie(state, cookie)
    except TokenRefused as refused:
        raise require_sign_in(refused.reason) from None
    raise require_sign_in()


async def _authenticate_cookie(state: AppState, cookie: str) -> Caller:
    return await state.jobs.run_authentication(partial(state.auth.authenticate_cookie, cookie))


def _admit(state: AppState, caller: Caller) -> Caller:
    """Return a caller within the rate limit, whose work goes into the lane of the caller's role."""
    LANE.set(Lane.CURATORS if caller.curator else Lane.ANALYSTS)
    check_rate(state, caller)
    return caller


def check_rate(state: AppState, caller: Caller) -> None:
    """Refuse a request beyond the rate limit of the caller's token."""
    seconds = state.rate_limit.wait(caller.token)
    if seconds:
        raise refuse_too_often(seconds)


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client of a request has left. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def is_still_authenticated(state: AppState, caller: Caller) -> bool:
    """Say whether a caller's token is still good, where a response goes on for long."""
    try:
        await state.jobs.run_authentication(partial(state.auth.authenticate_again, caller))
    except TokenRefused:
        return False
    return True


async def authenticate_token(request: Request, state: AppState, text: str) -> Caller:
    """Return who holds a token. An address with many failed attempts must wait.

    Raises:
        Refused: The token is not good.
    """
    address = "" if request.client is None else request.client.host
    try:
        return await state.jobs.run_authentication(partial(state.auth.authenticate_token, text))
    except TokenRefused:
        seconds = state.failed_sign_ins.wait(address)
        if seconds:
            raise refuse_too_often(seconds) from None
        raise
