"""The Gaussian mechanism on integers and lattices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.additive import Additive
from jali.mechanisms.lattice import Lattice, parameter
from jali.mechanisms.laws import DiscreteGaussianLaw
from jali.noise import DiscreteGaussian
from jali.privacy.losses.concentrated import Concentrated
from jali.privacy.rationals import Number


@dataclass(frozen=True)
class Gaussian(Additive):
    """Add integer noise with mass proportional to exp(-x^2 rho / sensitivity^2).

    Args:
        sensitivity: How far the values of neighbouring tables are apart in L2 norm, under the adjacency in
            which the loss is meant.
        rho: The loss, in zCDP.
        step: The lattice for real values; without it the values must be integers.
        dimension: The number of real values released together (only with `step`).

    Guarantee:
        The release is rho-zCDP for inputs at L2 distance at most `sensitivity`.
    Proof:
        docs/proofs/gaussian.md, after Canonne, Kamath and Steinke 2020, Theorem 14.

    Error:
        The exact tail of the discrete Gaussian with variance sensitivity^2 / (2 rho), for each coordinate.

    Example:
        >>> from jali.mechanisms import Gaussian
        >>> mechanism = Gaussian(sensitivity=1, rho=0.005)
        >>> mechanism.error(0.95)
        20
        >>> isinstance(mechanism.release(1000), int)
        True
    """

    squared_sensitivity: Fraction
    rho: Fraction
    lattice: Lattice

    def __init__(
        self, *, sensitivity: Number, rho: Number, step: Number | None = None, dimension: int = 1
    ) -> None:
        lattice = Lattice.of(step, dimension)
        squared = lattice.squared_steps(parameter(sensitivity, "sensitivity"))
        self._fill(squared, parameter(rho, "rho"), lattice)

    @classmethod
    def squared(cls, *, squared_sensitivity: Fraction, rho: Fraction) -> Gaussian:
        """Make the mechanism for integers from the square of a sensitivity that may be irrational."""
        mechanism = object.__new__(cls)
        mechanism._fill(parameter(squared_sensitivity, "squared_sensitivity"), parameter(rho, "rho"), Lattice())
        return mechanism

    def _fill(self, squared_sensitivity: Fraction, rho: Fraction, lattice: Lattice) -> None:
        object.__setattr__(self, "squared_sensitivity", squared_sensitivity)
        object.__setattr__(self, "rho", rho)
        object.__setattr__(self, "lattice", lattice)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def loss(self) -> Concentrated:
        """Rho, in zCDP."""
        return Concentrated(self.rho)

    @property
    def variance(self) -> Fraction:
        """The variance parameter of the noise, in squared steps of the lattice."""
        return self.squared_sensitivity / (2 * self.rho)

    @property
    def law(self) -> DiscreteGaussianLaw:
        """The exact law of the noise, in steps of the lattice."""
        return DiscreteGaussianLaw(self.variance)

    @property
    def sampler(self) -> DiscreteGaussian:
        """The exact sampler of that law."""
        return DiscreteGaussian(self.variance)
