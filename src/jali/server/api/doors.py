"""Who may come through which door: the caller of a request, and the curator."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from jali.database.access import Refused
from jali.server.api.envelope import not_allowed, refuse_request, sign_in_needed, too_often
from jali.server.house import House, house_of
from jali.server.people.caller import Caller
from jali.server.people.cookies import NAME
from jali.server.work.lanes import LANE, Lane

WORD = "x-csrf-token"
_SAFE = ("GET", "HEAD", "OPTIONS")


async def caller_of(request: Request) -> Caller:
    """Return who makes a request: by the token that it carries, or by the session of the page."""
    house = house_of(request)
    caller = await _let_in(request, house)
    LANE.set(Lane.CURATORS if caller.curator else Lane.ANALYSTS)
    seconds = house.rates.wait(caller.token)
    if seconds:
        raise too_often(seconds)
    return caller


AnyCaller = Annotated[Caller, Depends(caller_of)]


def curator_of(caller: AnyCaller) -> Caller:
    """Return the curator who makes a request; refuse anybody else."""
    if not caller.curator:
        raise not_allowed()
    return caller


Curator = Annotated[Caller, Depends(curator_of)]
TheHouse = Annotated[House, Depends(house_of)]
# How a caller shows who they are, for the OpenAPI document; `caller_of` looks itself.
SHOWN_BY = [
    Security(HTTPBearer(scheme_name="token", description="jali_..., as the curator gave it.", auto_error=False)),
    Security(
        APIKeyCookie(
            name=NAME, scheme_name="session", description="Of the page; with X-CSRF-Token.", auto_error=False
        )
    ),
]
# For routes that do not ask who it is.
SIGNED_IN, CURATORS = [Depends(caller_of)], [Depends(curator_of)]


async def _let_in(request: Request, house: House) -> Caller:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    try:
        if kind:
            return await by_token(request, house, text if kind.casefold() == "bearer" else "")
        cookie = request.cookies.get(NAME)
        if cookie:
            check_word(request, house, cookie, request.headers.get(WORD, ""))
            return await house.desk.at_door(partial(house.gate.by_cookie, cookie))
    except Refused as refused:
        raise sign_in_needed(refused.reason) from None
    raise sign_in_needed()


async def left(request: Request) -> None:
    """Return when the client of a request has left. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def still_welcome(house: House, caller: Caller) -> bool:
    """Say whether a caller's token is still good, where a response goes on for long."""
    try:
        await house.desk.at_door(partial(house.gate.again, caller))
    except Refused:
        return False
    return True


async def by_token(request: Request, house: House, text: str) -> Caller:
    """Return who holds a token. An address that sent many wrong ones is told to wait.

    Raises:
        Refused: The token is not good.
    """
    address = "" if request.client is None else request.client.host
    try:
        return await house.desk.at_door(partial(house.gate.by_token, text))
    except Refused:
        seconds = house.wrong.wait(address)
        if seconds:
            raise too_often(seconds) from None
        raise


def check_word(request: Request, house: House, cookie: str, word: str) -> None:
    """Refuse a change that comes by a cookie without the word of its session: another site may have made it."""
    if request.method not in _SAFE and not house.gate.cookies.agrees(cookie, word):
        raise refuse_request("form-of-other-session", status=403, type_="FormExpired")
