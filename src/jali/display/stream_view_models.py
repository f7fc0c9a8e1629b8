"""View models of streams: lines over ticks and distribution functions, as plain values.

No library is needed to make or to test them. A distribution function is drawn from what was published at some
values, and from what that says between them: it rises, so between two values it is at least what it is at the
first and at most what it is at the second. So the band between them reaches from the low end of the one
interval to the high end of the other.
"""

from __future__ import annotations

import datetime
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from jali.display.numbers import show_amount, show_key
from jali.display.view_models import Series
from jali.errors import QueryError

One = TypeVar("One")
LinePoints: TypeAlias = list[tuple[int, float]]
# More points of a line than this are no better to see.
_POINTS = 600
# Of the keys of a stream, on every picture: to be seen on white and on black.
STREAM_COLOURS = ("#0f766e", "#c2790b", "#8a4a76", "#64748b", "#7c9a3a", "#14a098")


@dataclass(frozen=True)
class StreamLine:
    """One line of a picture: what was published about one key, tick after tick.

    Attributes:
        name: Of the key; empty where a stream has none.
        values: The published values; NaN where one says nothing.
        lows: The lower end of each interval.
        highs: The upper end.
    """

    name: str
    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number to be seen; intervals without an end are cut off."""
        return find_ends((*self.values, *self.lows, *self.highs))

    def outline(self, places: Sequence[int]) -> tuple[LinePoints, LinePoints]:
        """Return the points of the line and of the band around it: a value holds until the next of some places."""
        known = [place for place in places if not math.isnan(self.values[place])]
        steps = list(zip(known, [*known[1:], len(self.values)], strict=False))
        line = [(x, self.values[place]) for place, end in steps for x in (place, end)]
        above = [(x, self.highs[place]) for place, end in steps for x in (place, end)]
        below = [(x, self.lows[place]) for place, end in reversed(steps) for x in (end, place)]
        return line, [*above, *below]


@dataclass(frozen=True)
class StreamPlot:
    """A stream, ready to be drawn.

    Attributes:
        name: Of the stream.
        measure: What is measured, such as `count`.
        ticks: The numbers of the ticks that were published.
        labels: What the clock calls each of them; none without a clock.
        strands: A line for each key.
        horizon: For how many ticks the stream lives; None if it has no end.
        confidence: Of each interval.
        said: What the picture is about, where it is not the ticks of the stream.
        between: What its bands are, where they are not the intervals of the values.
        over: Over which ticks values are.
        lately: The same of the last one, where that tells more.
    """

    name: str
    measure: str
    ticks: tuple[int, ...]
    labels: tuple[Any, ...]
    strands: tuple[StreamLine, ...]
    horizon: int | None = None
    confidence: float = 0.95
    said: str = ""
    between: str = ""
    over: str = "so far"
    lately: str = ""

    def name_tick(self, place: int) -> str:
        """Return what the tick at a place is called: as the clock has it, or its number."""
        if not self.labels:
            return f"{self.ticks[place]:,}"
        label = self.labels[place]
        return f"{label:%Y-%m-%d %H:%M}" if isinstance(label, datetime.datetime) else show_key(label)

    @property
    def bands(self) -> str:
        """What the bands around the lines are."""
        sure = f"{100 * self.confidence:g} %"
        if self.between:
            return self.between
        if len(self.strands) == 1:
            return f"the band is the {sure} interval for the bounded truth"
        return f"bands are {sure} intervals for the bounded truth"

    @property
    def heading(self) -> str:
        """What the picture is about, and how far the stream has come.

        Example:
            >>> StreamPlot("visits", "count", (1, 2), (), (), 365).heading
            'visits · count so far · tick 2 of 365'
        """
        if self.said:
            return f"{self.name} · {self.said}"
        last = self.ticks[-1] if self.ticks else 0
        life = "" if self.horizon is None else f" of {self.horizon:,}"
        return f"{self.name} · {self.measure} {self.lately or self.over} · tick {last:,}{life}"


@dataclass(frozen=True)
class StreamOutline:
    """The first lines of a stream and their bands as points of a drawing, one for each colour.

    Attributes:
        strands: The lines that are drawn.
        paths: For each of them, the points of its line and those of its band.
        count: How many ticks the drawing is wide.
        low: The number at its bottom.
        high: The number at its top.
        left_out: How many keys are not drawn.
    """

    strands: tuple[StreamLine, ...]
    paths: tuple[tuple[LinePoints, LinePoints], ...]
    count: int
    low: float
    high: float
    left_out: int

    @classmethod
    def of(cls, streamed: StreamPlot) -> StreamOutline:
        """Return the outline of a stream of which at least one tick was published."""
        strands, count = streamed.strands[: len(STREAM_COLOURS)], len(streamed.ticks)
        low, high = find_ends(end for strand in strands for end in strand.ends)
        places = spread_places(count, _POINTS)
        paths = tuple(strand.outline(places) for strand in strands)
        return cls(
            strands, paths, count, low, high if high > low else low + 1, len(streamed.strands) - len(strands)
        )

    def down(self, number: float) -> float:
        """Return how far below the top a number stands, from 0 to 1; what lies outside is at the edge."""
        return (self.high - min(max(number, self.low), self.high)) / (self.high - self.low)

    def marks(self) -> list[tuple[str, float]]:
        """Return round numbers beside the drawing, and how far below the top each of them stands."""
        return [(show_amount(mark), self.down(mark)) for mark in list_round_numbers(self.low, self.high, 5)]

    def write_points(self, points: LinePoints, x: Callable[[float], float], y: Callable[[float], float]) -> str:
        """Write points as SVG does: x and y say where shares of the width and of the height are."""
        return " ".join(
            f"{x(place / self.count):.1f},{y(self.down(value)):.1f}"
            for place, value in points
            if not math.isnan(value)
        )


def pick_keys(names: Sequence[str], known: Mapping[str, One], stream: str) -> dict[str, One]:
    """Return what some keys of a stream have, in their order; a key that it has not is refused."""
    if missing := [name for name in names if name not in known]:
        some = tuple(name for name in list(known)[:10] if name)
        raise QueryError(
            "stream-key-unknown",
            stream=stream,
            key=missing[0],
            has_keys=bool(some),
            keys=some,
            more=len(known) > 10,
        )
    return {name: known[name] for name in names}


def find_ends(numbers: Iterable[float]) -> tuple[float, float]:
    """Return the least and the largest of the numbers that are finite; 0 and 1 if there are none."""
    found = [number for number in numbers if math.isfinite(number)]
    return (min(found), max(found)) if found else (0.0, 1.0)


def spread_places(count: int, most: int) -> list[int]:
    """Return at most `most` places out of `count`, evenly spread, the first and the last among them.

    Example:
        >>> spread_places(10, 4), spread_places(3, 5), spread_places(7, 1)
        ([0, 3, 6, 9], [0, 1, 2], [6])
    """
    if count <= most:
        return list(range(count))
    return [count - 1] if most == 1 else [place * (count - 1) // (most - 1) for place in range(most)]


def list_round_numbers(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers between two ends, evenly spaced: 1, 2 or 5 times a power of ten apart.

    Example:
        >>> list_round_numbers(-3.0, 104.0, 4), list_round_numbers(0.0, 0.7, 5)
        ([0.0, 50.0, 100.0], [0.0, 0.2, 0.4, 0.6])
    """
    parts = max(1, most - 1)
    # The difference of two large numbers may be beyond all doubles.
    step = _round_step(high / parts - low / parts)
    found = _list_multiples(low, high, step)
    while len(found) > max(1, most):
        step = _round_step(1.5 * step)
        found = _list_multiples(low, high, step)
    return found


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next((times * power for times in (1, 2, 5) if times * power >= least), 10 * power)


