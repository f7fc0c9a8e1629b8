"""Why an engine failed, in words that do not depend on the data.

Everything but `engine-failed` has a cause outside of the rows: whoever stopped the question, the time, the disk,
the connection, or a source that was replaced. What is left may be the data, so such a failure closes the table
(`database.data_guard`).
"""

from __future__ import annotations

from jali.errors import EngineError, Unsupported

_CAUSES = {
    "cancelled": ("engine-cancelled", "The question was cancelled."),
    "time": ("engine-time", "The question took longer than the limit of time."),
    "disk": ("engine-disk", "The disk that the engine uses is full."),
    "away": ("engine-away", "The server of the table cannot be reached."),
}


def failed(cause: str) -> EngineError:
    """Return the error of a question that an engine could not run; an empty cause may be the data."""
    code, message = _CAUSES.get(cause, ("engine-failed", "The engine could not run this question."))
    return EngineError(message, code=code)


def uncompiled(engine: str) -> Unsupported:
    """Return the refusal of a question that an engine runs on no data at all."""
    return Unsupported(
        f"{engine} cannot run this question, whatever the data. Nothing was spent.",
        remedy="Ask it in another way, and please report it: this should not happen.",
    )


def changed() -> EngineError:
    """Return the error of a source that was replaced while it was read."""
    return EngineError("The source was changed while it was read.", code="source-changed")
