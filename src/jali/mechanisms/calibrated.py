"""Noise of one law, calibrated to a distance: Laplace for epsilon, Gaussian for rho."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

from jali.errors import MechanismError
from jali.mechanisms.combined import AnyLaw
from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.mechanism import Mechanism, parameter
from jali.noise import DiscreteGaussian, DiscreteLaplace
from jali.privacy.losses.concentrated import Concentrated
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number


class Calibrated(Mechanism):
    """Integer measurements, each with independent noise of one law: that of the loss and the distance."""

    epsilon: Fraction | None
    rho: Fraction | None

    @property
    @abstractmethod
    def distance(self) -> tuple[Fraction, Fraction]:
        """How far the measurements of neighbours are apart: in L1 norm, and squared in L2 norm."""

    @property
    def loss(self) -> Pure | Concentrated:
        """Epsilon, pure, or rho in zCDP: of everything that is released together."""
        return Pure(self.epsilon) if self.epsilon is not None else Concentrated(self.rho or 0)

    @cached_property
    def law(self) -> AnyLaw:
        """The exact law of each noise."""
        if self.epsilon is not None:
            return DiscreteLaplaceLaw(self.distance[0] / self.epsilon)
        return DiscreteGaussianLaw(self.distance[1] / (2 * (self.rho or Fraction(1))))

    @cached_property
    def sampler(self) -> DiscreteLaplace | DiscreteGaussian:
        """The exact sampler of that law."""
        law = self.law
        return (
            DiscreteLaplace(law.scale) if isinstance(law, DiscreteLaplaceLaw) else DiscreteGaussian(law.variance)
        )

    def _read_loss(self, epsilon: Number | None, rho: Number | None) -> None:
        self._fill(epsilon=None, rho=None)
        if (epsilon is None) == (rho is None):
            raise MechanismError("epsilon-or-rho")
        if epsilon is not None:
            self._fill(epsilon=parameter(epsilon, "epsilon"))
        else:
            self._fill(rho=parameter(rho, "rho"))  # type: ignore[arg-type]
