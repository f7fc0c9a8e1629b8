"""The public object of a stream: what was published, tick after tick, and how the curator appends."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from jali.streams.stream_item import Item

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from jali.execution.streams.durable_streams import DurableStreams
    from jali.execution.streams.stream_declaration import StreamDeclaration
    from jali.privacy import Event

Bounds: TypeAlias = dict[Any, tuple[float, float]]


@dataclass(frozen=True)
class Appended:
    """What became of a batch of items. It depends on the data: for the curator alone.

    Attributes:
        new: How many entered the open tick.
        known: How many had been appended before; they change nothing.
        dropped: How many were left out because they are beyond what one person may add. Also earlier items of the
            open tick that gave way to others of their owner. They stay known.
        unreadable: How many have no item key, or no owner, declared key or number where one is needed. They change
            nothing, and are not remembered: the same items may come again, rightly spelled.
    """

    new: int
    known: int
    dropped: int
    unreadable: int = 0


@dataclass(frozen=True)
class Tick:
    """What a stream published at one tick. It never changes.

    Attributes:
        number: Which tick, from 1.
        label: When it began, where the stream has a clock.
        values: The noisy number so far, or over a window: under each declared key, or under None.
        low: Where the number lies, with 95 % confidence for each: not below.
        high: And not above.
    """

    number: int
    label: str | None
    values: dict[Any, float]
    _around: Callable[[float], Bounds] = field(repr=False, compare=False)

    def __str__(self) -> str:
        from jali.display.stream_display import write_tick

        return write_tick(self)

    def interval(self, confidence: float = 0.95) -> Bounds:
        """Return the interval of every value."""
        return self._around(confidence)

    @cached_property
    def low(self) -> dict[Any, float]:
        """The lower ends at 95 %."""
        return {key: low for key, (low, _) in self._at_95.items()}

    @cached_property
    def high(self) -> dict[Any, float]:
        """The upper ends at 95 %."""
        return {key: high for key, (_, high) in self._at_95.items()}

    @cached_property
    def _at_95(self) -> Bounds:
        return self._around(0.95)


class StreamSource(Protocol):
    """Where a view of a stream finds what was published."""

    def published(self, declaration: StreamDeclaration) -> int:
        """Return how many ticks were published."""

    def value(self, declaration: StreamDeclaration, tick: int | None) -> Tick:
        """Return what was published at a tick; by default at the last."""

    def ticks(self, declaration: StreamDeclaration) -> tuple[Tick, ...]:
        """Return all that was published."""


class StreamView:
    """A stream as anybody may see it: what was published, and how it came about. Nothing here is spent.

    Example:
        `s = db.session("ana").stream("admissions"); s.value(); s.plot()`
    """

    def __init__(self, streams: StreamSource, declaration: StreamDeclaration) -> None:
        self._streams = streams
        self.declaration = declaration

    def __repr__(self) -> str:
        declared = self.declaration
        life = "no horizon" if declared.horizon is None else f"{declared.horizon} ticks"
        return f"{type(self).__name__}({declared.name}: {declared.what}, {life})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Refuse what only the curator may do: append and publish."""
            if name in ("append", "publish", "open_tick", "fields"):
                raise AttributeError(
                    f"A view of a stream has no {name}: only the curator appends and publishes, by db.stream(...)."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __len__(self) -> int:
        return self.published

    def __bool__(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """What the stream is called."""
        return self.declaration.name

    @property
    def published(self) -> int:
        """How many ticks were published."""
        return self._streams.published(self.declaration)

    @property
    def cost(self) -> Event:
        """The loss of the whole stream, which was charged when it was made."""
        return self.declaration.mechanism.loss.event

    def value(self, tick: int | None = None) -> Tick:
        """Return what was published at a tick; by default at the last."""
        return self._streams.value(self.declaration, tick)

    def ticks(self) -> tuple[Tick, ...]:
        """Return all that was published, oldest first."""
        return self._streams.ticks(self.declaration)

    def interval(self, confidence: float = 0.95, tick: int | None = None) -> Bounds:
        """Return the interval of every value of a tick; by default of the last."""
        return self.value(tick).interval(confidence)

    def explain(self) -> str:
        """Describe how the stream is made: privacy unit, mechanism, privacy loss and the size of its noise."""
        from jali.execution.streams.explain_stream import explain_stream

        return explain_stream(self.declaration)

    def columns(self) -> dict[str, list[Any]]:
        """Return all ticks as columns: tick, label and key where there are any, value, low, high."""
        rows = [(tick, key, value) for tick in self.ticks() for key, value in tick.values.items()]
        found: dict[str, list[Any]] = {"tick": [tick.number for tick, _, _ in rows]}
        if self.declaration.clock is not None:
            found["label"] = [tick.label for tick, _, _ in rows]
        if self.declaration.measure.labels != (None,):
            found["key"] = [key for _, key, _ in rows]
        found["value"] = [value for _, _, value in rows]
        found["low"] = [tick.low[key] for tick, key, _ in rows]
        return {**found, "high": [tick.high[key] for tick, key, _ in rows]}

    def to_arrow(self) -> pyarrow.Table:
        """Return all ticks as an Arrow table."""
        from jali.display.data_frames import build_arrow_table

        return build_arrow_table(self.columns())

    def to_pandas(self) -> pandas.DataFrame:
        """Return all ticks as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def to_polars(self) -> polars.DataFrame:
        """Return all ticks as a polars frame."""
        from jali.display.data_frames import build_polars_frame

        return build_polars_frame(self.columns())

    def __str__(self) -> str:
        from jali.display.stream_display import write_stream

        return write_stream(self)

    def _repr_html_(self) -> str:
        from jali.display.stream_display import write_stream_html

        return write_stream_html(self)

    def plot(self, *, key: Any = None, ax: Any = None) -> Any:
        """Draw the published line of each key with its 95 % band, and return the axes (needs matplotlib).

        Args:
            key: Only this key; a list for several.
            ax: The axes to draw on; new ones by default.
        """
        from jali.display.stream_display import plot_stream

        return plot_stream(self, key=key, axes=ax)


class Stream(StreamView):
    """A durable stream, as the curator holds it: items go in, and each closed tick is published once.

    Example:
        `st = db.stream("admissions"); st.append([{"item": "e1", "owner": "p1"}]); st.publish()`
    """

    def __init__(self, streams: DurableStreams, declaration: StreamDeclaration) -> None:
        super().__init__(streams, declaration)
        self._ways_in = streams

    @property
    def open_tick(self) -> int:
        """The tick that items enter now."""
        return self.published + 1

    @property
    def fields(self) -> tuple[str, ...]:
        """What every item must have here: item, and owner, key and value as far as the stream needs them."""
        from jali.execution.streams.measure_protocol import list_item_fields

        return list_item_fields(self.declaration.measure, self.declaration.unit)

    def append(self, items: Iterable[Item | Mapping[str, Any]]) -> Appended:
        """Add items to the open tick: all of them durably, or none.

        An item that was appended before, known by its owner and item key, changes nothing. Items beyond what one
        person may add are dropped: of one person's items in one tick those with the least item keys stay. An item
        without one of the `fields`, or with a key that is not declared, changes nothing either; it may come again.
        What is returned depends on the data: it is for the curator alone.
        """
        return self._ways_in.append(self.declaration, items)

    def publish(
        self, tick: int | None = None, *, until: str | datetime.date | datetime.datetime | None = None
    ) -> Tick:
        """Close the open tick, and publish the number. The noise is on disk before the number leaves.

        Args:
            tick: Publish up to this tick: those after the open one are empty. What was published before is
                returned as it was.
            until: Where the stream has a clock: close every tick that ends by then. A time beyond the horizon is
                refused, and so is one that would close more than 10,000 ticks of a stream without any.
        """
        return self._ways_in.publish(self.declaration, tick, until)
