"""Errors that a server told, raised here as they would have been raised there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Fit,
    JaliError,
    LedgerError,
    MechanismError,
    QueryError,
    Unsupported,
)

_KINDS: dict[str, type[JaliError]] = {
    kind.__name__: kind for kind in (CatalogError, EngineError, JaliError, LedgerError, MechanismError)
}

# What the server says to whoever writes requests, said to who writes Python.
_REMEDIES = {
    "SignInNeeded": "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. "
    "The curator makes it: jali token create.",
    "NotFound": "See tables() and streams() of the session for what there is.",
}


def failure_of(told: dict[str, Any]) -> JaliError:
    """Return the error of an envelope; one that only a server has is a plain JaliError."""
    kind, message, remedy = told.get("type", ""), str(told.get("message", "")), told.get("remedy")
    if kind == BudgetExceeded.__name__:
        return _exceeded(told)
    if kind in (QueryError.__name__, Unsupported.__name__):
        position = told.get("position")
        made = Unsupported if kind == Unsupported.__name__ else QueryError
        return made(message, position=None if position is None else (position[0], position[1]), remedy=remedy)
    return _KINDS.get(kind, JaliError)(message, remedy=_REMEDIES.get(kind, remedy))


def _exceeded(told: dict[str, Any]) -> BudgetExceeded:
    return BudgetExceeded(
        told["account"],
        kind=told["kind"],
        requested=Fraction(told["requested"]),
        remaining=Fraction(told["remaining"]),
        fits=[_fit(fit) for fit in told["fits"]],
    )


def _fit(told: dict[str, Any]) -> Fit:
    return Fit(
        told["change"] or "",
        told["kind"],
        Fraction(told["amount"]),
        Fraction(told["delta"]),
        told["groups"],
        tuple(told["forecasts"].items()),
        tuple(told["within"].items()),
    )
