"""Errors that a server told, raised here as they would have been raised there."""

from __future__ import annotations

from typing import Any

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
from jali.errors.fields import read_field
from jali.errors.texts import ADVICE, texts

_KINDS: dict[str, type[JaliError]] = {
    kind.__name__: kind
    for kind in (CatalogError, EngineError, JaliError, LedgerError, MechanismError, QueryError, Unsupported)
}


def failure_of(told: dict[str, Any]) -> JaliError:
    """Return the error of an envelope; one that only a server has is a plain JaliError."""
    kind, place = str(told.get("type", "")), told.get("position")
    position = None if place is None else (int(place[0]), int(place[1]))
    code = str(told.get("code", ""))
    try:
        return _rebuilt(code, kind, position, told["fields"])
    except (KeyError, TypeError, ValueError, AttributeError):
        # A server of another version: its code is not known here, or its text names other fields.
        message, advice = str(told.get("message", "")), told.get("remedy") or ""
        return _KINDS.get(kind, JaliError)(
            "server-said", position=position, server_code=code, message=message, advice=advice
        )


def _rebuilt(code: str, kind: str, position: tuple[int, int] | None, told: dict[str, Any]) -> JaliError:
    fields: dict[str, Any] = {name: read_field(value) for name, value in told.items()}
    if kind == BudgetExceeded.__name__:
        return BudgetExceeded(**fields)
    if missing := texts()[code].fields - {ADVICE} - fields.keys():
        raise KeyError(missing)
    return _KINDS.get(kind, JaliError)(code, position=position, **fields)
