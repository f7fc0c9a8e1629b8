"""The recurrence of a Toeplitz matrix with buffers, in rationals, and its inverse in doubles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.mechanisms.workloads.workload import Floats
from jali.numbers.search import greatest_integer
from jali.privacy.rationals import Number
from jali.streams.buffer_parameters import ROUNDED_UP, column_square, read_places, round_up_to_places

# Places after the point of the decays, of the zeros, and of powers of the decays.
DECAY_BITS = 60
_ZERO_BITS = 160
_TINY = 1e-300
POWER_PLACES = 320


@dataclass(frozen=True)
class BufferRecurrence:
    """The matrix with coefficients c_0 = 1 and c_k = sum_j w_j theta_j^(k-1), of d buffers.

    Attributes:
        decays: theta, falling, between 0 and 1.
        weights: w, above 0, with sum_j w_j / theta_j below 1: then all zeros of the generating function lie
            between 0 and 1, and the inverse of the strategy times the running sums has positive coefficients.
    """

    decays: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]

    @property
    def slowness(self) -> Fraction:
        """The sum of 1 / (1 - theta): what roundings of the buffers add up to."""
        return sum((1 / (1 - decay) for decay in self.decays), Fraction(0))

    @property
    def total(self) -> Fraction:
        """The sum of all coefficients, c(1)."""
        return 1 + sum((w / (1 - decay) for w, decay in zip(self.weights, self.decays, strict=True)), Fraction(0))

    def column_square(self, horizon: int, ticks: int, separation: int) -> Fraction:
        """Return the largest squared length of a sum of this many columns so far apart, rounded up.

        Proof:
            docs/proofs/buffered_toeplitz.md, Lemmas 1 and 2.
        """
        found = column_square(
            round_up_to_places(self.decays),
            round_up_to_places(self.weights),
            horizon,
            ticks,
            separation,
            ROUNDED_UP,
        )
        return read_places(found)

    @cached_property
    def zeros(self) -> tuple[Fraction, ...]:
        """The zeros s of 1 + sum_j w_j / (s - theta_j), one below each decay, within 2^-160."""
        ends = (*self.decays[1:], Fraction(0))
        return tuple(self._zero_between(low, high) for low, high in zip(ends, self.decays, strict=True))

    @cached_property
    def residues(self) -> Floats:
        """A_0 .. A_d of 1/((1-x) c(x)) = A_0/(1-x) + sum_j A_j/(1 - zero_j x): positive, with the sum 1."""
        return np.array([float(1 / self.total), *(self._residue(j) for j in range(len(self.zeros)))])

    def poles(self) -> Floats:
        """Return 1 and the zeros, as doubles."""
        return np.array([1.0, *map(float, self.zeros)])

    def powers(self, count: int) -> list[list[int]]:
        """Return theta_j^k for k < count in units of 2^-320, rounded down at every step: a row for each buffer."""
        return [_powers(decay, count) for decay in self.decays]

    def coefficients(self, count: int) -> list[int]:
        """Return c_0 .. c_(count-1) in units of 2^-320, a few units too small."""
        rows = [
            [int(w * power) for power in row] for w, row in zip(self.weights, self.powers(count - 1), strict=True)
        ]
        return [1 << POWER_PLACES, *map(sum, zip(*rows, strict=True))]

    def inverse(self, count: int) -> Floats:
        """Return b_0 .. b_(count-1), the coefficients of 1/((1-x) c(x))."""
        places = np.arange(count)[:, None]
        logarithms = np.array([_log(zero) for zero in self.zeros])
        return np.asarray(self.residues[0] + np.exp(places * logarithms) @ self.residues[1:])

    def _zero_between(self, low: Fraction, high: Fraction) -> Fraction:
        """Bisect: sum_j w_j / (theta_j - s) grows with s between two decays, from below 1 to above 1."""
        unit = 1 << _ZERO_BITS
        decays, weights = ([int(x * unit) for x in row] for row in (self.decays, self.weights))

        def below(s: int) -> bool:
            return sum(w * unit // (decay - s) for w, decay in zip(weights, decays, strict=True)) < unit

        return Fraction(greatest_integer(below, int(low * unit), int(high * unit)), unit)

    def _residue(self, which: int) -> float:
        zero = self.zeros[which]
        others = [other for place, other in enumerate(self.zeros) if place != which]
        above_it = math.prod((zero - decay for decay in self.decays), start=Fraction(1))
        return float(above_it / ((zero - 1) * math.prod((zero - other for other in others), start=Fraction(1))))


def read_decays(values: tuple[Number, ...], buffers: int) -> tuple[Fraction, ...]:
    """Read decays, rounded down to 2^-60: as many as there are buffers, falling, between 0 and 1."""
    found = _read_rounded_down(values, buffers, "decays", DECAY_BITS)
    if not all(1 > left > right for left, right in zip(found, (*found[1:], Fraction(0)), strict=True)):
        raise MechanismError("decays-out-of-range")
    return found


def read_weights(values: tuple[Number, ...], decays: tuple[Fraction, ...], places: int) -> tuple[Fraction, ...]:
    """Read weights, rounded down to this many binary places: above 0, and small enough for the decays."""
    found = _read_rounded_down(values, len(decays), "weights", places)
    shares = sum((w / decay for w, decay in zip(found, decays, strict=True)), Fraction(0))
    if not (min(found) > 0 and shares < 1):
        raise MechanismError("weights-out-of-range")
    return found


def _read_rounded_down(values: tuple[Number, ...], buffers: int, name: str, places: int) -> tuple[Fraction, ...]:
    if not isinstance(values, tuple | list) or len(values) != buffers:
        raise MechanismError("buffer-numbers-wrong", name=name, buffers=buffers, values=values)
    return tuple(Fraction(int(read_parameter(value, name) * (1 << places)), 1 << places) for value in values)


def _powers(ratio: Fraction, count: int) -> list[int]:
    steps = accumulate(
        range(1, count), lambda power, _: power * ratio.numerator // ratio.denominator, initial=1 << POWER_PLACES
    )
    return list(steps)[:count]


def _log(zero: Fraction) -> float:
    """Return the logarithm of a number between 0 and 1, to full precision also near 1, and of tiny ones too."""
    return math.log1p(-float(1 - zero)) if zero > Fraction(1, 2) else math.log(max(float(zero), _TINY))
