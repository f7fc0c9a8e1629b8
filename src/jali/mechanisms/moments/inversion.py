"""Intervals for a ratio of linear forms that contain numbers known to intervals only, by inverting a test.

Statement:
    Let r be the true ratio of N(t) to D(t) at the true t, both forms in the exact sums. With u = N(t) - r D(t),
    the noisy value of u is its noise, which exceeds h(u) in size with probability at most 1 - confidence. A
    number is dropped as too large if L(u) + h(u) <= 0 for every t that is possible, L the noisy value; as too
    small if L(u) - h(u) >= 0. The true r is dropped with at most that probability, plus that of a t outside
    what was taken for possible.
Proof:
    h is a norm (docs/proofs/intervals.md, part 3), so L + h is convex in u and it is enough to look at corners
    of a hull of all u; there h(u) <= h(c) + sum |u_i - c_i| h(e_i) for a centre c. The largest of these bounds
    over the corners is convex and positively homogeneous in (p, q), where u = p N - q D, so that what is dropped
    as too large is a convex set of ratios: if the far end of what is possible is dropped, so is all between it
    and any other point that is dropped. An infinite end stands for u = -D. The tails used here are upper bounds.
"""

from __future__ import annotations

import math

import numpy as np

from jali.mechanisms.combined import Flags
from jali.mechanisms.moments.sums import Floats, Reading
from jali.numbers.search import bisect_each

# Distances down to 2^-50 of the range, found to 0.06 %: an interval need not be sharper than that.
_OCTAVES, _HALVINGS = 50.0, 16
# So many halvings are one step where there is one group.
_AT_ONCE = 4


class Inversion:
    """The test, for all groups at once. Forms have the shape (sums, corners, groups); corner 0 is the centre."""

    def __init__(self, reading: Reading, above: Floats, below: Floats, allowed: float) -> None:
        above, below = _alike(above, below, reading)
        self.above, self.below, self.allowed = reading.value(above), reading.value(below), allowed
        top, bottom, reach = (
            reading.coefficients(above),
            reading.coefficients(below),
            reading.noises.reach(allowed),
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
                lambda octaves: ~self._drops(sign, _between(start, last, octaves), scale),
                np.zeros_like(last),
                np.full_like(last, _OCTAVES),
                steps=_HALVINGS,
            )
        return np.where(kept_end | (far == 0), end, scale * np.tan(_between(start, last, far)))

    def _far(self, sign: float, start: Floats, last: Floats, scale: Floats | float) -> Floats:
        """Find the same for one group, several halvings at a time: what is dropped is at one end."""
        far, width = 0.0, _OCTAVES
        for _ in range(_HALVINGS // _AT_ONCE):
            width /= 1 << _AT_ONCE
            inner = far + width * np.arange(1.0, 1 << _AT_ONCE)
            dropped = self._drops(sign, _between(start, last, inner), scale)
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


def _between(start: Floats, last: Floats, octaves: Floats) -> Floats:
    """Return the angle at 2^-octaves of the way; rounding must not carry it past the last, where tangents jump."""
    return np.minimum(last, start + (last - start) * np.exp2(-octaves))


def _alike(above: Floats, below: Floats, reading: Reading) -> tuple[Floats, Floats]:
    """Give both forms all corners and all groups."""
    parts = [part.reshape(len(part), *(1,) * (3 - part.ndim), *part.shape[1:]) for part in (above, below)]
    shape = np.broadcast_shapes(*(part.shape for part in parts), (1, 1, reading.sums.shape[1]))
    return np.broadcast_to(parts[0], shape), np.broadcast_to(parts[1], shape)
