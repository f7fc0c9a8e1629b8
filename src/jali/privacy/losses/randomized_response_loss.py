"""The loss of randomized response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from jali.errors import CatalogError
from jali.numbers.exact import decimal_above
from jali.numbers.rounding import float_above, ln_above, round_up
from jali.privacy.loss import Loss
from jali.privacy.losses.pure_loss import BoundedLoss, response_renyi
from jali.privacy.rationals import Number, positive, positive_integer, rational

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


@dataclass(frozen=True, repr=False)
class RandomizedResponseLoss(BoundedLoss):
    """The loss of answering truthfully with odds e^epsilon against each other category (Warner 1965).

    Args:
        epsilon: The loss.
        categories: How many answers there are.

    Guarantee:
        epsilon-DP; the losses of the answers are epsilon, -epsilon and 0, and
        delta(e) = (exp(epsilon) - exp(e)) / (exp(epsilon) + categories - 1).

    Example:
        >>> almost_random = RandomizedResponseLoss.from_truth("3/4")
        >>> round(almost_random.epsilon(0), 12) == round(math.log(3), 12)
        True
    """

    bound: Fraction
    categories: int

    def __init__(self, epsilon: Number, categories: int = 2) -> None:
        object.__setattr__(self, "bound", positive(epsilon, "epsilon"))
        object.__setattr__(self, "categories", positive_integer(categories, "categories"))
        if self.categories < 2:
            raise CatalogError("categories-too-few", categories=categories)

    @classmethod
    def from_truth(cls, probability: Number, categories: int = 2) -> RandomizedResponseLoss:
        """Return the loss of answering truthfully with this probability, else uniformly another category."""
        truth = rational(probability, "probability")
        others = positive_integer(categories, "categories") - 1
        if not Fraction(1, others + 1) < truth < 1:
            raise CatalogError("response-probability-out-of-range", probability=probability)
        return cls(ln_above(truth * others / (1 - truth)), categories)

    def __repr__(self) -> str:
        return f"RandomizedResponseLoss({decimal_above(self.bound)}, categories={self.categories})"

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        bound = float_above(self.bound)
        if epsilon >= self.bound:
            return 0.0
        return round_up(-math.expm1(epsilon - bound) / (1 + (self.categories - 1) * math.exp(-bound)))

    def _epsilon(self, delta: float) -> float:
        return float_above(self.bound) if delta == 0 else super()._epsilon(delta)

    def _renyi(self, order: float) -> float:
        """Return the divergence of two categories, which bounds that of more."""
        return response_renyi(float_above(self.bound), order)

    def group(self, size: int) -> Loss:
        """Return the loss of a group: each of its people answers once, so their losses compose."""
        from jali.privacy.composition.compose import compose

        people = self._check_size(size)
        return self if people == 1 else compose((self, people))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of the loss: epsilon, 0 or -epsilon."""
        from jali.privacy.pld.loss_distribution import atoms

        bound, others = float_above(self.bound), self.categories - 1
        truth = 1 / (1 + others * math.exp(-bound))
        lie = math.exp(-bound) * truth
        return (atoms([-bound, 0.0, bound], [lie, (others - 1) * lie, truth], spacing=self.bound),)
