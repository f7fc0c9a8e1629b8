"""A refusal by the budget, as people read it. Numbers are rounded down: what is left never looks larger."""

from __future__ import annotations

from fractions import Fraction

from jali.errors import BudgetExceeded
from jali.privacy.rational import below

_DIGITS = (6, 9, 12)


def refusal_sentence(error: BudgetExceeded) -> str:
    """Say whose budget refused."""
    return f"The budget of {error.account} does not cover this question."


def refusal_facts(error: BudgetExceeded) -> list[tuple[str, str]]:
    """Return Requested, Remaining and Difference, with as many digits as tell the first two apart."""
    digits = _digits(error)
    return [
        ("Requested", f"{error.kind} {_shown(error.requested, digits)}"),
        ("Remaining", f"{error.kind} {_shown(error.remaining, digits)}"),
        ("Difference", f"{error.kind} {_shown(error.difference, digits)}"),
    ]


def still_fits(error: BudgetExceeded) -> str:
    """Say what would still be answered: never more than is left."""
    if error.remaining <= 0:
        return error.fits()
    return f"A question with {error.kind} {_shown(error.remaining, _digits(error))} would still be answered."


def _digits(error: BudgetExceeded) -> int:
    return next((d for d in _DIGITS if below(error.requested, d) > below(error.remaining, d)), 15)


def _shown(value: Fraction, digits: int) -> str:
    return f"{float(below(value, digits)):.{digits}g}"
