"""The Gaussian mechanism on integers and lattices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.mechanisms.lattice import Lattice, add
from jali.mechanisms.laws import DiscreteGaussianLaw
from jali.noise import BitSource, DiscreteGaussian
from jali.privacy.loss import Concentrated
from jali.privacy.rational import Number, positive


@dataclass(frozen=True)
class Gaussian:
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
        squared = lattice.squared_steps(positive(sensitivity, "sensitivity"))
        self._fill(squared, positive(rho, "rho"), lattice)

    @classmethod
    def squared(cls, *, squared_sensitivity: Fraction, rho: Fraction) -> Gaussian:
        """Make the mechanism for integers from the square of a sensitivity that may be irrational."""
        mechanism = object.__new__(cls)
        mechanism._fill(positive(squared_sensitivity, "squared_sensitivity"), positive(rho, "rho"), Lattice())
        return mechanism

    def _fill(self, squared_sensitivity: Fraction, rho: Fraction, lattice: Lattice) -> None:
        object.__setattr__(self, "squared_sensitivity", squared_sensitivity)
        object.__setattr__(self, "rho", rho)
        object.__setattr__(self, "lattice", lattice)
        DiscreteGaussian(self.variance)  # refuses, before anything is released, what cannot be sampled

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

    def error(self, confidence: float) -> Any:
        """Return the least t with Pr[|noise| <= t] >= confidence, for one coordinate."""
        return self.lattice.real(self.law.quantile(confidence))

    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the value, or array of values, with noise."""
        return self.lattice.real(self.release_integers(self.lattice.integers(value), bits=bits))

    def release_integers(self, values: np.ndarray, *, bits: BitSource | None = None) -> np.ndarray:
        """Add noise to integers that are on the lattice already."""
        noise = DiscreteGaussian(self.variance).sample(values.size, bits=bits)
        return add(values, noise.reshape(values.shape))
