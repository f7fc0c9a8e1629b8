"""Jali: a private statistical database.

>>> import jali
>>> db = jali.connect()

Importing it runs nothing: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali import mechanisms, plots, privacy
    from jali.answer import Answer
    from jali.database import Database, connect
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
    from jali.planner import Plan
    from jali.privacy import Adjacency, Budget
    from jali.query.builder import count, count_people, mean, sum  # noqa: A004 - read as jali.sum
    from jali.query.catalog import Keys, Range
    from jali.session import Session

_HOMES = {
    "Adjacency": "jali.privacy",
    "Answer": "jali.answer",
    "Budget": "jali.privacy",
    "BudgetExceeded": "jali.errors",
    "CatalogError": "jali.errors",
    "Database": "jali.database",
    "EngineError": "jali.errors",
    "JaliError": "jali.errors",
    "Keys": "jali.query.catalog",
    "LedgerError": "jali.errors",
    "MechanismError": "jali.errors",
    "Plan": "jali.planner",
    "QueryError": "jali.errors",
    "Range": "jali.query.catalog",
    "Session": "jali.session",
    "Unsupported": "jali.errors",
    "connect": "jali.database",
    "count": "jali.query.builder",
    "count_people": "jali.query.builder",
    "mean": "jali.query.builder",
    "sum": "jali.query.builder",
}
_MODULES = ("mechanisms", "plots", "privacy")

__all__ = [
    "Adjacency",
    "Answer",
    "Budget",
    "BudgetExceeded",
    "CatalogError",
    "Database",
    "EngineError",
    "JaliError",
    "Keys",
    "LedgerError",
    "MechanismError",
    "Plan",
    "QueryError",
    "Range",
    "Session",
    "Unsupported",
    "connect",
    "count",
    "count_people",
    "mean",
    "mechanisms",
    "plots",
    "privacy",
    "sum",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("jali")
    if name in _MODULES:
        return import_module(f"jali.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'jali' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
