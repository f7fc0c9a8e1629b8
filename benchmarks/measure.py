"""Measuring side by side: CPU seconds of all threads, interleaved in one process, best of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROUNDS = 7


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio that has a target, or a figure that is only reported."""

    title: str
    value: float
    target: str
    good: bool | None
    digits: int = 4

    def __str__(self) -> str:
        mark = {True: "ok", False: "MISSED", None: ""}[self.good]
        return f"{self.title:<68} {self.value:>12.{self.digits}g}  {self.target:<12} {mark}"


def at_least(title: str, value: float, target: float, *, digits: int = 4) -> Row:
    """Make a row for a ratio that should be large."""
    return Row(title, value, f">= {target:g}", value >= target, digits)


def at_most(title: str, value: float, target: float, *, digits: int = 4) -> Row:
    """Make a row for a ratio that should be small."""
    return Row(title, value, f"<= {target:g}", value <= target, digits)


def reported(title: str, value: float, *, digits: int = 4) -> Row:
    """Make a row for a figure without a target."""
    return Row(title, value, "", None, digits)


def best_of(actions: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Run all actions in turn, several times, and return the least CPU seconds of each."""
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(rounds):
        for name, action in actions.items():
            start = time.process_time()
            action()
            best[name] = min(best[name], time.process_time() - start)
    return best
