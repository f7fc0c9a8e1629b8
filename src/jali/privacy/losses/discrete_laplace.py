"""The loss of discrete Laplace noise on integers: what the Laplace mechanism of this package really spends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from jali.numerals import decimal
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.laplace import LaplaceLoss
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number, positive, positive_integer
from jali.privacy.rounding import float_above

if TYPE_CHECKING:
    from jali.privacy.distribution.spread import Spread

# A law with more atoms than this is as good as the Laplace law that dominates it, and takes longer.
_MOST_ATOMS = 100_000


@dataclass(frozen=True, repr=False)
class DiscreteLaplaceLoss(Loss):
    """The loss of adding integer noise with mass proportional to exp(-|x|/scale), exactly.

    Args:
        scale: The scale of the noise.
        sensitivity: How far neighbours are apart in L1 norm: an integer.

    Guarantee:
        With E = sensitivity / scale the release is E-DP. The losses are (sensitivity - 2n)/scale for
        n = 0 .. sensitivity, and delta(e) is the difference of two geometric tails. The pair is the pair of
        Laplace laws after rounding, so its profile is below theirs.

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
    def event(self) -> Event:
        """The pure loss."""
        return Pure(self.bound).event

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

    def renyi(self, order: float) -> float:
        """Return the divergence of the Laplace laws, of which these are a rounding."""
        return LaplaceLoss(self.scale, self.sensitivity).renyi(order)

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

    from jali.privacy.distribution.spread import atoms, laplace

    if sensitivity > _MOST_ATOMS:
        return laplace(float_above(sensitivity / scale), sensitivity / scale)
    rate = float(1 / scale)
    steps = np.arange(sensitivity + 1, dtype=np.float64)
    masses = np.exp(-rate * steps) * math.tanh(rate / 2)
    odds = 1 + math.exp(-rate)
    masses[0], masses[-1] = 1 / odds, math.exp(-rate * sensitivity) / odds
    return atoms((sensitivity - 2 * steps) * rate, masses, spacing=1 / scale)
