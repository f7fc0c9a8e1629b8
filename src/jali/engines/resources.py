"""What one question may use of the machine, and how it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jali.errors import CatalogError

_GIB = 1 << 30
# An interrupt that comes just before an engine begins is lost: it is sent again until the engine has stopped.
_AGAIN = 0.2


@dataclass(frozen=True)
class Resources:
    """The limits of one question in an engine. None of them concerns privacy.

    What the planner admits stays far below them (`query.fanout`), so that no person's rows decide whether one is
    reached. Reaching the limit of memory or disk closes the table (docs/threat_model.md).

    Attributes:
        memory: How many bytes DuckDB holds in memory for a question; the rest is spilled to disk.
        spill: How many bytes it may spill.
        threads: How many threads it computes with; None for one on each core.
        seconds: After how many seconds an engine is stopped.
    """

    memory: int = 3 * _GIB
    spill: int = 256 * _GIB
    threads: int | None = None
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        for name in ("memory", "spill", "threads", "seconds"):
            value = getattr(self, name)
            if not (name == "threads" and value is None) and not 0 < value < float("inf"):
                raise CatalogError("resource-malformed", resource=name, given=value)


class Cancellation:
    """Stops one question from elsewhere: somebody cancels it, or its time is over.

    Attributes:
        reason: Why it was stopped: "cancelled" or "time"; empty while it was not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None
        self._timer: threading.Timer | None = None
        self.reason = ""

    def cancel(self, reason: str = "cancelled") -> None:
        """Stop the question: at once if an engine works on it, else before one begins."""
        with self._lock:
            self.reason = self.reason or reason
            if self._interrupt is None:
                return
            self._interrupt()
            self._start(_AGAIN, reason)

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None], seconds: float) -> Iterator[None]:
        """Let `interrupt` stop an engine meanwhile: when the question is cancelled, or after some seconds."""
        with self._lock:
            self._interrupt = interrupt
            self._start(_AGAIN if self.reason else seconds, self.reason or "time")
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None
                if self._timer is not None:
                    self._timer.cancel()

    def _start(self, seconds: float, reason: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(seconds, self.cancel, [reason])
        self._timer.daemon = True
        self._timer.start()
