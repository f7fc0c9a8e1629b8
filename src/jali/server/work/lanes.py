"""Lanes: curators have threads and processes of their own, which no analyst's work can occupy."""

from __future__ import annotations

from contextvars import ContextVar
from enum import Enum


class Lane(Enum):
    """Whose work it is."""

    ANALYSTS = "analysts"
    CURATORS = "curators"


# Whose request is being answered. It is set once it is known who makes it, and goes with it into threads.
LANE: ContextVar[Lane] = ContextVar("jali-lane", default=Lane.ANALYSTS)
