"""Streams: ticks passed in memory, whole runs against their bare noise, and items on disk."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.measure import Row, at_least, at_most, best_of, reported
from numpy.typing import NDArray

import jali
from jali.streams import (
    BalancedDigits,
    BinaryTree,
    BufferedToeplitz,
    Counter,
    Participation,
    SmoothTree,
    ToeplitzRoot,
)

_PERSON = Participation(adjacency="add-remove")
_HORIZON, _APPENDED = 1 << 20, 200_000
_TARGETS: dict[str, Counter] = {
    "BufferedToeplitz, rho 1/2": BufferedToeplitz(horizon=_HORIZON, rho="1/2", person=_PERSON),
    "BinaryTree, rho 1/2": BinaryTree(horizon=_HORIZON, rho="1/2", person=_PERSON),
    "BinaryTree, epsilon 1": BinaryTree(horizon=_HORIZON, epsilon=1, person=_PERSON),
}
_OTHERS: dict[str, Counter] = {
    "SmoothTree, rho 1/2": SmoothTree(horizon=_HORIZON, rho="1/2", person=_PERSON),
    "BalancedDigits, epsilon 1": BalancedDigits(horizon=_HORIZON, epsilon=1, person=_PERSON),
    "ToeplitzRoot, rho 1/2": ToeplitzRoot(horizon=_HORIZON, rho="1/2", person=_PERSON),
}
_ITEMS, _BATCH, _TICKS = 20_000, 100, 200


def rows() -> list[Row]:
    """Measure counters in memory and a stream in a file."""
    return [*_appended(), *_extended(), *durable_rows()]


def _appended() -> list[Row]:
    """Pass ticks one by one."""
    found = []
    for name, counter in {**_TARGETS, **_OTHERS}.items():
        if isinstance(counter, ToeplitzRoot):
            continue  # it goes through all of the past at every tick
        seconds = best_of({name: partial(_pass_singly, counter)}, rounds=3)[name]
        title, rate = f"{name}: ticks appended a second, one by one", _APPENDED / seconds
        found.append(at_least(title, rate, 200_000) if name in _TARGETS else reported("  " + title, rate))
    return found


def _pass_singly(counter: Counter) -> None:
    append = counter.start().append
    for _ in range(_APPENDED):
        append(1)


def _pass_together(counter: Counter, increments: NDArray[np.int64]) -> None:
    counter.start().extend(increments)


def _extended() -> list[Row]:
    """Pass all ticks at once, beside the bare noises that the run takes."""
    increments, found = np.ones(_HORIZON, dtype=np.int64), []
    for name, counter in {**_TARGETS, **_OTHERS}.items():
        noises = _noises(counter)
        seconds = best_of(
            {
                "noise": partial(counter.sampler.sample, noises),
                "run": partial(_pass_together, counter, increments),
            },
            rounds=5,
        )
        title = f"{name}: a run of 2^20 ticks / its {noises:,} noises"
        ratio = seconds["run"] / seconds["noise"]
        found.append(at_most(title, ratio, 3) if name in _TARGETS else reported("  " + title, ratio))
    return found


def _noises(counter: Counter) -> int:
    """Return how many noises a whole run takes."""
    if isinstance(counter, BinaryTree):
        return 2 * _HORIZON
    return sum(map(len, counter.nodes)) if isinstance(counter, BalancedDigits) else _HORIZON


def durable_rows() -> list[Row]:
    """Measure a stream in a file: by the clock, as most of the time is spent waiting for the disk."""
    with tempfile.TemporaryDirectory() as directory, jali.connect(Path(directory) / "clinic.jali") as database:
        stream = database.stream(
            "admissions", unit="patient", horizon=365, budget=jali.Budget(epsilon=1), mechanism="binary-tree"
        )

        def append() -> None:
            for first in range(0, _ITEMS, _BATCH):
                stream.append([{"item": i, "owner": i * 7919 % 10_007} for i in range(first, first + _BATCH)])

        def publish() -> None:
            for _ in range(_TICKS):
                stream.publish()

        appended, published = _ITEMS / _seconds(append), _TICKS / _seconds(publish)
    return [
        at_least("durable items a second, in batches of 100", appended, 2000),
        reported("durable ticks published a second", published),
    ]


def _seconds(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
