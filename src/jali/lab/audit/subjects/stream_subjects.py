"""Streams as subjects: everything that is published over a whole life, for many copies at once.

Each copy of the rows has a key of its own, and a stream publishes a number for each key: as in `table_copies`, one
stream gives as many draws as there are keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import jali
from jali.lab.audit.subject import Outputs, Pair, Subject
from jali.lab.audit.subjects.table_copies import (
    HIGH,
    LOW,
    TABLE,
    Rows,
    TableCopies,
    Whose,
    build_neighbours,
    make_reservoir,
)
from jali.privacy import Adjacency, Concentrated, Loss, Pure
from jali.privacy.rationals import Number
from jali.stream import Stream, Tick
from jali.streams.stream_item import Item

# A row belongs to the tick that its number tells; the life of a stream is as long.
TICKS = HIGH - LOW + 1
START = "2026-01-01"
_END = "2026-01-06"


@dataclass(frozen=True)
class StreamPath:
    """A stream, and how it is declared.

    Attributes:
        measure: "count", "sum", "mean" or "cdf".
        counter: The counter that publishes, by name; the one that the forecast chooses if it is None.
        adjacency: When two streams are neighbours.
        rho: The loss in zCDP, in place of epsilon.
        epsilon: The loss.
        terms: What else is declared.
        copies: How many copies there are.
    """

    measure: str
    counter: str | None = None
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    rho: Number | None = None
    epsilon: Number = 1
    terms: tuple[tuple[str, Any], ...] = ()
    copies: int = 500

    @property
    def title(self) -> str:
        """What a report calls it."""
        told = [f"{name} {value}" for name, value in self.terms]
        counter = [] if self.counter is None else [self.counter]
        return ", ".join(
            [f"stream of a {self.measure}", *counter, *told, self.adjacency.value, str(self.claim.event)]
        )

    @property
    def claim(self) -> Loss:
        """What the whole stream is charged."""
        return Pure(self.epsilon) if self.rho is None else Concentrated(self.rho)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Neighbouring streams: a person has more items than count."""
        return build_neighbours(Whose.PERSON, self.adjacency)

    def subject(self) -> Subject:
        """Return it as a subject."""
        held = make_reservoir(self.once, self.pairs, self.copies)
        batch = self.copies * len(held.inputs)
        return Subject(self.title, self.claim, self.adjacency, self.pairs, held.draw, self.title, batch=batch)

    def once(self, *inputs: Rows) -> tuple[Outputs, ...]:
        """Publish a whole stream, and return what it said of each copy, for each input."""
        with jali.connect() as database:
            stream = self._declare_stream(database, self.copies * len(inputs))
            for tick in range(TICKS):
                stream.append(self._list_items(inputs, tick))
                stream.publish()
            return tuple(np.split(collect_ticks(stream.ticks(), self.copies * len(inputs)), len(inputs)))

    def _declare_stream(self, database: jali.Database, keys: int) -> Stream:
        values: dict[str, Any] = {"value": jali.Range(LOW, HIGH)} if self.measure in ("sum", "mean") else {}
        horizon: dict[str, Any] = {} if {"last", "restart"} & dict(self.terms).keys() else {"horizon": TICKS}
        return database.stream(
            "audited",
            unit="person",
            measure=self.measure,
            keys=list(range(keys)),
            bins=[1, 3] if self.measure == "cdf" else None,
            adjacency=self.adjacency,
            mechanism=self.counter,
            epsilon=self.epsilon if self.rho is None else None,
            rho=self.rho,
            **horizon,
            **values,
            **dict(self.terms),
        )

    def _list_items(self, inputs: Sequence[Rows], tick: int) -> list[Item]:
        """Return the items of a tick, of all copies of all inputs."""
        return [
            Item(f"{key}-{place}", f"{key}-{person}", key, None if self.measure == "count" else y)
            for number, rows in enumerate(inputs)
            for key in range(number * self.copies, (number + 1) * self.copies)
            for place, (person, _, x, y) in enumerate(rows)
            if x == tick
        ]


@dataclass(frozen=True)
class FollowedPath:
    """A stream that follows a table, which pays.

    Attributes:
        asked: What is measured.
        whose: Whose privacy counts.
        adjacency: When two tables are neighbours.
        epsilon: The loss.
        copies: How many copies there are.
    """

    asked: str
    whose: Whose = Whose.PERSON
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    epsilon: Number = 1
    copies: int = 500

    @property
    def title(self) -> str:
        """What a report calls it."""
        told = [self.asked, self.whose, self.adjacency.value, str(self.claim.event)]
        return ", ".join(["stream that follows a table", *told])

    @property
    def claim(self) -> Loss:
        """What the whole stream is charged."""
        return Pure(self.epsilon)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Neighbouring tables."""
        return build_neighbours(self.whose, self.adjacency)

    def subject(self) -> Subject:
        """Return it as a subject."""
        held = make_reservoir(self.once, self.pairs, self.copies)
        batch = self.copies * len(held.inputs)
        return Subject(self.title, self.claim, self.adjacency, self.pairs, held.draw, self.title, batch=batch)

    def once(self, *inputs: Rows) -> tuple[Outputs, ...]:
        """Follow a table over all of its days, and return what was published of each copy, for each input."""
        table = TableCopies(self.whose, self.adjacency, self.copies)
        with table.open_database(*inputs) as database:
            stream = database.stream(
                "audited",
                query=f"SELECT day, trial, {self.asked} FROM {TABLE} GROUP BY day, trial",
                start=START,
                horizon=TICKS,
                epsilon=self.epsilon,
                key="item" if self.whose is Whose.ROW else None,
            )
            stream.publish(until=_END)
            return table.split(collect_ticks(stream.ticks(), self.copies * len(inputs)))


def collect_ticks(ticks: Iterable[Tick], copies: int) -> Outputs:
    """Return what all ticks say of each copy, whose numbers follow one another in every tick: a row for each."""
    said = [np.array(list(tick.values.values()), np.float64).reshape(copies, -1) for tick in ticks]
    return np.hstack(said)


_REPLACED = Adjacency.REPLACE_ONE
_OBLIVIOUS = (("adaptive", False),)

# Every measure and every counter, by name.
STREAMS: tuple[StreamPath, ...] = (
    StreamPath("count"),
    StreamPath("count", adjacency=_REPLACED, rho="0.5"),
    StreamPath("count", terms=(("max_items", 2),)),
    StreamPath("count", terms=(("max_ticks", 2),)),
    StreamPath("count", terms=(("last", 2),)),
    StreamPath("count", terms=(("restart", 1),)),
    StreamPath("sum"),
    StreamPath("sum", adjacency=_REPLACED),
    StreamPath("mean"),
    StreamPath("cdf"),
    StreamPath("count", "balanced-digits", terms=_OBLIVIOUS),
    StreamPath("count", "binary-tree"),
    StreamPath("count", "buffered-toeplitz", rho="0.5"),
    StreamPath("count", "doubling"),
    StreamPath("count", "every-item"),
    StreamPath("count", "every-prefix"),
    StreamPath("count", "smooth-tree", rho="0.5"),
    StreamPath("count", "toeplitz-root", rho="0.5"),
)
FOLLOWED: tuple[FollowedPath, ...] = (
    FollowedPath("COUNT(*)"),
    FollowedPath("SUM(y)", Whose.ROW, _REPLACED),
    FollowedPath("AVG(y)", Whose.PERSON, _REPLACED),
)
