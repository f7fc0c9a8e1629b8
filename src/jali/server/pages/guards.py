"""The doors of the pages: who is signed in, who is a curator, and whether a form is one of ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from jali.database.access import Refused
from jali.server.api.doors import check_word
from jali.server.api.envelope import malformed, not_allowed, sign_in_needed, too_often
from jali.server.api.mistakes import mistake
from jali.server.house import house_of
from jali.server.people.caller import Caller
from jali.server.people.cookies import NAME
from jali.server.work.lanes import LANE, Lane

Fields = Mapping[str, str]
F = TypeVar("F", bound=BaseModel)


async def visitor_of(request: Request) -> Caller:
    """Return who looks at a page; who is not signed in is sent to do so."""
    house, cookie = house_of(request), request.cookies.get(NAME)
    if not cookie:
        raise sign_in_needed()
    try:
        caller = await house.desk.at_door(partial(house.gate.by_cookie, cookie))
    except Refused as refused:
        raise sign_in_needed(refused.reason) from None
    request.state.caller = caller
    LANE.set(Lane.CURATORS if caller.curator else Lane.ANALYSTS)
    seconds = house.rates.wait(caller.token)
    if seconds:
        raise too_often(seconds)
    return caller


Visitor = Annotated[Caller, Depends(visitor_of)]


def curator_of(visitor: Visitor) -> Caller:
    """Return the curator who looks at a page; refuse anybody else."""
    if not visitor.curator:
        raise not_allowed()
    return visitor


Curator = Annotated[Caller, Depends(curator_of)]


async def filled(request: Request, visitor: Visitor) -> Fields:
    """Return the fields of a form that carries the word of its session; refuse any other."""
    found = await read_form(request)
    check_word(request, house_of(request), visitor.cookie, found.get("csrf", ""))
    return found


Filled = Annotated[Fields, Depends(filled)]


async def read_form(request: Request) -> Fields:
    """Return the texts of a form."""
    async with request.form(max_files=0, max_fields=100) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def local(path: str) -> str:
    r"""Return a path of this site; its first page instead of anything that a browser may take for another site.

    Example:
        >>> local("/budget?x=1"), local("//evil.example"), local("https://evil.example"), local("/\\evil.example")
        ('/budget?x=1', '/', '/', '/')
    """
    plain = path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def read_as(kind: type[F], told: Mapping[str, object]) -> F:
    """Read what a form says; what was left empty was not said.

    Raises:
        RequestRefused: A field is wrong.
    """
    try:
        return kind.model_validate({name: value for name, value in told.items() if value not in ("", None)})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise malformed(mistake(first, first["loc"])) from None
