"""A refusal by the budget, as people read it."""

from __future__ import annotations

from fractions import Fraction

from jali.errors import BudgetExceeded
from jali.privacy.rational import below

_DIGITS = (6, 9, 12)


def refusal_facts(error: BudgetExceeded) -> list[tuple[str, str]]:
    """Return Requested, Remaining and Difference, with as many digits as tell the first two apart.

    Numbers are rounded down: what is left is never shown larger than it is.
    """
    digits = next((d for d in _DIGITS if below(error.requested, d) > below(error.remaining, d)), 15)

    def shown(value: Fraction) -> str:
        return f"{error.kind} {float(below(value, digits)):.{digits}g}"

    return [
        ("Requested", shown(error.requested)),
        ("Remaining", shown(error.remaining)),
        ("Difference", shown(error.difference)),
    ]
