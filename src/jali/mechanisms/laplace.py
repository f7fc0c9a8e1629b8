"""The Laplace mechanism on integers and lattices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.mechanisms.lattice import Lattice, add
from jali.mechanisms.laws import DiscreteLaplaceLaw
from jali.noise import BitSource, DiscreteLaplace
from jali.privacy.loss import Pure
from jali.privacy.rational import Number, positive


@dataclass(frozen=True)
class Laplace:
    """Add integer noise with mass proportional to exp(-|x| epsilon / sensitivity).

    Args:
        sensitivity: How far the values of neighbouring tables are apart in L1 norm, under the adjacency in
            which the loss is meant.
        epsilon: The loss.
        step: The lattice for real values; without it the values must be integers.
        dimension: The number of real values released together (only with `step`).

    Guarantee:
        The release is epsilon-DP for inputs at L1 distance at most `sensitivity`.
    Proof:
        docs/proofs/laplace.md, after Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1.

    Error:
        With q = exp(-epsilon/sensitivity), Pr[|x| > t] = 2 q**(t+1) / (1+q) for each coordinate.

    Example:
        >>> from jali.mechanisms import Laplace
        >>> mechanism = Laplace(sensitivity=1, epsilon=0.1)
        >>> mechanism.error(0.95)
        30
        >>> isinstance(mechanism.release(1000), int)
        True
    """

    sensitivity: Fraction
    epsilon: Fraction
    lattice: Lattice

    def __init__(
        self, *, sensitivity: Number, epsilon: Number, step: Number | None = None, dimension: int = 1
    ) -> None:
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "lattice", Lattice.of(step, dimension))
        DiscreteLaplace(self.scale)  # refuses, before anything is released, a scale that cannot be sampled

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in steps of the lattice."""
        return self.lattice.steps(self.sensitivity) / self.epsilon

    @property
    def law(self) -> DiscreteLaplaceLaw:
        """The exact law of the noise, in steps of the lattice."""
        return DiscreteLaplaceLaw(self.scale)

    def error(self, confidence: float) -> Any:
        """Return the least t with Pr[|noise| <= t] >= confidence, for one coordinate."""
        return self.lattice.real(self.law.quantile(confidence))

    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the value, or array of values, with noise."""
        return self.lattice.real(self.release_integers(self.lattice.integers(value), bits=bits))

    def release_integers(self, values: np.ndarray, *, bits: BitSource | None = None) -> np.ndarray:
        """Add noise to integers that are on the lattice already."""
        noise = DiscreteLaplace(self.scale).sample(values.size, bits=bits)
        return add(values, noise.reshape(values.shape))
