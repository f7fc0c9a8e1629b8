"""scipy, which only the lab needs, and not all of the lab."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from jali.errors import JaliError


def scipy(module: str) -> Any:
    """Return a module of scipy, such as "optimize"."""
    try:
        return import_module(f"scipy.{module}")
    except ImportError:
        raise JaliError("scipy-missing") from None
