"""An error as plain JSON values: the one envelope of the command line and the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jali.errors import BudgetExceeded, JaliError, QueryError


def failure_json(error: JaliError, said: Callable[[str], str] = str) -> dict[str, Any]:
    """Return an error; `said` puts its sentences into the words of whoever reads them."""
    made: dict[str, Any] = {
        "type": type(error).__name__,
        "message": said(error.message),
        "remedy": None if error.remedy is None else said(error.remedy),
        "position": list(error.position) if isinstance(error, QueryError) and error.position else None,
    }
    if isinstance(error, BudgetExceeded):
        made["message"] = error.sentence
        made |= {"account": error.account, "kind": error.kind}
        made |= {name: str(getattr(error, name)) for name in ("requested", "remaining", "difference")}
        made["fits"] = [fit.to_json() for fit in error.fits]
    return made
