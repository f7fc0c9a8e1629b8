"""The Laplace mechanism for counts in a public range."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.base import LogMasses, Mechanism, Specimen, read_natural, read_parameter
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import BitSource


@dataclass(frozen=True, repr=False)
class ClampedLaplace(Mechanism):
    """Add discrete Laplace noise to a count, and clamp the sum to 0 .. most.

    Args:
        sensitivity: How far the counts of neighbouring tables are apart.
        epsilon: The loss.
        most: The largest count, a public fact.

    Guarantee:
        The release is epsilon-DP for counts at distance at most `sensitivity`.
    Proof:
        docs/proofs/clamped_laplace.md, after Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1.

    Error:
        At most that of the noise: clamping moves no output away from a count in the range.

    Example:
        >>> from jali.mechanisms import ClampedLaplace
        >>> 0 <= ClampedLaplace(sensitivity=1, epsilon=0.1, most=9).release(8) <= 9
        True
    """

    error_is_exact: ClassVar[bool] = False

    sensitivity: Fraction
    epsilon: Fraction
    most: int

    def __init__(self, *, sensitivity: Number, epsilon: Number, most: int) -> None:
        self._fill(sensitivity=read_parameter(sensitivity, "sensitivity"))
        self._fill(epsilon=read_parameter(epsilon, "epsilon"), most=read_natural(most, "most"))

    @property
    def noise(self) -> Laplace:
        """The mechanism that this one clamps."""
        return Laplace(sensitivity=self.sensitivity, epsilon=self.epsilon)

    @property
    def loss(self) -> Pure:
        """Epsilon: clamping is post-processing."""
        return self.noise.loss

    def error(self, confidence: float) -> int:
        """Return a t with Pr[|output - count| <= t] >= confidence."""
        return min(self.most, int(self.noise.error(confidence)))

    def release(self, value: int, *, bits: BitSource | None = None) -> int:
        """Return the noisy count, in the range."""
        count = self.noise.lattice.integers(value)  # refuses what is no integer, by its type
        return self._clamped(self.noise.release(self._clamped(count), bits=bits))

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of the noise, its tails gathered at the two ends."""
        masses: dict[int, float] = defaultdict(float)
        for output, log_mass in self.noise.log_masses(self._clamped(value)).items():
            masses[self._clamped(output)] += math.exp(log_mass)
        return {output: math.log(mass) for output, mass in masses.items()}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return counts at one end and in the middle."""
        case = cls(sensitivity=1, epsilon="7/10", most=6)
        return (Specimen(case, Adjacency.ADD_REMOVE, ((3, 4), (0, 1))),)

    def _clamped(self, value: Any) -> int:
        return min(max(int(value), 0), self.most)
