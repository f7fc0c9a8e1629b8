"""The law of discrete Laplace noise that is cut off, and where to cut it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

from jali.mechanisms.laws.law import Law
from jali.noise.bounds import exp_bounds
from jali.numbers.search import bracket, least_integer

# Differences of nearly equal exponentials cost digits: these are enough for scales and limits up to 2^70.
_DIGITS = 120


@dataclass(frozen=True)
class TruncatedLaplaceLaw(Law):
    """Mass proportional to exp(-|x|/scale) on -limit .. limit.

    Error:
        With q = exp(-1/scale), Pr[|X| > t] = 2 (q^(t+1) - q^(limit+1)) / (1 + q - 2 q^(limit+1)).

    Example:
        >>> law = TruncatedLaplaceLaw(Fraction(1), 1)
        >>> round(law.tail(0), 10)  # 2q / (1 + 2q)
        0.4238831152
    """

    scale: Fraction
    limit: int

    @cached_property
    def expected(self) -> float:
        """The expectation of |X|: the sum of the tails."""
        with localcontext(Context(prec=_DIGITS)):
            q, end = self._power(1), self._power(self.limit + 1)
            return float(2 * ((q - end) / (1 - q) - self.limit * end) / self._total)

    @cached_property
    def stddev(self) -> float:
        """The square root of the expectation of X^2: the sum of (2t+1) Pr[|X| > t]."""
        with localcontext(Context(prec=_DIGITS)):
            q, end = self._power(1), self._power(self.limit + 1)
            geometric = (q - end) / (1 - q)
            weighted = (q * q - self.limit * end + (self.limit - 1) * end * q) / (1 - q) ** 2
            return float((2 * (geometric + 2 * weighted - self.limit**2 * end) / self._total).sqrt())

    def _power(self, exponent: int) -> Decimal:
        return (-Decimal(exponent * self.scale.denominator) / Decimal(self.scale.numerator)).exp()

    @property
    def _total(self) -> Decimal:
        """1 + q - 2 q^(limit+1): the sum of the weights times 1 - q."""
        return 1 + self._power(1) - 2 * self._power(self.limit + 1)

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]: minus infinity beyond the limit."""
        return self._log_top - abs(value) / float(self.scale) if abs(value) <= self.limit else -math.inf

    @cached_property
    def _log_top(self) -> float:
        with localcontext(Context(prec=_DIGITS)):
            return float(((1 - self._power(1)) / self._total).ln())

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        beyond = self.limit - threshold
        if beyond <= 0:
            return 0.0
        rate = float(1 / self.scale)
        return self._twice_over_total * math.exp(-rate * (threshold + 1)) * -math.expm1(-rate * beyond)

    @cached_property
    def _twice_over_total(self) -> float:
        with localcontext(Context(prec=_DIGITS)):
            return float(2 / self._total)

    @property
    def far(self) -> int:
        """The limit."""
        return self.limit

    def reach(self, left: float) -> int:  # noqa: ARG002 - nothing is left beyond the limit
        """Return the limit."""
        return self.limit


def least_limit(epsilon: Fraction, delta: Fraction, period: int) -> int:
    """Return the least limit, at least period - 1, at which the last `period` integers weigh at most delta.

    Proof:
        docs/proofs/truncated_laplace.md: with q = exp(-epsilon/period) and b = exp(-epsilon), it is so if
        q^(limit+1-period) (1 - (1 - 2 delta) b) <= delta (1+q), which rigorous bounds decide.
    """

    def light(limit: int) -> bool:
        return _light(epsilon, delta, period, limit)

    return least_integer(light, *bracket(light, period - 2, 2 * period))


def _light(epsilon: Fraction, delta: Fraction, period: int, limit: int) -> bool:
    """Tell whether the last `period` integers of the support weigh at most delta, exactly."""
    precision = 128
    while True:
        sides = _sides(epsilon, delta, period, limit, precision)
        if sides[0][1] <= sides[1][0]:
            return True
        if sides[0][0] > sides[1][1]:
            return False
        precision *= 2


def _sides(
    epsilon: Fraction, delta: Fraction, period: int, limit: int, precision: int
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Bound both sides of the inequality, from below and from above: not divided by b, they would be tiny."""
    power, whole, single = (
        [Fraction(bound, 1 << precision) for bound in exp_bounds(exponent, precision)]
        for exponent in (epsilon * (limit + 1 - period) / period, epsilon, epsilon / period)
    )
    falls = sorted(1 - (1 - 2 * delta) * bound for bound in whole)
    left = power[0] * falls[0], power[1] * falls[1]
    right = delta * (1 + single[0]), delta * (1 + single[1])
    return left, right
