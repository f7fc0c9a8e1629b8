"""The law of discrete staircase noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.laws.law import Law


@dataclass(frozen=True)
class StaircaseLaw(Law):
    """Mass a exp(-epsilon level(|x|)) on the integers, level(y) = floor(y/period) + [y mod period >= tread].

    Error:
        With b = exp(-epsilon), a = (1-b) / (2 tread + 2 b (period - tread) - (1-b)); tails and moments are
        geometric sums over blocks of `period` integers.

    Example:
        >>> law = StaircaseLaw.best(Fraction(1), 10**6)
        >>> round(law.expected / 10**6, 10)  # exp(1/2) / (e - 1)
        0.9595173757
    """

    epsilon: Fraction
    period: int
    tread: int

    @classmethod
    def best(cls, epsilon: Fraction, period: int) -> StaircaseLaw:
        """Return the law with the tread whose expected error is least."""
        b, s = math.exp(-float(epsilon)), -math.expm1(-float(epsilon))
        inside = b * period**2 - s * s / 4
        # (sqrt(inside) - b period) / s, without the difference of nearly equal numbers.
        excess = (b * period**2 - s / 4) / (math.sqrt(inside) + b * period) if inside > 0 else 0.0
        wanted = excess + 0.5
        nearest = (min(max(1, t), period) for t in (math.floor(wanted), math.floor(wanted) + 1))
        return min((cls(epsilon, period, tread) for tread in nearest), key=lambda law: law.expected)

    @property
    def _ratio(self) -> float:
        return math.exp(-float(self.epsilon))

    @property
    def _fall(self) -> float:
        """1 - exp(-epsilon)."""
        return -math.expm1(-float(self.epsilon))

    @property
    def _block(self) -> float:
        """The weight of one block of `period` integers, the first of them with weight 1."""
        return self.tread + self._ratio * (self.period - self.tread)

    @property
    def _log_top(self) -> float:
        """The logarithm of the mass of 0."""
        return math.log(self._fall) - math.log(2 * self._block - self._fall)

    @property
    def expected(self) -> float:
        """The expectation of |X|."""
        first = self._moment(1)
        later = self.period * self._ratio / self._fall * self._block
        return 2 * math.exp(self._log_top) * (first + later) / self._fall

    @property
    def stddev(self) -> float:
        """The square root of the expectation of X^2: sums over blocks of (k period + i)^2."""
        b, s = self._ratio, self._fall
        squares = self.period**2 * self._block * b * (1 + b) / s**2
        mixed = 2 * self.period * self._moment(1) * b / s
        return math.sqrt(2 * math.exp(self._log_top) * (squares + mixed + self._moment(2)) / s)

    def _moment(self, power: int) -> float:
        """Sum i^power over the first block, with its weights."""
        top, all_places = _power_sum(self.tread, power), _power_sum(self.period, power)
        return float(top) + self._ratio * float(all_places - top)

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]."""
        blocks, place = divmod(abs(value), self.period)
        return self._log_top - float(self.epsilon) * (blocks + (place >= self.tread))

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]: the rest of a block, and all later blocks."""
        if threshold < 0:
            return 1.0
        blocks, place = divmod(threshold + 1, self.period)
        upper, lower = max(0, self.tread - place), self.period - max(place, self.tread)
        weight = upper + self._ratio * lower + self._ratio * self._block / self._fall
        return 2 * math.exp(self._log_top - float(self.epsilon) * blocks) * weight

    @property
    def far(self) -> int:
        """Blocks until e^-40 is left."""
        return self.period * (math.ceil(40 / self.epsilon) + 1)

    def reach(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""
        return self.threshold(left)


def _power_sum(count: int, power: int) -> int:
    """Return 0^power + 1^power + ... + (count-1)^power, for power 1 or 2."""
    return count * (count - 1) // 2 if power == 1 else (count - 1) * count * (2 * count - 1) // 6
