"""Encode an error as the one envelope of the command line and the server, and decode it at a client.

A client raises the error as the server raised it. One that only a server has is a plain JaliError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Face,
    JaliError,
    LedgerError,
    MechanismError,
    QueryError,
    Unsupported,
)
from jali.errors.fields import decode_field, encode_field
from jali.errors.templates import ADVICE, load_texts


def encode_error(
    error: JaliError, face: Face = Face.HTTP, *, asked: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return an error: its code and fields for programs, and its text in the words of a face."""
    written = error.write(face, asked=asked)
    made: dict[str, Any] = {
        "code": error.code,
        "type": type(error).__name__,
        "message": written.message,
        "remedy": written.remedy,
        "position": None if error.position is None else list(error.position),
        "fields": {name: encode_field(value) for name, value in error.fields.items()},
    }
    if isinstance(error, BudgetExceeded):
        made |= {"account": error.account, "kind": error.kind}
        made |= {name: str(getattr(error, name)) for name in ("requested", "remaining", "difference")}
        made["fits"] = [fit.to_json() for fit in error.fits]
    return made


_CLASSES: dict[str, type[JaliError]] = {
    kind.__name__: kind
    for kind in (CatalogError, EngineError, JaliError, LedgerError, MechanismError, QueryError, Unsupported)
}


def decode_error(reply: dict[str, Any]) -> JaliError:
    """Return the error of an envelope; one that only a server has is a plain JaliError."""
    kind, place = str(reply.get("type", "")), reply.get("position")
    position = None if place is None else (int(place[0]), int(place[1]))
    code = str(reply.get("code", ""))
    try:
        return _rebuild_error(code, kind, position, reply["fields"])
    except (KeyError, TypeError, ValueError, AttributeError):
        # A server of another version: its code is not known here, or its text names other fields.
        message, advice = str(reply.get("message", "")), reply.get("remedy") or ""
        return _CLASSES.get(kind, JaliError)(
            "server-said", position=position, server_code=code, message=message, advice=advice
        )


def _rebuild_error(code: str, kind: str, position: tuple[int, int] | None, reply: dict[str, Any]) -> JaliError:
    fields: dict[str, Any] = {name: decode_field(value) for name, value in reply.items()}
    if kind == BudgetExceeded.__name__:
        return BudgetExceeded(**fields)
    if missing := load_texts()[code].fields - {ADVICE} - fields.keys():
        raise KeyError(missing)
    return _CLASSES.get(kind, JaliError)(code, position=position, **fields)
