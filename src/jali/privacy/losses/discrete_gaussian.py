"""The loss of discrete Gaussian noise on integers: what the Gaussian mechanism spends on a single number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from jali.numerals import decimal
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.concentrated import Concentrated
from jali.privacy.rationals import Number, positive, positive_integer
from jali.privacy.rounding import float_above

if TYPE_CHECKING:
    from jali.privacy.distribution.spread import Array, Spread

# Above this variance the sum over the law takes long, and its zCDP tells all but the last digits.
_LARGEST_VARIANCE = 10**9
_REACH = 38.5


@dataclass(frozen=True, repr=False)
class DiscreteGaussianLoss(Loss):
    """The loss of adding integer noise with mass proportional to exp(-x^2 / (2 variance)) to one integer, exactly.

    Args:
        variance: The variance parameter of the noise.
        sensitivity: How far neighbours are apart: an integer.

    Guarantee:
        The release is sensitivity^2 / (2 variance)-zCDP (Canonne, Kamath and Steinke 2020, Theorem 4), and
        delta(e) is the sum of p(n) (1 - exp(e - L(n))) over the n whose loss
        L(n) = (sensitivity^2 - 2 n sensitivity) / (2 variance) is above e (the same, Theorem 7).
        For a vector only zCDP holds: the law of its loss depends on the direction of the move.

    Example:
        >>> round(DiscreteGaussianLoss(1).delta(1), 6)
        0.141351
    """

    variance: Fraction
    sensitivity: int

    def __init__(self, variance: Number, sensitivity: int = 1) -> None:
        object.__setattr__(self, "variance", positive(variance, "variance"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"DiscreteGaussianLoss(variance={decimal(self.variance)}, sensitivity={self.sensitivity})"

    @property
    def event(self) -> Event:
        """No pure loss, and sensitivity^2 / (2 variance) in zCDP."""
        return Event(None, Fraction(self.sensitivity**2) / (2 * self.variance))

    def _delta(self, epsilon: float) -> float:
        if self.variance > _LARGEST_VARIANCE:
            return Concentrated(self.event.rho)._delta(epsilon)
        import numpy as np

        losses, masses = _law(self.variance, self.sensitivity)
        over = losses > epsilon
        terms = masses[over] * -np.expm1(epsilon - losses[over])
        return max(float(terms.sum()) * (1 + 1e-12), 5e-324)

    def _renyi(self, order: float) -> float:
        """Return order times rho."""
        return order * float_above(self.event.rho)

    def group(self, size: int) -> DiscreteGaussianLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return DiscreteGaussianLoss(self.variance, self.sensitivity * self._sized(size))

    def spreads(self) -> tuple[Spread, ...]:
        """Return the law of the loss: an atom for each integer; none where there are too many."""
        if self.variance > _LARGEST_VARIANCE:
            return ()
        from jali.privacy.distribution.spread import Spread

        losses, masses = _law(self.variance, self.sensitivity)
        return (Spread(losses, masses, infinite=1e-300, spacing=self.sensitivity / self.variance / 2),)


@lru_cache(maxsize=16)
def _law(variance: Fraction, sensitivity: int) -> tuple[Array, Array]:
    """Return losses and masses of all integers that a double can weigh."""
    import numpy as np

    reach = math.ceil(_REACH * math.sqrt(variance)) + 2
    n = np.arange(-reach, reach + 1 + sensitivity, dtype=float)
    weights = np.exp(-(n**2) / (2 * float(variance)))
    losses = (sensitivity - 2 * n) * float(sensitivity / (2 * variance))
    # Raised by more than the rounding of the product.
    return losses + 1e-15 * np.abs(losses), weights / weights.sum()
