"""Streams of processes that are killed: values stay, items count once, noise on disk is the noise that is used."""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.context
import random
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.database import streaming
from tests.depth import DEPTH, thinned

import jali
from jali.errors import MechanismError

KILLS = 5 * DEPTH  # for each of two mechanisms: 100 in all in `make test-deep`


@pytest.fixture(scope="module")
def processes() -> multiprocessing.context.ForkServerContext:
    """Children are forked from a clean server that has imported everything, and nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "tests.database.streaming",
            "jali.execution.streams.durable_streams",
            "jali.engines.duckdb.engine",
            "sqlite3",
        ]
    )
    return context


class NoBits:
    """Random bits that nobody may draw."""

    def __getattr__(self, name: str) -> Any:
        raise MechanismError("noise-drawn-twice")


def diary(folder: Path) -> list[tuple[str, Any]]:
    """Read what the processes wrote down; the last line of a killed one may be cut off."""
    path = folder / "diary"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [(what, told) for what, told in map(json.loads, lines)]


def stored(
    folder: Path,
) -> tuple[list[list[float]], dict[tuple[str, str], tuple[int, str | None]], tuple[int, str]]:
    """Return the published columns, the items with their ticks, and the state: from the file itself."""
    with sqlite3.connect(folder / "clinic.jali") as raw:
        values = [json.loads(body) for (body,) in raw.execute("SELECT body FROM stream_values ORDER BY tick")]
        rows = raw.execute("SELECT owner, item, tick, increments FROM stream_items")
        known = {(owner, item): (tick, increments) for owner, item, tick, increments in rows}
        state = raw.execute("SELECT tick, body FROM stream_states").fetchone()
    raw.close()
    return values, known, state


def increments(known: dict[tuple[str, str], tuple[int, str | None]], ticks: int) -> np.ndarray[Any, Any]:
    """Add up the items of every tick that is closed."""
    found = np.zeros((ticks, 2), dtype=np.int64)
    for tick, text in known.values():
        if tick <= ticks:
            for column, amount in json.loads(text or "[]"):
                found[tick - 1, column] += amount
    return found


def check_noise(mechanism: str, before: tuple[int, str], values: list[list[float]], exact: Any) -> int:
    """Check that what was published since a state is what its noise gives; return for how many ticks."""
    tick, state = before
    left = json.loads(state)["left"]
    shown = min(len(left), len(values) - tick)
    if not shown:
        return 0
    if mechanism == "every-item":  # the noises are the differences of the errors
        errors = np.vstack([np.zeros((1, 2)), np.array(values) - np.cumsum(exact, axis=0)])
        drawn = np.diff(errors, axis=0)[tick : tick + shown]
        assert drawn.tolist() == [list(map(float, row)) for row in left[:shown]]
    with jali.connect() as database:
        counter = streaming.opened(database, mechanism).declaration.mechanism
    again = counter.resume(state, bits=NoBits())
    assert again.extend(exact[tick : tick + shown]).tolist() == values[tick : tick + shown]
    return shown


@thinned(2)
@pytest.mark.parametrize("mechanism", ["every-item", "binary-tree"])
def test_streams_killed_at_random_points_keep_values_items_and_noise(
    mechanism: str, tmp_path: Path, processes: Any
) -> None:
    chance = random.Random(17)
    with jali.connect(tmp_path / "clinic.jali") as database:
        streaming.opened(database, mechanism)
    values, known, state = stored(tmp_path)
    replayed = 0
    for seed in range(KILLS):
        # Killed when it has done so much, at any speed, and a moment later.
        lines = len(diary(tmp_path)) + chance.randrange(1, 20)
        child = processes.Process(target=streaming.live, args=(tmp_path, mechanism, seed))
        child.start()
        while len(diary(tmp_path)) < lines and child.is_alive():
            child.join(0.005)
        child.join(chance.random() * 0.02)
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        earlier, seen, before = values, known, state
        values, known, state = stored(tmp_path)
        # Nothing that was stored has changed, and everything that was told is there.
        assert values[: len(earlier)] == earlier
        assert {name: known[name] for name in seen if seen[name][0] <= len(earlier)} == {
            name: row for name, row in seen.items() if row[0] <= len(earlier)
        }
        told = diary(tmp_path)
        for what, line in told:
            if what == "published":
                assert values[line[0] - 1] == line[1:]
        appended = Counter((owner, item) for what, line in told if what == "appended" for owner, item, _ in line)
        assert set(appended) <= set(known)
        # The state is that of the last tick, and the noise in the one before was used, not drawn again.
        assert state[0] == len(values) >= before[0]
        replayed += check_noise(mechanism, before, values, increments(known, len(values)))
    assert replayed > KILLS
    with jali.connect(tmp_path / "clinic.jali") as database:
        assert database.verify().problems == ()
        assert streaming.opened(database, mechanism).publish().number == len(values) + 1
    # Every item counts in one tick, once: nobody had more than may count, so nothing was dropped.
    assert all(text == ("[[0,1]]" if int(item) % 2 == 0 else "[[1,1]]") for (_, item), (_, text) in known.items())


def test_processes_that_publish_at_once_tell_the_same_values(tmp_path: Path, processes: Any) -> None:
    with jali.connect(tmp_path / "clinic.jali") as database:
        streaming.opened(database, "every-item").append(streaming.items(0, 10))
    children = [
        processes.Process(target=streaming.publish_many, args=(tmp_path, "every-item", 30, mark)) for mark in "abc"
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 3
    first, *others = (json.loads((tmp_path / f"told-{mark}").read_text()) for mark in "abc")
    assert others == [first, first]
    assert len(stored(tmp_path)[0]) == 30
