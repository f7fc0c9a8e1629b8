"""Draw real numbers as images of uniform points in a region of the unit square, exactly.

A point is known by ever smaller cells. Two kinds of region: below a curve (an envelope), and the ratio of
uniforms, which for a density h accepts (U, V) if U**2 <= h(V/U), so that V/U has this density.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.sampling.bernoulli import bernoulli
from jali.sampling.bits import BitSource, Words
from jali.sampling.exp_bounds import Bounds
from jali.sampling.interval_bernoulli import WORD, Booleans
from jali.sampling.reals.balls import WIDTH, Ball, of_words, where
from jali.sampling.reals.log_bounds import log_bounds
from jali.sampling.reals.real import Draws, Law, Real


class Point:
    """A uniform point (U, V) of the unit square, of which more bits are drawn on demand.

    What is known at any time is that U lies in [u, u+1] / 2**known, and V in [v, v+1] / 2**known.

    Args:
        bits: Where the random bits come from.
        word_bits: How many bits each coordinate gets at a time, 1 to 64.
        u: The first bits of U, if some are known.
        v: The first bits of V.
        known: How many bits are known.
    """

    __slots__ = ("_bits", "_word", "known", "u", "v")

    def __init__(self, bits: BitSource, word_bits: int, u: int = 0, v: int = 0, known: int = 0) -> None:
        self._bits = bits
        self._word = word_bits
        self.u, self.v, self.known = u, v, known
        if not known:
            self.refine()

    def refine(self) -> None:
        """Draw further bits of both coordinates."""
        more = self._bits.integers(2, self._word)
        self.u = self.u << self._word | int(more[0])
        self.v = self.v << self._word | int(more[1])
        self.known += self._word


class Region(ABC):
    """A region of the unit square and a map from it to the numbers above 0.

    `contains` and `image` speak of the whole cell of a point, with integers. `margin` and `place` say the same of
    many points in doubles, each with a radius.
    """

    @abstractmethod
    def contains(self, point: Point) -> bool | None:
        """Return whether all of the cell is inside (True) or outside (False); None if this is not known."""

    @abstractmethod
    def image(self, point: Point, precision: int) -> Bounds | None:
        """Return integers lo <= 2**precision z <= hi for the images z of the cell; None if it is too large."""

    @abstractmethod
    def margin(self, u: Ball, v: Ball) -> Ball:
        """Return numbers that are above 0 inside and below 0 outside."""

    @abstractmethod
    def place(self, u: Ball, v: Ball) -> Ball:
        """Return the images of points inside."""


class ImageOfPoint(Real):
    """The image of a point that is inside a region, with a sign.

    Args:
        region: The region and its map.
        point: A point inside.
        negative: Whether the number is below 0.
    """

    def __init__(self, region: Region, point: Point, *, negative: bool) -> None:
        self._region = region
        self._point = point
        self._negative = negative

    def bounds(self, precision: int) -> Bounds:
        """Return integers lo <= 2**precision z <= hi."""
        while self._point.known < precision:
            self._point.refine()
        while (image := self._region.image(self._point, precision)) is None:
            self._point.refine()
        low, high = image
        return (-high, -low) if self._negative else (low, high)


@dataclass(frozen=True)
class RegionLaw(Law):
    """The law of the images of uniform points in one of two regions, with a random sign.

    Args:
        first: The region that is tried with probability `share`.
        second: The region that is tried otherwise.
        share: A rational in [0, 1].

    Guarantee:
        A trial takes a region and a point; it is repeated until the point is inside. So the number of the first
        kind has probability in proportion to share * area(first), and so on, exactly.
    Proof:
        docs/proofs/reals.md, Theorem 2.
    """

    first: Region
    second: Region | None = None
    share: Fraction = Fraction(1)

    def draw(self, bits: BitSource, *, word_bits: int = WIDTH) -> Real:
        """Draw one number."""
        negative = bool(bits.integers(1, 1)[0])
        while True:
            region = self._region(bool(self._seconds(1, bits, word_bits)[0]))
            point = Point(bits, word_bits)
            if is_inside(region, point):
                return ImageOfPoint(region, point, negative=negative)

    def draws(self, size: int, bits: BitSource) -> Draws:
        """Draw many independent numbers."""
        u, v = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        seconds = np.zeros(size, np.bool_)
        negative = bits.integers(size, 1) == 1
        pending, points = np.arange(size), dict[int, Point]()
        while len(pending):
            fresh = _RegionPoints(
                bits.integers(len(pending), WIDTH),
                bits.integers(len(pending), WIDTH),
                self._seconds(len(pending), bits),
            )
            inside, settled = self._settle(fresh, bits)
            kept = pending[inside]
            u[kept], v[kept], seconds[kept] = fresh.u[inside], fresh.v[inside], fresh.seconds[inside]
            points |= {int(pending[place]): point for place, point in settled.items()}
            pending = pending[~inside]
        balls = self._either(seconds, *self._places(u, v))

        def real(place: int) -> Real:
            if place not in points:
                points[place] = Point(bits, WORD, int(u[place]), int(v[place]), WIDTH)
            region = self._region(bool(seconds[place]))
            return ImageOfPoint(region, points[place], negative=bool(negative[place]))

        return Draws(where(negative, -balls, balls), real)

    def _settle(self, trials: _RegionPoints, bits: BitSource) -> tuple[Booleans, dict[int, Point]]:
        """Return which points are inside; also return those of them that needed more bits."""
        u, v = of_words(trials.u), of_words(trials.v)
        with np.errstate(all="ignore"):
            second = None if self.second is None else self.second.margin(u, v)
            margin = self._either(trials.seconds, self.first.margin(u, v), second)
        inside, settled = margin.above(), dict[int, Point]()
        for place in np.flatnonzero(~(inside | margin.below())).tolist():
            point = Point(bits, WORD, int(trials.u[place]), int(trials.v[place]), WIDTH)
            inside[place] = is_inside(self._region(bool(trials.seconds[place])), point)
            if inside[place]:
                settled[place] = point
        return inside, settled

    def _places(self, u: Words, v: Words) -> tuple[Ball, Ball | None]:
        balls = of_words(u), of_words(v)
        with np.errstate(all="ignore"):
            return self.first.place(*balls), None if self.second is None else self.second.place(*balls)

    def _either(self, seconds: Booleans, first: Ball, second: Ball | None) -> Ball:
        return first if second is None else where(seconds, second, first)

    def _region(self, second: bool) -> Region:
        return self.second if second and self.second is not None else self.first

    def _seconds(self, size: int, bits: BitSource, word_bits: int = WORD) -> Booleans:
        if self.second is None:
            return np.zeros(size, np.bool_)
        return ~bernoulli(self.share, size, bits=bits, word_bits=word_bits)


@dataclass(frozen=True, eq=False)
class _RegionPoints:
    """Points by their first bits, and which of them belong to the second region."""

    u: Words
    v: Words
    seconds: Booleans


def is_inside(region: Region, point: Point) -> bool:
    """Return whether a point lies in a region; bits are drawn until this is certain."""
    while (verdict := region.contains(point)) is None:
        point.refine()
    return verdict


_GUARD = 8


class RegionBelowCurve(Region):
    """The points with v <= g(u), where g does not rise, mapped by a monotone function of u.

    Proof:
        docs/proofs/reals.md, Lemma 5.
    """

    @abstractmethod
    def height(self, u: int, known: int, precision: int) -> Bounds:
        """Return integers lo <= 2**precision g(u / 2**known) <= hi for 0 <= u <= 2**known."""

    @abstractmethod
    def height_of(self, u: Ball) -> Ball:
        """Return g(u)."""

    def contains(self, point: Point) -> bool | None:
        """Compare v and g(u) at the corners of the cell."""
        precision = point.known + _GUARD
        if (point.v + 1) << _GUARD <= self.height(point.u + 1, point.known, precision)[0]:
            return True
        if point.v << _GUARD > self.height(point.u, point.known, precision)[1]:
            return False
        return None

    def margin(self, u: Ball, v: Ball) -> Ball:
        """Return g(u) - v."""
        return self.height_of(u) - v


class Quotient(Region):
    """The points with u**2 <= h(v/u), mapped to v/u.

    h falls from h(0) = 1 on, and z**2 h(z) <= 1, so that the region lies in the unit square.

    Proof:
        docs/proofs/reals.md, Lemma 4.
    """

    @abstractmethod
    def descent(self, z: Fraction, precision: int) -> Bounds:
        """Return integers lo <= 2**precision * -ln h(z) <= hi for rational z >= 0."""

    @abstractmethod
    def descent_of(self, z: Ball) -> Ball:
        """Return -ln h(z)."""

    def contains(self, point: Point) -> bool | None:
        """Compare -ln h(z) with -2 ln u at the corners of the cell."""
        if not point.u:
            return None
        precision, one = point.known + _GUARD, 1 << point.known
        furthest = Fraction(point.v + 1, point.u)
        if self.descent(furthest, precision)[1] <= 2 * log_bounds(one, point.u + 1, precision)[0]:
            return True
        nearest = Fraction(point.v, point.u + 1)
        if self.descent(nearest, precision)[0] > 2 * log_bounds(one, point.u, precision)[1]:
            return False
        return None

    def image(self, point: Point, precision: int) -> Bounds | None:
        """Bound v/u."""
        if not point.u:
            return None
        return (point.v << precision) // (point.u + 1), -(-((point.v + 1) << precision) // point.u)

    def margin(self, u: Ball, v: Ball) -> Ball:
        """Return -2 ln u + ln h(v/u)."""
        return u.fall() * 2 - self.descent_of(v / u)

    def place(self, u: Ball, v: Ball) -> Ball:
        """Return v/u."""
        return v / u
