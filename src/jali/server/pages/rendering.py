"""Render templates: every text is escaped, and every page knows its caller.

Phrases are written for pages, which have forms and buttons where Python has calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jali.errors import Face, Phrase, write
from jali.execution.accounts import describe_budget
from jali.numbers.exact import decimal
from jali.privacy import Budget
from jali.server.auth import Caller
from jali.server.state import get_state


def write_phrase(phrase: Phrase) -> str:
    """Write a phrase for a page."""
    return write(phrase.code, phrase.fields, Face.PAGE).message


def write_budget(budget: Budget) -> str:
    """Write a budget for a page.

    Example:
        >>> write_budget(Budget(3)), write_budget(Budget(1, delta="1e-6"))
        ('epsilon 3', 'epsilon 1, delta 1e-06')
    """
    return write_phrase(describe_budget(budget))


def count_things(number: int, thing: str) -> str:
    """Say how many there are.

    Example:
        >>> count_things(1, "value"), count_things(1200, "value")
        ('1 value', '1,200 values')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


FRAGMENT = "x-jali-fragment"


@dataclass(frozen=True)
class NavigationEntry:
    """One entry of the navigation."""

    title: str
    path: str


_NAVIGATION = (
    NavigationEntry("Ask", "/ask"),
    NavigationEntry("Budget", "/budget"),
    NavigationEntry("Streams", "/streams"),
    NavigationEntry("Lab", "/lab"),
)
_CURATOR = NavigationEntry("Curator", "/curator")


def _make_environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["part"] = lambda text: quote(str(text), safe="")
    made.filters["decimal"] = decimal
    made.filters["when"] = format_time
    made.globals["counted"] = count_things
    return made


def format_time(text: str) -> str:
    """Write a time of the ledger without its fractions: it is in UTC.

    Example:
        >>> format_time("2026-01-31T12:30:05.123+00:00")
        '2026-01-31 12:30:05'
    """
    return text[:19].replace("T", " ")


TEMPLATES = _make_environment()


def render_fragment(name: str, request: Request, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Write a part of a page."""
    return HTMLResponse(_render(name, request, context), status)


def render_page(name: str, request: Request, *, json_url: str, status: int = 200, **context: Any) -> HTMLResponse:
    """Write a page.

    Args:
        name: The template.
        request: What it answers.
        json_url: Where the same is available as JSON.
        status: Of the response.
        context: What the template shows.
    """
    return HTMLResponse(_render(name, request, context | {"json_url": json_url}), status)


def wants_fragment(request: Request) -> bool:
    """Say whether the script asks, for a part of a page."""
    return FRAGMENT in request.headers


def find_caller(request: Request) -> Caller | None:
    """Return who makes a request, if it is authenticated."""
    found: Caller | None = getattr(request.state, "caller", None)
    return found


def _render(name: str, request: Request, context: dict[str, Any]) -> str:
    caller = find_caller(request)
    cookies = get_state(request).auth.cookies
    navigation = () if caller is None else (*_NAVIGATION, *((_CURATOR,) if caller.curator else ()))
    common = {
        "caller": caller,
        "csrf_token": "" if caller is None else cookies.csrf_token(caller.cookie),
        "navigation": navigation,
        "path": request.url.path,
    }
    return TEMPLATES.get_template(name).render(common | context)
