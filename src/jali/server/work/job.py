"""A question that is being answered."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from jali.database.asking import Begun, Found, Watch
from jali.engines.resources import Cancellation
from jali.server.work.pace import Pace


@dataclass
class Job:
    """A paid question on its way to its answer.

    Attributes:
        receipt: Its receipt.
        stage: What is done for it now. Only words of the walk of a question: nothing of the engine's progress.
        outcome: What will be found.
        cancellation: Stops the engine.
        waiting: How many requests wait for it now.
        pace: When it may be answered.
        expected: Whether somebody was told the receipt while it was worked on, and is expected to come back.
    """

    receipt: str
    stage: str = "waiting"
    outcome: Future[Found[Any]] = field(default_factory=Future)
    cancellation: Cancellation = field(default_factory=Cancellation)
    waiting: int = 0
    expected: bool = False
    pace: Pace = field(default_factory=Pace)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        # Whoever stops waiting must not cancel it.
        self.outcome.set_running_or_notify_cancel()

    @property
    def elapsed(self) -> float:
        """For how many seconds somebody has waited."""
        return time.monotonic() - self._began

    @property
    def done(self) -> bool:
        """Whether its answer was found, or could not be."""
        return self.outcome.done()

    def run(self, begun: Begun[Any]) -> None:
        """Find the answer."""
        try:
            self.outcome.set_result(begun.finish(Watch(self._at, self.cancellation, self.pace.hold)))
        except BaseException as problem:
            self.outcome.set_exception(problem)

    def cancel(self) -> None:
        """Stop the engine. The receipt stays open, to be redeemed."""
        self.cancellation.cancel()

    def leave(self) -> None:
        """Take note that a client that waited is gone; where nobody else waits or is expected, stop."""
        if self.waiting == 0 and not self.expected and not self.done:
            self.cancel()

    def _at(self, stage: str) -> None:
        self.stage = stage
