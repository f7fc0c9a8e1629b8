"""Errors on pages: a page, or a card where the script asked for a part; never more than the envelope says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from jali.errors import BudgetExceeded, Face, Fit, JaliError
from jali.numerals import decimal
from jali.server.api.envelope import RequestRefused, status_of
from jali.server.pages.rendering import fragment, page, wants_fragment

# So much of a long line of SQL is shown on both sides of what is wrong.
_AROUND = 60
_TITLES = {
    401: "Sign in",
    402: "The budget refuses this",
    403: "This is not allowed",
    404: "There is no such page",
    429: "Too many requests",
    503: "Not now",
}


@dataclass(frozen=True)
class Failure:
    """An error as a card shows it.

    Attributes:
        title: What happened, in few words.
        message: In a sentence.
        remedy: What can be done.
        status: Of the response.
        place: Where in the question.
        line: The line of the question that is wrong, or the part of it around the place.
        caret: How many letters of it stand before what is wrong.
        facts: Requested, remaining and difference, where a budget refuses.
        fits: What would fit then.
    """

    title: str
    message: str
    remedy: str
    status: int
    place: str = ""
    line: str = ""
    caret: int = 0
    facts: tuple[tuple[str, str], ...] = ()
    fits: tuple[FitShown, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether a budget refuses."""
        return bool(self.facts)


@dataclass(frozen=True)
class FitShown:
    """What would fit: in words, and what a button fills in; nothing where the question itself would change."""

    title: str
    text: str
    kind: str = ""
    amount: str = ""
    delta: str = ""


def failure_of(error: JaliError, sql: str = "") -> Failure:
    """Say what an error says, with its place in the question."""
    written = error.write(Face.PAGE)
    if isinstance(error, RequestRefused):
        return Failure(_TITLES.get(error.status, "It failed"), written.message, written.remedy or "", error.status)
    if isinstance(error, BudgetExceeded):
        return _refused(error)
    status = status_of(error)
    title = _TITLES.get(status, "This cannot be answered" if sql else "This cannot be done")
    return Failure(title, written.message, written.remedy or "", status, **_marked(sql, error.position))


def _refused(error: BudgetExceeded) -> Failure:
    return Failure(
        _TITLES[402],
        error.sentence,
        error.remedy or "",
        402,
        facts=error.facts,
        fits=tuple(_fit(fit) for fit in error.fits),
    )


def _fit(fit: Fit) -> FitShown:
    if fit.change and not fit.change.startswith("with "):
        return FitShown(fit.title, fit.text)
    delta = decimal(fit.delta) if fit.delta else ""
    return FitShown(fit.title, fit.text, fit.kind, decimal(fit.amount), delta)


def _marked(sql: str, position: tuple[int, int] | None) -> dict[str, Any]:
    """Find the line that is wrong, and where a caret below it stands."""
    lines = sql.splitlines()
    if position is None or not 1 <= position[0] <= len(lines):
        return {}
    row, column = position
    text, place = lines[row - 1].replace("\t", " "), max(0, column - 1)
    start = max(0, place - _AROUND)
    before, after = "… " if start else "", " …" if len(text) > place + _AROUND else ""
    line = f"{before}{text[start : place + _AROUND]}{after}"
    return {"place": f"line {row}, column {column}", "line": line, "caret": len(before) + place - start}


def error_page(request: Request, error: JaliError) -> Response:
    """Answer a page, or a part of one, with an error."""
    failure = failure_of(error)
    headers = error.headers if isinstance(error, RequestRefused) else {}
    if failure.status == 401 and not wants_fragment(request):
        return RedirectResponse(sign_in_address(request), 303)
    response: Response
    if wants_fragment(request):
        response = fragment("failure.html", request, status=failure.status, failure=failure)
    else:
        twin = "/api/v1/openapi.json"
        response = page("error.html", request, twin=twin, status=failure.status, failure=failure)
    response.headers.update({name: value for name, value in headers.items() if name == "Retry-After"})
    return response


def sign_in_address(request: Request) -> str:
    """Return where to sign in, to come back to the page that was asked for."""
    path = request.url.path
    if path == "/" or request.method != "GET":
        return "/sign-in"
    query = f"?{request.url.query}" if request.url.query else ""
    return f"/sign-in?next={quote(path + query, safe='')}"
