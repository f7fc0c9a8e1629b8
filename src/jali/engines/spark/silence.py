"""No word of Spark's errors in a log: Spark quotes rows, and its Python side logs errors as they are raised."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_ASKED_BY_US: ContextVar[bool] = ContextVar("asked by us", default=False)

P = ParamSpec("P")
T = TypeVar("T")


class _Silence(logging.Filter):
    """Drops what is logged while we ask. What others ask of Spark, in the same process, is theirs to log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a record is kept."""
        del record
        return not _ASKED_BY_US.get()


_SILENCE = _Silence()


def silence() -> None:
    """Keep Spark's errors out of the log, from now on, wherever `silent` code meets them."""
    from pyspark.logger import PySparkLogger

    for name in _LOGGERS:
        # Not by `logging`, which would make a logger that Spark cannot write to.
        PySparkLogger.getLogger(name).addFilter(_SILENCE)


def silent(action: Callable[P, T]) -> Callable[P, T]:
    """Let a function ask Spark without a word of its errors in the log."""

    @wraps(action)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        before = _ASKED_BY_US.set(True)
        try:
            return action(*args, **kwargs)
        finally:
            _ASKED_BY_US.reset(before)

    return asked
