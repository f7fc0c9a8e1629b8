"""Words of a page: it has forms and buttons where Python has calls."""

from __future__ import annotations

from jali.database.accounts import budget_phrase
from jali.errors import Face, Phrase, write
from jali.privacy import Budget


def on_page(phrase: Phrase) -> str:
    """Write a phrase for a page."""
    return write(phrase.code, phrase.fields, Face.PAGE).message


def budget_on_page(budget: Budget) -> str:
    """Write a budget for a page.

    Example:
        >>> budget_on_page(Budget(3)), budget_on_page(Budget(1, delta="1e-6"))
        ('epsilon 3', 'epsilon 1, delta 1e-06')
    """
    return on_page(budget_phrase(budget))


def counted(number: int, thing: str) -> str:
    """Say how many there are.

    Example:
        >>> counted(1, "value"), counted(1200, "value")
        ('1 value', '1,200 values')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
