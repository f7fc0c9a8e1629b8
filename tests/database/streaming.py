"""A process that appends to a stream and publishes it, and writes down what it did: made to be killed."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import jali
from jali.stream import Stream

NAME, HORIZON = "admissions", 5000


def opened(database: jali.Database, mechanism: str) -> Stream:
    """Make the stream, or open it."""
    return database.stream(
        NAME,
        unit="patient",
        horizon=HORIZON,
        budget=jali.Budget(epsilon=1),
        mechanism=mechanism,
        keys=["A", "B"],
        max_items=2,
    )


def items(seed: int, count: int) -> list[dict[str, Any]]:
    """Return items of people who come once, with one or two items."""
    return [
        {"item": f"{place}", "owner": f"{seed}-{place // 2}", "key": "AB"[place % 2]} for place in range(count)
    ]


def live(folder: Path, mechanism: str, seed: int) -> None:
    """Append and publish without end. Each line of the diary is written before the next step begins."""
    chance = random.Random(seed)
    with jali.connect(folder / "clinic.jali") as database:
        diary = os.open(folder / "diary", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        stream, round_ = opened(database, mechanism), 0
        while True:
            round_ += 1
            batch = items(seed * 100_000 + round_, chance.randrange(1, 20))
            # Sent again in part, as by someone who got no answer.
            for sent in (batch, batch[: chance.randrange(len(batch))]):
                stream.append(sent)
                write(diary, "appended", [[item["owner"], item["item"], item["key"]] for item in sent])
            if chance.random() < 0.7:
                tick = stream.publish()
                write(diary, "published", [tick.number, tick.values["A"], tick.values["B"]])


def write(diary: int, what: str, told: Any) -> None:
    """Write one line at once."""
    os.write(diary, (json.dumps([what, told]) + "\n").encode())


def publish_many(folder: Path, mechanism: str, ticks: int, mark: str) -> None:
    """Publish ticks one after the other, by their numbers, and write down what each was."""
    with jali.connect(folder / "clinic.jali") as database:
        stream = opened(database, mechanism)
        found = [sorted(stream.publish(number).values.items()) for number in range(1, ticks + 1)]
    (folder / f"told-{mark}").write_text(json.dumps(found))
