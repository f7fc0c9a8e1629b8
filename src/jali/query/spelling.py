"""Spelling: which known name a wrong one may have been meant for."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """Ask for the known name that is nearest to this one; nothing where none is near.

    Example:
        >>> meant("visit", ["visits", "wards"]), meant("x", ["visits"])
        ('Did you mean visits? ', '')
    """
    near = get_close_matches(name, list(known), n=1)
    return f"Did you mean {near[0]}? " if near else ""
