"""Arrivals: which items of a batch count in the open tick.

Statement:
    Whether an item counts depends on the items of its own owner alone: on which of them arrived in which tick, not
    on their order within a tick, on batches, or on anybody else's. Of one person's items in one tick those with
    the least item keys count, at most `items` of them, in at most `ticks` ticks that are `separation` apart. An
    item that cannot be read changes nothing: it is as if it had not come, and it may come again, rightly spelled.
Proof:
    docs/proofs/stream_ledger.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from jali.ledger.stream import Arrival, Attendance, Bounds, Entered
from jali.ledger.stream_tables import StreamTables


class Arrivals:
    """Takes the items of one batch into the open tick of a stream."""

    def __init__(self, tables: StreamTables, stream: int, tick: int, bounds: Bounds) -> None:
        self._tables, self._stream, self._tick, self._bounds = tables, stream, tick, bounds
        self._fresh: list[Arrival] = []
        self._people: list[tuple[str, Attendance]] = []
        self._given_way = 0

    def enter(self, arrivals: Iterable[Arrival]) -> Entered:
        """Keep the items that are not known, each as one that counts or as one that does not."""
        arrivals = tuple(arrivals)
        readable = [arrival for arrival in arrivals if arrival.increments is not None]
        asked, known = self._unknown(readable)
        for owner, items in asked.items():
            if self._bounds.persons:
                self._enter_person(owner, items)
            else:
                self._fresh += items.values()
        self._tables.put_items(self._stream, self._tick, self._fresh)
        self._tables.put_people(self._stream, self._people)
        new = sum(arrival.increments is not None for arrival in self._fresh)
        unreadable = len(arrivals) - len(readable)
        return Entered(new, known, len(self._fresh) - new + self._given_way, unreadable)

    def _unknown(self, arrivals: Iterable[Arrival]) -> tuple[dict[str, dict[str, Arrival]], int]:
        """Return the items that were never seen, by owner and key; and how many others there are."""
        asked: dict[str, dict[str, Arrival]] = {}
        known = 0
        for arrival in arrivals:
            own = asked.setdefault(arrival.owner, {})
            if arrival.item in own or self._tables.knows(self._stream, arrival.owner, arrival.item):
                known += 1
            else:
                own[arrival.item] = arrival
        return asked, known

    def _enter_person(self, owner: str, items: dict[str, Arrival]) -> None:
        person = self._tables.attendance(self._stream, owner)
        if not items or not self._bounds.admit(person, self._tick):
            self._fresh += [arrival._replace(increments=None) for arrival in items.values()]
            return
        stay = self._least(owner, person, list(items))
        self._fresh += [a if a.item in stay else a._replace(increments=None) for a in items.values()]
        ticks = person.ticks if person.last == self._tick else person.ticks + 1
        self._people.append((owner, Attendance(ticks, self._tick, len(stay))))

    def _least(self, owner: str, person: Attendance, wanted: list[str]) -> set[str]:
        """Return the keys of the items of this person that count now; earlier ones give way to lesser keys."""
        earlier = self._tables.counted(self._stream, owner, self._tick) if person.last == self._tick else []
        stay = set(sorted([*earlier, *wanted])[: self._bounds.items])
        leaving = [item for item in earlier if item not in stay]
        if leaving:
            self._tables.drop(self._stream, self._tick, owner, leaving)
            self._given_way += len(leaving)
        return stay
