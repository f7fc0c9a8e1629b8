"""A question that is being answered."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from jali.database.asking import Begun, Found


@dataclass
class Job:
    """A paid question on its way to its answer.

    Attributes:
        receipt: Its receipt.
        stage: What is done for it now. Only words of the walk of a question: nothing of the engine's progress.
        outcome: What will be found.
    """

    receipt: str
    stage: str = "waiting"
    outcome: Future[Found[Any]] = field(default_factory=Future)
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
            self.outcome.set_result(begun.finish(self._at))
        except BaseException as problem:
            self.outcome.set_exception(problem)

    def _at(self, stage: str) -> None:
        self.stage = stage
