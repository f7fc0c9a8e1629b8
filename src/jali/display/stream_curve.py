"""A distribution function as it is drawn: what was published at some values, and what that says between them.

A distribution function rises: between two values it is at least what it is at the first and at most what it is at
the second. So the band between them reaches from the low end of the one interval to the high end of the other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from jali.display.plotted import Series
from jali.display.streamed import Strand

Points = list[tuple[float, float, float]]


@dataclass(frozen=True)
class Curve:
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
    def of(cls, series: Series, within: tuple[float, float] | None = None) -> Curve:
        """Return the curve through published shares; it is 0 below the declared range, and 1 at the end of it."""
        points = [(float(line.label), line.value, *(line.interval or (0.0, 1.0))) for line in series.lines]
        before = [(within[0], 0.0, 0.0, 0.0)] if within is not None and within[0] < points[0][0] else []
        after = [(within[1], 1.0, 1.0, 1.0)] if within is not None and within[1] > points[-1][0] else []
        told = slice(len(before), len(before) + len(points))
        return cls(series.name, told, *map(tuple, zip(*before, *points, *after, strict=True)))

    def band(self) -> Points:
        """Return the corners of the band: places with the lower and the upper edge, two for each piece."""
        pieces = zip(self.places, self.places[1:], self.lows, self.highs[1:], strict=False)
        return [(place, low, high) for first, last, low, high in pieces for place in (first, last)]

    def spread(self, count: int) -> tuple[list[float], Strand]:
        """Return places at equal distances, and the line with its band there: straight between the values."""
        first, last = self.places[0], self.places[-1]
        if first == last:
            return [first], Strand(self.name, self.shares, self.lows, self.highs)
        places = [first + (last - first) * step / (count - 1) for step in range(count - 1)] + [last]
        values, lows, highs = zip(*(self._at(place) for place in places), strict=True)
        return places, Strand(self.name, values, lows, highs)

    def _at(self, place: float) -> tuple[float, float, float]:
        after = bisect_right(self.places, place)
        if after == len(self.places) or self.places[after - 1] == place:
            return self.shares[after - 1], self.lows[after - 1], self.highs[after - 1]
        first, last = self.places[after - 1], self.places[after]
        share = (place - first) / (last - first)
        value = self.shares[after - 1] + share * (self.shares[after] - self.shares[after - 1])
        return value, self.lows[after - 1], self.highs[after]


def curves_of(series: Sequence[Series], within: tuple[float, float] | None) -> list[Curve]:
    """Return the curves of several ticks."""
    return [Curve.of(one, within) for one in series]
