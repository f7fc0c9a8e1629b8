"""Doubles times powers of two, rounded upwards, with their decaying sums and draws in proportion to them.

Sums, products and exponentials are never below the true ones, and hardly above. Nothing is subtracted, so that
a relative precision lasts however far apart the numbers are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.selection.piecewise_geometric import RandomDigits, bound_products
from jali.sampling.exp_bounds import exp_doubles

_UP = 1 + 2.0**-50  # more than a few roundings take
_NONE = -(1 << 61)  # the power of 0: below all others
_LOST = -4000  # what is shifted so far is 0 in double
_LOG2E = 1.4426950408889634
_LN2 = 0.6931471805599453
_LONGEST = 2.0**50


@dataclass(frozen=True, eq=False)
class ScaledNumbers:
    """Numbers f 2^e, at or above 0.

    Attributes:
        factors: Each f: from 1/2 to below 1, or 0.
        powers: Each e.
    """

    factors: NDArray[np.float64]
    powers: NDArray[np.int64]

    @classmethod
    def of(cls, factors: Any, powers: Any = 0) -> ScaledNumbers:
        """Take doubles at or above 0 times powers of two, as they are."""
        found, more = np.frexp(np.asarray(factors, np.float64))
        return cls(found, np.where(found == 0, _NONE, np.asarray(powers, np.int64) + more))

    @classmethod
    def integers(cls, numbers: NDArray[np.int64]) -> ScaledNumbers:
        """Take integers at or above 0, rounded up."""
        return cls.of(numbers.astype(np.float64) * _UP)

    @classmethod
    def exp(cls, exponent: Fraction) -> ScaledNumbers:
        """Return one number: a bound of e to the power of -exponent, which is at or above 0."""
        low = min(float(bound_products(exponent, np.array([1]))[0]), _LONGEST)
        whole = math.floor(low * _LOG2E)
        part = exp_doubles(np.array(max(0.0, low - whole * _LN2)))
        return cls.of(part * (1 + 2.0**-46), -whole)

    def __len__(self) -> int:
        return len(self.factors)

    def __getitem__(self, place: Any) -> ScaledNumbers:
        return ScaledNumbers(self.factors[place], self.powers[place])

    def __mul__(self, other: ScaledNumbers) -> ScaledNumbers:
        return ScaledNumbers.of(self.factors * other.factors * _UP, self.powers + other.powers)

    def __add__(self, other: ScaledNumbers) -> ScaledNumbers:
        top = np.maximum(self.powers, other.powers)
        return ScaledNumbers.of((self.at(top) + other.at(top)) * _UP, top)

    def at(self, power: Any) -> NDArray[np.float64]:
        """Return the numbers over 2^power, which is not far below their own, as doubles."""
        return np.asarray(np.ldexp(self.factors, np.maximum(self.powers - power, _LOST).astype(np.intc)))

    def join(self, other: ScaledNumbers) -> ScaledNumbers:
        """Return both arrays, one after the other."""
        return ScaledNumbers(
            np.concatenate((self.factors, other.factors)), np.concatenate((self.powers, other.powers))
        )

    def advance(self, places: int) -> ScaledNumbers:
        """Return the array without its first places, with as many zeros at its end."""
        return self[places:].join(build_zeros(min(places, len(self))))

    def delay(self, places: int) -> ScaledNumbers:
        """Return the array without its last places, with as many zeros at its start."""
        return build_zeros(min(places, len(self))).join(self[: max(0, len(self) - places)])

    def sum(self) -> ScaledNumbers:
        """Return the sum of all."""
        top = int(self.powers.max())
        return ScaledNumbers.of(math.fsum(self.at(top).tolist()) * _UP, top)


def build_zeros(count: int) -> ScaledNumbers:
    """Return so many zeros."""
    return ScaledNumbers(np.zeros(count), np.full(count, _NONE))


@dataclass(frozen=True, eq=False)
class DecayingPowers:
    """Bounds of exp(-rate i) for i = 0, 1, ..., each a product over the binary digits of i.

    Attributes:
        rate: A rational above 0.
        count: How many of them.

    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    rate: Fraction
    count: int

    @cached_property
    def steps(self) -> list[ScaledNumbers]:
        """Bounds of exp(-rate 2^k)."""
        return [ScaledNumbers.exp(self.rate * (1 << k)) for k in range(self.count.bit_length())]

    @cached_property
    def powers(self) -> ScaledNumbers:
        """Bounds of exp(-rate i)."""
        found = ScaledNumbers.of(np.ones(1))
        for step in self.steps:
            found = found.join(found * step)
        return found[: self.count]

    def sums(self, masses: ScaledNumbers, length: int) -> ScaledNumbers:
        """Bound, for each place s, the sum of powers[i] masses[s + i] over i below `length`, at most `count`."""
        found, offset = build_zeros(len(masses)), 0
        blocks = self._blocks(masses, length)
        for k in reversed(range(length.bit_length())):
            if length >> k & 1:
                found = found + blocks[k].advance(offset) * self.powers[offset]
                offset += 1 << k
        return found

    def _blocks(self, masses: ScaledNumbers, length: int) -> list[ScaledNumbers]:
        """Bound the same sums of lengths 1, 2, 4, ..., up to `length`."""
        found = [masses]
        for k in range(length.bit_length() - 1):
            found.append(found[-1] + found[-1].advance(1 << k) * self.steps[k])
        return found


_BITS = 62
_ROOM = ScaledNumbers.of(1 + 2.0**-24)


@dataclass(frozen=True, eq=False)
class Lottery:
    """Tickets in proportion to masses, rounded up, out of a whole that is at least their sum.

    Attributes:
        parts: The masses, fewer than 2^30 of them.
        whole: At least `Lottery.room` of a bound of their sum; all of it is between 2^61 and 2^62 tickets.

    Guarantee:
        An outcome has a probability of at least part/whole, and exactly `chance`; without mass it has none.
    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    parts: ScaledNumbers
    whole: ScaledNumbers

    @staticmethod
    def room(total: ScaledNumbers) -> ScaledNumbers:
        """Return a little more than a sum of masses: room for rounding tickets up."""
        return total * _ROOM

    def draw(self, digits: RandomDigits) -> int | None:
        """Return the number of an outcome, None for a blank."""
        place = int(self._sums.searchsorted(digits.below(self._all), "right"))
        return place if place < len(self._sums) else None

    def chance(self, place: int) -> Fraction:
        """Return the probability of an outcome."""
        return Fraction(int(self.tickets[place]), self._all)

    @cached_property
    def tickets(self) -> NDArray[np.int64]:
        """How many tickets each outcome has: at least one, if it has any mass."""
        exact = np.ceil(self.parts.at(self.whole.powers - _BITS))
        return np.maximum(exact, self.parts.factors > 0).astype(np.int64)

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        return np.cumsum(self.tickets)

    @cached_property
    def _all(self) -> int:
        return int(float(self.whole.factors) * 2.0**_BITS)
