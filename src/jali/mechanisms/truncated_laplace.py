"""The truncated Laplace mechanism on integers and lattices: an error that is bounded for certain."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from jali.errors import MechanismError
from jali.mechanisms.additive import OneNumber
from jali.mechanisms.lattice import refuse_below_one_step, step_of
from jali.mechanisms.laws.truncated_laplace import TruncatedLaplaceLaw, least_limit
from jali.mechanisms.mechanism import Specimen, parameter
from jali.mechanisms.sensitivity import Sensitivity, l1_distance
from jali.noise import truncated_laplace
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.approximate import Approximate
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class TruncatedLaplace(OneNumber):
    """Add integer noise with mass proportional to exp(-|x| epsilon / sensitivity) on a bounded interval.

    No release is ever further off than `limit`: that bound holds for certain, the one of `error` at a confidence.

    Args:
        sensitivity: How far the values of neighbouring tables are apart, under the adjacency in which the loss is
            meant; at least 1 for integers.
        epsilon: The loss, except with probability delta.
        delta: That probability, below 1/2; the smaller it is, the wider is the interval.
        step: The lattice for real values; without it the value must be an integer.

    Guarantee:
        The release is (epsilon, delta)-DP for inputs at distance at most `sensitivity`, and never further off
        than `limit`. With the noise left as it is, epsilon grows in proportion to the sensitivity, and delta too
        as long as it is small: delta is the mass of the last `sensitivity` integers of the interval.
    Proof:
        docs/proofs/truncated_laplace.md, after Geng, Ding, Guo and Kumar 2020, Theorem 1.

    Error:
        With q = exp(-epsilon/sensitivity) and A the limit in steps,
        Pr[|x| > t] = 2 (q**(t+1) - q**(A+1)) / (1 + q - 2 q**(A+1)).

    Example:
        >>> from jali.mechanisms import TruncatedLaplace
        >>> mechanism = TruncatedLaplace(sensitivity=1, epsilon=1, delta=1e-6)
        >>> mechanism.limit, mechanism.error(0.95)
        (14, 3)
    """

    loss_power: ClassVar[int | None] = None

    sensitivity: Fraction
    epsilon: Fraction
    delta: Fraction
    step: Fraction | None

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        delta: Number,
        step: Number | None = None,
    ) -> None:
        self._fill(sensitivity=l1_distance(sensitivity), epsilon=parameter(epsilon, "epsilon"))
        self._fill(delta=parameter(delta, "delta"), step=step_of(step))
        if self.delta >= Fraction(1, 2):
            raise MechanismError("delta-not-below-half", delta=delta)
        refuse_below_one_step(self.sensitivity, self.step)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def loss(self) -> Approximate:
        """Epsilon and delta."""
        return Approximate(self.epsilon, self.delta)

    @property
    def limit(self) -> Any:
        """How far off a release can be at most."""
        return self.lattice.real(self.law.limit)

    @cached_property
    def law(self) -> TruncatedLaplaceLaw:
        """The exact law of the noise, in steps of the lattice."""
        period = self.lattice.whole_steps(self.sensitivity)
        return TruncatedLaplaceLaw(period / self.epsilon, least_limit(self.epsilon, self.delta, period))

    @cached_property
    def sampler(self) -> truncated_laplace.TruncatedLaplace:
        """The exact sampler of that law."""
        return truncated_laplace.TruncatedLaplace(self.law.scale, self.law.limit)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return integers at several losses and sensitivities, and a real number on a lattice."""
        return (
            *(_one("1", delta, distance) for delta in ("1e-6", "1/10") for distance in (1, 5)),
            _one("1/2", "1/5", 3),
            _one("3", "1e-9", 2),
            Specimen(
                cls(sensitivity=1, epsilon=1, delta="1e-4", step="1/4"), Adjacency.REPLACE_ONE, ((0.12, 1.12),)
            ),
        )


def _one(epsilon: str, delta: str, distance: int) -> Specimen:
    mechanism = TruncatedLaplace(sensitivity=distance, epsilon=epsilon, delta=delta)
    return Specimen(mechanism, Adjacency.ADD_REMOVE, ((0, distance), (distance, 0), (-distance, 0)))
