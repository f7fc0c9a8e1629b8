"""Errors over HTTP: one envelope, and a status for each kind. No text depends on the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from jali.documents.failures import failure_json
from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    JaliError,
    LedgerError,
    MechanismError,
    QueryError,
    Unsupported,
)
from jali.server.api.mistakes import mistake
from jali.server.work.desk import Busy

# The narrower class is asked first.
STATUSES: tuple[tuple[type[JaliError], int], ...] = (
    (BudgetExceeded, 402),
    (Unsupported, 422),
    (QueryError, 400),
    (CatalogError, 400),
    (MechanismError, 400),
    (EngineError, 503),
    (LedgerError, 503),
)


# Where a request keeps that it was too large.
TOO_LARGE = "jali.too_large"


class Refusal(Exception):  # noqa: N818 - an answer, not a mishap
    """A request that is answered with an error which is not one of the database.

    Args:
        status: The status of the response.
        kind: What programs tell it by.
        message: What happened, in a sentence.
        remedy: What can be done about it.
        headers: Headers of the response.
    """

    def __init__(
        self, status: int, kind: str, message: str, *, remedy: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.remedy = status, kind, message, remedy
        self.headers = dict(headers or {})

    @property
    def document(self) -> dict[str, Any]:
        """The envelope's content."""
        return {"type": self.kind, "message": self.message, "remedy": self.remedy, "position": None}


def sign_in_needed(reason: str = "Nobody is signed in.") -> Refusal:
    """Refuse somebody without a good token."""
    return Refusal(
        401,
        "SignInNeeded",
        reason,
        remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def not_allowed() -> Refusal:
    """Refuse an analyst what is the curator's."""
    return Refusal(403, "NotAllowed", "This is for curators.", remedy="Ask the curator to do it.")


def not_found(what: str) -> Refusal:
    """Say that there is no such thing."""
    return Refusal(404, "NotFound", f"There is no {what}.", remedy="See /api/v1/openapi.json for what there is.")


def too_often(seconds: float) -> Refusal:
    """Refuse a caller for a while."""
    after = str(max(1, math.ceil(seconds)))
    return Refusal(
        429, "TooOften", "There were too many requests.", remedy=f"Wait {after} s.", headers={"Retry-After": after}
    )


def too_busy() -> Refusal:
    """Refuse a question for which there is no room."""
    return Refusal(
        503,
        "Busy",
        "Too many questions are under way.",
        remedy="Nothing was spent: ask again in a while.",
        headers={"Retry-After": "1"},
    )


def too_large(limit: int) -> Refusal:
    """Refuse a request for its size."""
    return Refusal(413, "TooLarge", f"The request is larger than {limit:,} bytes.", remedy="Send less at once.")


def status_of(error: JaliError) -> int:
    """Return the status of an error."""
    if isinstance(error, LedgerError) and error.message.startswith("There is no "):
        return 404
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def as_refusal(error: Exception) -> Refusal | JaliError:
    """Return what a request is answered with, whatever happened."""
    if isinstance(error, Refusal | JaliError):
        return error
    if isinstance(error, Busy):
        return too_busy()
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return _of_http(error)
    return Refusal(
        500,
        "JaliError",
        "Jali failed, unexpectedly.",
        remedy="If a question was paid, its receipt is open: see /api/v1/receipts. Please report this.",
    )


def respond(error: Exception) -> Response:
    """Write an error."""
    known = as_refusal(error)
    if isinstance(known, Refusal):
        return JSONResponse({"error": known.document}, known.status, known.headers)
    return JSONResponse({"error": failure_json(known)}, status_of(known))


def install(app: FastAPI) -> None:
    """Have every error answered with the envelope."""
    for kind in (JaliError, Refusal, Busy, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _handler)


async def _handler(request: Request, error: Exception) -> Response:
    return answer(request, error)


def answer(request: Request, error: Exception) -> Response:
    """Answer pages with a page and programs with the envelope."""
    error = request.scope.get(TOO_LARGE, error)  # which whoever read the body took for a broken one
    page = request.scope.get("jali.page")
    return respond(error) if page is None else page(request, as_refusal(error))


def _invalid(error: RequestValidationError) -> Refusal:
    """Say which field is wrong; what was sent is not repeated."""
    first = error.errors()[0]
    said = mistake(first, first["loc"][1:])
    return Refusal(422, "BadRequest", said, remedy="See /api/v1/openapi.json for what is expected.")


def _of_http(error: HTTPException) -> Refusal:
    kinds = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}
    said = {404: "There is no such page.", 405: "This cannot be done here."}.get(error.status_code, "It failed.")
    return Refusal(
        error.status_code,
        kinds.get(error.status_code, "BadRequest"),
        said,
        remedy="See /api/v1/openapi.json for what there is.",
        headers=dict(error.headers or {}),
    )
