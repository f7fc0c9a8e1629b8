"""Templates: every text is escaped, and every page knows who looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jali.numerals import decimal
from jali.server.house import house_of
from jali.server.pages.words import counted
from jali.server.people.caller import Caller

FRAGMENT = "x-jali-fragment"


@dataclass(frozen=True)
class Place:
    """One entry of the navigation."""

    title: str
    path: str


_PLACES = (Place("Ask", "/ask"), Place("Budget", "/budget"), Place("Streams", "/streams"), Place("Lab", "/lab"))
_CURATOR = Place("Curator", "/curator")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["part"] = lambda text: quote(str(text), safe="")
    made.filters["decimal"] = decimal
    made.filters["when"] = when
    made.globals["counted"] = counted
    return made


def when(text: str) -> str:
    """Write a time of the ledger without its fractions: it is in UTC.

    Example:
        >>> when("2026-01-31T12:30:05.123+00:00")
        '2026-01-31 12:30:05'
    """
    return text[:19].replace("T", " ")


TEMPLATES = _environment()


def fragment(name: str, request: Request, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Write a part of a page."""
    return HTMLResponse(_written(name, request, context), status)


def page(name: str, request: Request, *, twin: str, status: int = 200, **context: Any) -> HTMLResponse:
    """Write a page.

    Args:
        name: The template.
        request: What it answers.
        twin: Where the same is told in JSON.
        status: Of the response.
        context: What the template shows.
    """
    return HTMLResponse(_written(name, request, context | {"twin": twin}), status)


def wants_fragment(request: Request) -> bool:
    """Say whether the script asks, for a part of a page."""
    return FRAGMENT in request.headers


def seen_caller(request: Request) -> Caller | None:
    """Return who makes a request, as far as somebody looked."""
    found: Caller | None = getattr(request.state, "caller", None)
    return found


def _written(name: str, request: Request, context: dict[str, Any]) -> str:
    caller = seen_caller(request)
    cookies = house_of(request).gate.cookies
    places = () if caller is None else (*_PLACES, *((_CURATOR,) if caller.curator else ()))
    common = {
        "caller": caller,
        "word": "" if caller is None else cookies.word(caller.cookie),
        "places": places,
        "here": request.url.path,
    }
    return TEMPLATES.get_template(name).render(common | context)
