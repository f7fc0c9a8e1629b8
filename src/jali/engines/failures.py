"""Why an engine failed, in words that do not depend on the data.

Everything but `engine-failed` has a cause outside of the rows: whoever stopped the question, the time, the disk,
the connection, or a source that was replaced. What is left may be the data, so such a failure closes the table
(`database.data_guard`).
"""

from __future__ import annotations

from jali.errors import EngineError, Unsupported

_CAUSES = {
    "cancelled": "engine-cancelled",
    "time": "engine-time",
    "disk": "engine-disk",
    "away": "engine-away",
}


def failed(cause: str) -> EngineError:
    """Return the error of a question that an engine could not run; an empty cause may be the data."""
    return EngineError(_CAUSES.get(cause, "engine-failed"))


def uncompiled(engine: str) -> Unsupported:
    """Return the refusal of a question that an engine runs on no data at all."""
    return Unsupported("engine-cannot-run", engine=engine)


def changed() -> EngineError:
    """Return the error of a source that was replaced while it was read."""
    return EngineError("source-changed-while-read")
