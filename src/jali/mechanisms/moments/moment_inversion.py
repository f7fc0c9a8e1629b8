"""Intervals for a ratio of linear forms that contain numbers known to intervals only, by inverting a test.

Statement:
    Let r be the true ratio of N(t) to D(t) at the true t, both forms in the exact sums. With u = N(t) - r D(t),
    the noisy value of u is its noise, which exceeds h(u) in size with probability at most 1 - confidence. A
    number is dropped as too large if L(u) + h(u) <= 0 for every t that is possible, L the noisy value; as too
    small if L(u) - h(u) >= 0. The true r is dropped with at most that probability, plus that of a t outside
    what was taken for possible.

    Corners hold a curve of t: for t in [l, h] the point (t, t^2) lies in the triangle of (l, l^2), (h, h^2) and
    ((l+h)/2, lh), where the tangents at the ends meet; the same with l and h the ends of any part of the
    interval. For 0 < l <= h the point (t, 1/t) lies in the triangle of (l, 1/l), (h, 1/h) and
    (2lh/(l+h), 2/(l+h)). A form that is affine in each of several such points lies in the hull of its values at
    all combinations of corners.
Proof:
    h is a norm (docs/proofs/intervals.md, part 3), so L + h is convex in u and it is enough to look at corners
    of a hull of all u; there h(u) <= h(c) + sum |u_i - c_i| h(e_i) for a centre c. The largest of these bounds
    over the corners is convex and positively homogeneous in (p, q), where u = p N - q D, so that what is dropped
    as too large is a convex set of ratios: if the far end of what is possible is dropped, so is all between it
    and any other point that is dropped. An infinite end stands for u = -D. The tails used here are upper bounds.

    Both curves are convex: they lie below their chords and above their tangents. The statement about forms by
    induction: with all points but one fixed, an affine image of a hull is the hull of the images.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from jali.mechanisms.intervals.linear_forms import Flags
from jali.mechanisms.moments.moment_sums import Axis, Floats, NoisySums, build_form
from jali.mechanisms.moments.moment_values import bound_variance
from jali.numbers.search import bisect_each


class Corners(NamedTuple):
    """Pairs (t, its square or its inverse): one row per corner, a point of the curve first; a column per group."""

    first: Floats
    second: Floats


def build_square_corners(low: Floats, high: Floats, parts: int) -> Corners:
    """Return corners around (t, t^2), the interval in an even number of equal parts; the middle comes first."""
    nodes = low + (high - low) * np.linspace(0.0, 1.0, parts + 1)[:, None]
    left, right = nodes[:-1], nodes[1:]
    return _put_middle_first(nodes, nodes**2, (left + right) / 2, left * right)


def build_inverse_corners(low: Floats, high: Floats, parts: int) -> Corners:
    """Return corners around (t, 1/t), in an even number of parts of equal ratio; the geometric middle first."""
    nodes = low * (high / low) ** np.linspace(0.0, 1.0, parts + 1)[:, None]
    left, right = nodes[:-1], nodes[1:]
    return _put_middle_first(nodes, 1 / nodes, 2 / (1 / left + 1 / right), 2 / (left + right))


def _put_middle_first(first: Floats, second: Floats, first_meeting: Floats, second_meeting: Floats) -> Corners:
    order = np.roll(np.arange(len(first)), len(first) // 2 + 1)
    return Corners(np.concatenate([first[order], first_meeting]), np.concatenate([second[order], second_meeting]))


def build_end_corners(low: Floats, high: Floats) -> Corners:
    """Return the middle and the two ends, for what is affine in t."""
    first = np.stack([(low + high) / 2, low, high])
    return Corners(first, np.zeros_like(first))


def combine_corners(*factors: Corners) -> tuple[Corners, ...]:
    """Return all combinations of corners, as one list of rows; the combination of the firsts is first."""
    rows = np.indices([len(factor.first) for factor in factors]).reshape(len(factors), -1)
    return tuple(Corners(f.first[row], f.second[row]) for f, row in zip(factors, rows, strict=True))


# Distances down to 2^-50 of the range, found to 0.06 %: an interval need not be sharper than that.
_OCTAVES, _HALVINGS = 50.0, 16
# So many halvings are one step where there is one group.
_AT_ONCE = 4


class RatioInversion:
    """The test, for all groups at once. Forms have the shape (sums, corners, groups); corner 0 is the centre."""

    def __init__(self, reading: NoisySums, above: Floats, below: Floats, allowed: float) -> None:
        above, below = _align_forms(above, below, reading)
        self.above, self.below, self.allowed = reading.value(above), reading.value(below), allowed
        top, bottom, reach = (
            reading.coefficients(above),
            reading.coefficients(below),
            reading.noises.bound_tail(allowed),
        )
        self.top_slack = np.einsum("i,ivg->vg", reach, np.abs(top - top[:, :1]))
        self.bottom_slack = np.einsum("i,ivg->vg", reach, np.abs(bottom - bottom[:, :1]))
        used = [i for i in range(len(top)) if top[i, 0].any() or bottom[i, 0].any()] or [0]
        self.top, self.bottom = top[used, 0], bottom[used, 0]
        self.noises = reading.noises.only(used)

    def interval(
        self, low: Floats | float, high: Floats | float, scale: Floats | float = 1.0
    ) -> tuple[Floats, Floats]:
        """Return the ends of what is not dropped within [low, high]; `scale` is about the size of the ratio."""
        here = np.nan_to_num(self.above[0] / self.below[0])
        return -self._upper(-1.0, -here, np.negative(low), scale), self._upper(1.0, here, high, scale)

    def _upper(self, sign: float, inside: Floats, end: Floats | float, scale: Floats | float) -> Floats:
        """Search among angles, whose tangent is the ratio, since the end of the range may be infinite.

        The distance from the inside is halved on a logarithmic scale. Only angles that were dropped are returned.
        """
        last = np.arctan(np.broadcast_to(end / scale, inside.shape))
        start = np.minimum(np.arctan(inside / scale), last)
        kept_end = ~self._drops(sign, last, scale)
        if len(last) == 1:
            far = self._far(sign, start, last, scale)
        else:
            far, _ = bisect_each(
                lambda octaves: ~self._drops(sign, _interpolate_angle(start, last, octaves), scale),
                np.zeros_like(last),
                np.full_like(last, _OCTAVES),
                steps=_HALVINGS,
            )
        return np.where(kept_end | (far == 0), end, scale * np.tan(_interpolate_angle(start, last, far)))

    def _far(self, sign: float, start: Floats, last: Floats, scale: Floats | float) -> Floats:
        """Find the same for one group, several halvings at a time: what is dropped is at one end."""
        far, width = 0.0, _OCTAVES
        for _ in range(_HALVINGS // _AT_ONCE):
            width /= 1 << _AT_ONCE
            inner = far + width * np.arange(1.0, 1 << _AT_ONCE)
            dropped = self._drops(sign, _interpolate_angle(start, last, inner), scale)
            far += width * int(np.argmin(np.append(dropped, False)))
        return np.array([far])

    def _drops(self, sign: float, angle: Floats, scale: Floats | float) -> Flags:
        """Say where a ratio (of -N to D for the sign -1) is dropped as too large; what overflows is kept."""
        cosine, sine = np.where(angle < math.pi / 2, np.cos(angle), 0.0), scale * np.sin(angle)
        corners = (
            cosine * (sign * self.above + self.top_slack) - sine * self.below + np.abs(sine) * self.bottom_slack
        )
        peak = corners.max(axis=0)
        coefficients = list(cosine * sign * self.top - sine * self.bottom)
        tail = self.noises.tail(coefficients, np.maximum(-peak, 0.0))
        return np.asarray((peak < 0) & (tail <= self.allowed))


def _interpolate_angle(start: Floats, last: Floats, octaves: Floats) -> Floats:
    """Return the angle at 2^-octaves of the way; rounding must not carry it past the last, where tangents jump."""
    return np.minimum(last, start + (last - start) * np.exp2(-octaves))


def _align_forms(above: Floats, below: Floats, reading: NoisySums) -> tuple[Floats, Floats]:
    """Give both forms all corners and all groups."""
    parts = [part.reshape(len(part), *(1,) * (3 - part.ndim), *part.shape[1:]) for part in (above, below)]
    shape = np.broadcast_shapes(*(part.shape for part in parts), (1, 1, reading.sums.shape[1]))
    return np.broadcast_to(parts[0], shape), np.broadcast_to(parts[1], shape)


IntervalEnds: TypeAlias = tuple[Floats, Floats]
# Which part of the allowed misses goes to each fact that is needed on the way. A smaller part makes the facts
# wider, of which the interval feels the square; a larger one widens the test itself.
SIDE = 0.05
# The interval of a mean is cut in so many parts: alone, and beside others.
PARTS, FEW_PARTS = 8, 2


def find_rest(facts: int) -> float:
    """Return what is left of the allowed misses after so many facts on the way."""
    return 1 - facts * SIDE


@dataclass(frozen=True)
class MomentFacts:
    """The noisy sums, the public facts, and how often the interval may miss."""

    reading: NoisySums
    x: Axis
    y: Axis
    allowed: float

    def test(self, above: Floats, below: Floats, share: float = SIDE) -> RatioInversion:
        """Return a test that may miss in this part of what is allowed."""
        return RatioInversion(self.reading, above, below, self.allowed * share)

    def mean_x(self, share: float = SIDE) -> IntervalEnds:
        """Return an interval for the mean of x, from the centre."""
        return self.test(build_form(sx=1.0), build_form(n=1.0), share).interval(self.x.unit_low, self.x.unit_high)

    def mean_y(self, share: float = SIDE) -> IntervalEnds:
        """Return an interval for the mean of y, from the centre."""
        return self.test(build_form(sy=1.0), build_form(n=1.0), share).interval(self.y.unit_low, self.y.unit_high)

    def count(self, share: float = SIDE) -> IntervalEnds:
        """Return an interval for the count."""
        return self.test(build_form(n=1.0), build_form(one=1.0), share).interval(-np.inf, np.inf, self.size)

    def sample(self) -> Floats:
        """Return the most that n/(n-1) can be: one more fact."""
        least = self.count()[0]
        return np.where(least > 1, least / (least - 1), np.inf)

    @property
    def size(self) -> Floats:
        """About the number of rows: the unit in which sums are searched."""
        return np.maximum(1.0, self.reading["n"])


def sum_squares_x(mean: Corners) -> Floats:
    """Return the sum of (x - mean)^2."""
    return build_form(sxx=1.0, sx=-2 * mean.first, n=mean.second)


def sum_squares_y(mean: Corners) -> Floats:
    """Return the sum of (y - mean)^2."""
    return build_form(syy=1.0, sy=-2 * mean.first, n=mean.second)


def sum_products(mean_x: Corners, mean_y: Corners) -> Floats:
    """Return the sum of (x - its mean)(y - its mean)."""
    a, b = mean_x.first, mean_y.first
    return build_form(sxy=1.0, sx=-b, sy=-a, n=a * b)


def bound_variance_within(axis: Axis, mean: IntervalEnds) -> Floats:
    """Return the largest variance with a mean in an interval."""
    return bound_variance(axis, np.clip((axis.unit_low + axis.unit_high) / 2, *mean))
