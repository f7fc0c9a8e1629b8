"""Suggest the known name that a misspelt one is nearest to."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to this one; None where none is near.

    Example:
        >>> suggest_name("visit", ["visits", "wards"]), suggest_name("x", ["visits"])
        ('visits', None)
    """
    return next(iter(get_close_matches(name, list(known), n=1)), None)