def _list_multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


BandPoints = list[tuple[float, float, float]]


@dataclass(frozen=True)
class DistributionCurve:
    """One distribution function, known at some values.

    Attributes:
        name: Of the tick, or of the key.
        published: At which of the values it was published; at the others, the ends of its range, it is known.
        places: The values, rising.
        shares: The share that is at most each of them.
        lows: The lower end of each interval.
        highs: The upper end.
    """

    name: str
    published: slice
    places: tuple[float, ...]
    shares: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @classmethod
    def of(cls, series: Series, within: tuple[float, float] | None = None) -> DistributionCurve:
        """Return the curve through published shares; it is 0 below the declared range, and 1 at the end of it."""
        points = [(float(line.label), line.value, *(line.interval or (0.0, 1.0))) for line in series.lines]
        before = [(within[0], 0.0, 0.0, 0.0)] if within is not None and within[0] < points[0][0] else []
        after = [(within[1], 1.0, 1.0, 1.0)] if within is not None and within[1] > points[-1][0] else []
        told = slice(len(before), len(before) + len(points))
        return cls(series.name, told, *map(tuple, zip(*before, *points, *after, strict=True)))

    def band(self) -> BandPoints:
        """Return the corners of the band: places with the lower and the upper edge, two for each piece."""
        pieces = zip(self.places, self.places[1:], self.lows, self.highs[1:], strict=False)
        return [(place, low, high) for first, last, low, high in pieces for place in (first, last)]

    def spread(self, count: int) -> tuple[list[float], StreamLine]:
        """Return places at equal distances, and the line with its band there: straight between the values."""
        first, last = self.places[0], self.places[-1]
        if first == last:
            return [first], StreamLine(self.name, self.shares, self.lows, self.highs)
        places = [first + (last - first) * step / (count - 1) for step in range(count - 1)] + [last]
        values, lows, highs = zip(*(self._at(place) for place in places), strict=True)
        return places, StreamLine(self.name, values, lows, highs)

    def _at(self, place: float) -> tuple[float, float, float]:
        after = bisect_right(self.places, place)
        if after == len(self.places) or self.places[after - 1] == place:
            return self.shares[after - 1], self.lows[after - 1], self.highs[after - 1]
        first, last = self.places[after - 1], self.places[after]
        share = (place - first) / (last - first)
        value = self.shares[after - 1] + share * (self.shares[after] - self.shares[after - 1])
        return value, self.lows[after - 1], self.highs[after]


def build_curves(series: Sequence[Series], within: tuple[float, float] | None) -> list[DistributionCurve]:
    """Return the curves of several ticks."""
    return [DistributionCurve.of(one, within) for one in series]
