"""Error pages, and error cards where the script asked for a part of a page; never more than the envelope says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from jali.errors import BudgetExceeded, Face, Fit, JaliError
from jali.numbers.exact import decimal
from jali.server.http_errors import RequestRefused, find_status
from jali.server.pages.rendering import render_fragment, render_page, wants_fragment

# So much of a long line of SQL is shown on both sides of what is wrong.
_AROUND = 60
_TITLES = {
    401: "Sign in",
    402: "Budget exceeded",
    403: "Not allowed",
    404: "Page not found",
    429: "Too many requests",
    503: "Temporarily unavailable",
}


@dataclass(frozen=True)
class ErrorCard:
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
    fits: tuple[SuggestionCard, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether a budget refuses."""
        return bool(self.facts)


@dataclass(frozen=True)
class SuggestionCard:
    """What would fit: in words, and what a button fills in; nothing where the question itself would change."""

    title: str
    text: str
    kind: str = ""
    amount: str = ""
    delta: str = ""


def build_error_card(error: JaliError, sql: str = "") -> ErrorCard:
    """Say what an error says, with its place in the question."""
    written = error.write(Face.PAGE)
    if isinstance(error, RequestRefused):
        return ErrorCard(
            _TITLES.get(error.status, "Request failed"), written.message, written.remedy or "", error.status
        )
    if isinstance(error, BudgetExceeded):
        return _build_refusal_card(error)
    status = find_status(error)
    title = _TITLES.get(status, "Question not valid" if sql else "Request not valid")
    return ErrorCard(title, written.message, written.remedy or "", status, **_mark_position(sql, error.position))


def _build_refusal_card(error: BudgetExceeded) -> ErrorCard:
    return ErrorCard(
        _TITLES[402],
        error.sentence,
        error.remedy or "",
        402,
        facts=error.facts,
        fits=tuple(_build_suggestion_card(fit) for fit in error.fits),
    )


def _build_suggestion_card(fit: Fit) -> SuggestionCard:
    if fit.change and not fit.change.startswith("with "):
        return SuggestionCard(fit.title, fit.text)
    delta = decimal(fit.delta) if fit.delta else ""
    return SuggestionCard(fit.title, fit.text, fit.kind, decimal(fit.amount), delta)


def _mark_position(sql: str, position: tuple[int, int] | None) -> dict[str, Any]:
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


def respond_with_page(request: Request, error: JaliError) -> Response:
    """Answer a page, or a part of one, with an error."""
    failure = build_error_card(error)
    headers = error.headers if isinstance(error, RequestRefused) else {}
    if failure.status == 401 and not wants_fragment(request):
        return RedirectResponse(build_sign_in_address(request), 303)
    response: Response
    if wants_fragment(request):
        response = render_fragment("failure.html", request, status=failure.status, failure=failure)
    else:
        json_url = "/api/v1/openapi.json"
        response = render_page("error.html", request, json_url=json_url, status=failure.status, failure=failure)
    response.headers.update({name: value for name, value in headers.items() if name == "Retry-After"})
    return response


def build_sign_in_address(request: Request) -> str:
    """Return where to sign in, to come back to the page that was asked for."""
    path = request.url.path
    if path == "/" or request.method != "GET":
        return "/sign-in"
    query = f"?{request.url.query}" if request.url.query else ""
    return f"/sign-in?next={quote(path + query, safe='')}"
