"""An error as plain JSON values: the one envelope of the command line and the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jali.errors import BudgetExceeded, Face, JaliError
from jali.errors.fields import field_json


def failure_json(
    error: JaliError, face: Face = Face.HTTP, *, asked: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return an error: its code and fields for programs, and its text in the words of a face."""
    written = error.write(face, asked=asked)
    made: dict[str, Any] = {
        "code": error.code,
        "type": type(error).__name__,
        "message": written.message,
        "remedy": written.remedy,
        "position": None if error.position is None else list(error.position),
        "fields": {name: field_json(value) for name, value in error.fields.items()},
    }
    if isinstance(error, BudgetExceeded):
        made |= {"account": error.account, "kind": error.kind}
        made |= {name: str(getattr(error, name)) for name in ("requested", "remaining", "difference")}
        made["fits"] = [fit.to_json() for fit in error.fits]
    return made
