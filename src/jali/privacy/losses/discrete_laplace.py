"""The loss of discrete Laplace noise on integers: what the Laplace mechanism of this package really spends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from jali.numerals import decimal
from jali.privacy.losses.bounded import Bounded
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number, positive, positive_integer
from jali.privacy.rounding import float_above

if TYPE_CHECKING:
    from jali.privacy.distribution.spread import Spread

# A law with more atoms than this is replaced by the worst law of its epsilon.
_MOST_ATOMS = 2_000_000


@dataclass(frozen=True, repr=False)
class DiscreteLaplaceLoss(Bounded):
    """The loss of adding integer noise with mass proportional to exp(-|x|/scale), exactly.

    Args:
        scale: The scale of the noise.
        sensitivity: How far neighbours are apart in L1 norm: an integer.

    Guarantee:
        With E = sensitivity / scale the release is E-DP. The losses are (sensitivity - 2n)/scale for
        n = 0 .. sensitivity, and delta(e) is the difference of two geometric tails. It is above that of real
        Laplace noise of the same scale: for sensitivity 1 it is randomized response.

    Example:
        >>> loss = DiscreteLaplaceLoss(1)
        >>> round(loss.delta(0), 10), round(loss.epsilon(0), 12)
        (0.4621171573, 1.0)
    """

    scale: Fraction
    sensitivity: int

    def __init__(self, scale: Number, sensitivity: int = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"DiscreteLaplaceLoss(scale={decimal(self.scale)}, sensitivity={self.sensitivity})"

    @property
    def bound(self) -> Fraction:
        """The pure epsilon, exactly."""
        return self.sensitivity / self.scale

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        """Return P(X <= n) - e^epsilon P(X <= n - sensitivity) for the largest n whose loss is above epsilon."""
        if epsilon >= self.bound:
            return 0.0
        last = math.ceil((self.sensitivity - Fraction(epsilon) * self.scale) / 2) - 1
        rate = float(1 / self.scale)
        odds = 1 + math.exp(-rate)
        first = 1 - math.exp(-rate * (last + 1)) / odds
        second = math.exp(epsilon - rate * (self.sensitivity - last)) / odds
        return max(first - second, 0.0) + 1e-15 * (4 + epsilon + rate * self.sensitivity)

    def _epsilon(self, delta: float) -> float:
        return float_above(self.bound) if delta == 0 else super()._epsilon(delta)

    def _renyi(self, order: float) -> float:
        """Return ln of the sum of p^a q^(1-a), a geometric series between the two ends, over a-1."""
        rate, a = float(1 / self.scale), order
        # Everything over e^((a-1) E), the largest ratio.
        middle = _geometric(rate * (2 * a - 1), self.sensitivity - 1) * math.tanh(rate / 2)
        low = math.exp(-rate * self.sensitivity * (2 * a - 1)) / (1 + math.exp(-rate))
        log_sum = math.log(1 / (1 + math.exp(-rate)) + middle + low)
        exact = float_above(self.bound) + log_sum / (a - 1)
        slack = 1e-14 * (float_above(self.bound) + 2 / (a - 1))
        return min(Pure(self.bound)._renyi(order), max(exact, 0.0) + slack)

    def group(self, size: int) -> DiscreteLaplaceLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return DiscreteLaplaceLoss(self.scale, self.sensitivity * self._sized(size))

    def spreads(self) -> tuple[Spread, ...]:
        """Return the law of the loss: sensitivity + 1 atoms."""
        return (_spread(self.scale, self.sensitivity),)

    def attained(self) -> tuple[Spread, ...]:
        """Return the law itself where it has few atoms; otherwise one that loses nothing."""
        from jali.privacy.distribution.spread import atoms

        return self.spreads() if self.sensitivity <= _MOST_ATOMS else (atoms([0.0], [1.0]),)


@lru_cache(maxsize=64)
def _spread(scale: Fraction, sensitivity: int) -> Spread:
    import numpy as np

    from jali.privacy.distribution.spread import atoms, response

    if sensitivity > _MOST_ATOMS:
        return response(float_above(sensitivity / scale), spacing=sensitivity / scale)
    rate = float(1 / scale)
    steps = np.arange(sensitivity + 1, dtype=np.float64)
    masses = np.exp(-rate * steps) * math.tanh(rate / 2)
    odds = 1 + math.exp(-rate)
    masses[0], masses[-1] = 1 / odds, math.exp(-rate * sensitivity) / odds
    return atoms((sensitivity - 2 * steps) * rate, masses, spacing=1 / scale)


def _geometric(rate: float, count: int) -> float:
    """Return the sum of e^(-rate n) over n = 1 .. count."""
    return math.exp(-rate) * math.expm1(-rate * count) / math.expm1(-rate) if count else 0.0
