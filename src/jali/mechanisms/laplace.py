"""The Laplace mechanism on integers and lattices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.additive import Additive
from jali.mechanisms.lattice import Lattice, parameter
from jali.mechanisms.laws import DiscreteLaplaceLaw
from jali.noise import DiscreteLaplace
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number


@dataclass(frozen=True)
class Laplace(Additive):
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
        object.__setattr__(self, "sensitivity", parameter(sensitivity, "sensitivity"))
        object.__setattr__(self, "epsilon", parameter(epsilon, "epsilon"))
        object.__setattr__(self, "lattice", Lattice.of(step, dimension))
        self.sampler  # noqa: B018 - refuses, before anything is released, a scale that cannot be sampled

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

    @property
    def sampler(self) -> DiscreteLaplace:
        """The exact sampler of that law."""
        return DiscreteLaplace(self.scale)
