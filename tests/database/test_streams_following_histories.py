"""The privacy claim of streams that follow a table: one person's rows may do whatever they like.

Over the life of a stream a person's rows appear, come late, move, change and vanish, among those of others.
Whatever they do, the increments differ from those without this person by no more than the declared participation
allows: in so many ticks, so far apart, by so much in each.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pyarrow
import pytest
from tests.database.followed import EPSILON, visits
from tests.depth import DEPTH
from tests.frames import tagged

import jali
from jali.mechanisms.workloads.workload import Floats

_HISTORIES = 6 * DEPTH
_TICKS = 9
_DAYS = [-1.5, *(tick + part for tick in range(_TICKS + 1) for part in (0.0, 0.5, 0.999))]
_WARDS = ["A", "B", "A", "B", "Z", None]
_AMOUNTS = [0.0, 3.0, 100.0, 1e9, -7.0, float("nan"), None]


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with jali.connect() as found:
        yield found


def _row(random: Random, person: str) -> tuple[Any, ...]:
    return person, random.choice(_DAYS), random.choice(_WARDS), random.choice(_AMOUNTS)


def _drifting(random: Random, person: str, steps: int) -> list[list[tuple[Any, ...]]]:
    """Rows of one person at each step: some stay, some go, some come, some come again."""
    pool = [_row(random, person) for _ in range(8)]
    return [[row for row in pool + pool[:3] if random.random() < 0.4] for _ in range(steps)]


def _published(
    db: jali.Database, name: str, history: list[pyarrow.Table], last: list[int], **terms: Any
) -> Floats:
    """Follow a table through a history, and return the increments of each tick and key."""
    unit = {"unit": None} if terms.get("key") else {"unit": "person", "max_rows": 9}
    columns = {"ward": jali.Keys(["A", "B"]), "amount": jali.Range(0, 100)}
    budget = jali.Budget(epsilon=2 * EPSILON)
    history = [tagged(step, name) for step in history]
    db.protect(name, history[0], columns=columns, budget=budget, **unit)  # type: ignore[arg-type]
    aggregate = terms.pop("aggregate")
    stream = db.stream(
        f"{name}_followed",
        query=f"SELECT date_trunc('day', seen) AS day, ward, {aggregate} FROM {name} GROUP BY day, ward",
        start="2026-01-01",
        horizon=30,
        epsilon=EPSILON,
        mechanism="every-item",
        **terms,
    )
    for frame, tick in zip(history, last, strict=True):
        db.tables.attach(name, frame)
        stream.publish(tick)
    shown = np.array([[tick.values[ward] for ward in ("A", "B")] for tick in stream.ticks()])
    return np.diff(shown, axis=0, prepend=np.zeros((1, 2)))


def _steps(random: Random) -> list[int]:
    """Return which tick each publishing ends with: often the next, sometimes several at once."""
    return sorted({_TICKS, *random.sample(range(1, _TICKS), random.randint(2, _TICKS - 2))})


@pytest.mark.parametrize(("aggregate", "most"), [("COUNT(*)", 1), ("SUM(amount)", 100)])
def test_one_person_moves_the_increments_no_further_than_declared(
    db: jali.Database, aggregate: str, most: int
) -> None:
    moved = 0
    for seed in range(_HISTORIES):
        random = Random(f"{aggregate} {seed}")
        last = _steps(random)
        others = zip(*(_drifting(random, f"p{i}", len(last)) for i in range(3)), strict=True)
        rest = [list(itertools.chain(*rows)) for rows in others]
        own = _drifting(random, "me", len(last))
        with_me = [visits(*random.sample(a + b, len(a + b))) for a, b in zip(rest, own, strict=True)]
        ticks = random.randint(1, 4)
        bounds = {"max_ticks": ticks, "separation": random.choice([1, 1, 2, 3]) if ticks > 1 else 1}
        bounds |= {"max_items": random.randint(1, 3)}
        late = random.choice([None, None, 0, 2])
        name = f"{aggregate.split('(', maxsplit=1)[0].lower()}{seed}"
        both = [
            _published(db, f"{name}_{i}", history, last, late=late, aggregate=aggregate, **bounds)
            for i, history in enumerate((with_me, [visits(*rows) for rows in rest]))
        ]
        moved += _check(both[0] - both[1], bounds, most)
    assert moved > _HISTORIES / 2  # or the test would be about people who count nowhere


def _check(difference: Floats, bounds: dict[str, int], most: int) -> bool:
    far = np.abs(difference).sum(axis=1)
    entered = np.flatnonzero(far > 1e-6)
    assert len(entered) <= bounds["max_ticks"]
    assert (np.diff(entered) >= bounds["separation"]).all()
    assert (far <= most * bounds["max_items"] + 1e-3).all()
    return bool(len(entered))


def test_a_row_that_is_a_person_moves_one_tick_by_one_whatever_it_turns_into(db: jali.Database) -> None:
    """The row of one key changes, comes and goes at will; others stay as they are."""
    moved = 0
    for seed in range(_HISTORIES):
        random = Random(f"row {seed}")
        last = _steps(random)
        rest = [_row(random, "other") for _ in range(4)]
        frames = []
        for _ in last:
            # The last row of the table has the key 4; without it there are the keys 0 to 3.
            mine = [_row(random, "me")] if random.random() < 0.7 else []
            frames.append(visits(*rest, *mine))
        both = [
            _published(db, f"row{seed}_{i}", history, last, key="visit", aggregate="COUNT(*)")
            for i, history in enumerate((frames, [visits(*rest)] * len(last)))
        ]
        moved += _check(both[0] - both[1], {"max_ticks": 1, "separation": 1, "max_items": 1}, 1)
    assert moved > _HISTORIES / 2
