"""Errors over HTTP: one envelope, and a status for each kind of error. No text depends on the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from jali.client.error_documents import encode_error
from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Field,
    JaliError,
    LedgerError,
    MechanismError,
    Phrase,
    QueryError,
    Unsupported,
)
from jali.server.jobs import Busy
from jali.server.validation import describe_field_error

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


# Errors of a ledger that say that there is no such thing.
_NOT_THERE = frozenset({"account-unknown", "receipt-unknown", "stream-unknown-in-ledger", "token-unknown"})


class RequestRefused(JaliError):  # noqa: N818 - an answer, not a mishap
    """A request that is answered with an error which is not one of the database.

    Attributes:
        status: The status of the response.
        type: What programs tell the kind by.
        headers: Headers of the response.
    """

    status: int = 500
    type: str = "JaliError"
    headers: Mapping[str, str] = MappingProxyType({})

    @property
    def document(self) -> dict[str, Any]:
        """The envelope's content."""
        return encode_error(self) | {"type": self.type}


def refuse_request(
    code: str, /, *, status: int, type_: str, headers: Mapping[str, str] | None = None, **fields: Field
) -> RequestRefused:
    """Return the refusal of a request."""
    made = RequestRefused(code, position=None, **fields)
    made.status, made.type, made.headers = status, type_, dict(headers or {})
    return made


_NOBODY = Phrase("sign-in-needed")


def require_sign_in(reason: Phrase = _NOBODY) -> RequestRefused:
    """Refuse somebody without a good token."""
    return refuse_request(reason.code, status=401, type_="SignInNeeded", headers={"WWW-Authenticate": "Bearer"})


def refuse_not_allowed() -> RequestRefused:
    """Refuse an analyst what is the curator's."""
    return refuse_request("curators-only", status=403, type_="NotAllowed")


def refuse_not_found(thing: str) -> RequestRefused:
    """Say that there is no such thing."""
    return refuse_request("not-found", status=404, type_="NotFound", thing=thing)


def refuse_too_often(seconds: float) -> RequestRefused:
    """Refuse a caller for a while."""
    after = max(1, math.ceil(seconds))
    return refuse_request(
        "too-many-requests", status=429, type_="TooOften", headers={"Retry-After": str(after)}, seconds=after
    )


def refuse_busy() -> RequestRefused:
    """Refuse a question for which there is no room."""
    return refuse_request("server-busy", status=503, type_="Busy", headers={"Retry-After": "1"})


def refuse_too_large(limit: int) -> RequestRefused:
    """Refuse a request for its size."""
    return refuse_request("request-too-large", status=413, type_="TooLarge", most=limit)


def refuse_malformed(problem: Phrase) -> RequestRefused:
    """Refuse a request for one of its fields."""
    return refuse_request(problem.code, status=422, type_="BadRequest", headers=None, **problem.fields)


def find_status(error: JaliError) -> int:
    """Return the status of an error."""
    if isinstance(error, LedgerError) and error.code in _NOT_THERE:
        return 404
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def convert_error(error: Exception) -> JaliError:
    """Return what a request is answered with, whatever happened."""
    if isinstance(error, JaliError):
        return error
    if isinstance(error, Busy):
        return refuse_busy()
    if isinstance(error, RequestValidationError):
        return _refuse_invalid(error)
    if isinstance(error, HTTPException):
        return _convert_http_error(error)
    return RequestRefused("server-failed")


def respond(error: Exception) -> Response:
    """Write an error."""
    known = convert_error(error)
    if isinstance(known, RequestRefused):
        return JSONResponse({"error": known.document}, known.status, dict(known.headers))
    return JSONResponse({"error": encode_error(known)}, find_status(known))


def install(app: FastAPI) -> None:
    """Have every error answered with the envelope."""
    for kind in (JaliError, Busy, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _handle_error)


async def _handle_error(request: Request, error: Exception) -> Response:
    return answer(request, error)


def answer(request: Request, error: Exception) -> Response:
    """Answer pages with a page and programs with the envelope."""
    error = request.scope.get(TOO_LARGE, error)  # which whoever read the body took for a broken one
    page = request.scope.get("jali.page")
    return respond(error) if page is None else page(request, convert_error(error))


def _refuse_invalid(error: RequestValidationError) -> RequestRefused:
    """Say which field is wrong; what was sent is not repeated."""
    first = error.errors()[0]
    return refuse_malformed(describe_field_error(first, first["loc"][1:]))


def _convert_http_error(error: HTTPException) -> RequestRefused:
    types = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}
    codes = {404: "page-not-found", 405: "method-not-allowed"}
    return refuse_request(
        codes.get(error.status_code, "request-failed"),
        status=error.status_code,
        type_=types.get(error.status_code, "BadRequest"),
        headers=error.headers,
    )
