"""The truncated Laplace mechanism on integers and lattices, whose error is bounded with certainty, and its law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import ScalarNoise
from jali.mechanisms.additive.noise_laws import NoiseLaw
from jali.mechanisms.base import ApproximateMechanism, Specimen, read_parameter
from jali.mechanisms.global_sensitivity import Sensitivity, read_l1_distance
from jali.mechanisms.lattice import read_step, refuse_below_one_step
from jali.numbers.search import bracket, least_integer
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import discrete_laplace
from jali.sampling.exp_bounds import exp_bounds

# Differences of nearly equal exponentials cost digits: these are enough for scales and limits up to 2^70.
_DIGITS = 120


@dataclass(frozen=True)
class TruncatedLaplaceLaw(NoiseLaw):
    """Mass proportional to exp(-|x|/scale) on -limit .. limit.

    Error:
        With q = exp(-1/scale), Pr[|X| > t] = 2 (q^(t+1) - q^(limit+1)) / (1 + q - 2 q^(limit+1)).

    Example:
        >>> law = TruncatedLaplaceLaw(Fraction(1), 1)
        >>> round(law.tail(0), 10)  # 2q / (1 + 2q)
        0.4238831152
    """

    scale: Fraction
    limit: int

    @cached_property
    def mean_magnitude(self) -> float:
        """The expectation of |X|: the sum of the tails."""
        with localcontext(Context(prec=_DIGITS)):
            q, end = self._power(1), self._power(self.limit + 1)
            return float(2 * ((q - end) / (1 - q) - self.limit * end) / self._total)

    @cached_property
    def stddev(self) -> float:
        """The square root of the expectation of X^2: the sum of (2t+1) Pr[|X| > t]."""
        with localcontext(Context(prec=_DIGITS)):
            q, end = self._power(1), self._power(self.limit + 1)
            geometric = (q - end) / (1 - q)
            weighted = (q * q - self.limit * end + (self.limit - 1) * end * q) / (1 - q) ** 2
            return float((2 * (geometric + 2 * weighted - self.limit**2 * end) / self._total).sqrt())

    def _power(self, exponent: int) -> Decimal:
        return (-Decimal(exponent * self.scale.denominator) / Decimal(self.scale.numerator)).exp()

    @property
    def _total(self) -> Decimal:
        """1 + q - 2 q^(limit+1): the sum of the weights times 1 - q."""
        return 1 + self._power(1) - 2 * self._power(self.limit + 1)

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]: minus infinity beyond the limit."""
        return self._log_top - abs(value) / float(self.scale) if abs(value) <= self.limit else -math.inf

    @cached_property
    def _log_top(self) -> float:
        with localcontext(Context(prec=_DIGITS)):
            return float(((1 - self._power(1)) / self._total).ln())

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        beyond = self.limit - threshold
        if beyond <= 0:
            return 0.0
        rate = float(1 / self.scale)
        return self._twice_over_total * math.exp(-rate * (threshold + 1)) * -math.expm1(-rate * beyond)

    @cached_property
    def _twice_over_total(self) -> float:
        with localcontext(Context(prec=_DIGITS)):
            return float(2 / self._total)

    @property
    def far(self) -> int:
        """The limit."""
        return self.limit

    def bound_tail(self, left: float) -> int:  # noqa: ARG002 - nothing is left beyond the limit
        """Return the limit."""
        return self.limit


def find_least_limit(epsilon: Fraction, delta: Fraction, period: int) -> int:
    """Return the least limit, at least period - 1, at which the last `period` integers weigh at most delta.

    Proof:
        docs/proofs/truncated_laplace.md: with q = exp(-epsilon/period) and b = exp(-epsilon), it is so if
        q^(limit+1-period) (1 - (1 - 2 delta) b) <= delta (1+q), which rigorous bounds decide.
    """

    def light(limit: int) -> bool:
        return _is_light(epsilon, delta, period, limit)

    return least_integer(light, *bracket(light, period - 2, 2 * period))


def _is_light(epsilon: Fraction, delta: Fraction, period: int, limit: int) -> bool:
    """Return whether the last `period` integers of the support weigh at most delta, exactly."""
    precision = 128
    while True:
        sides = _bound_sides(epsilon, delta, period, limit, precision)
        if sides[0][1] <= sides[1][0]:
            return True
        if sides[0][0] > sides[1][1]:
            return False
        precision *= 2


def _bound_sides(
    epsilon: Fraction, delta: Fraction, period: int, limit: int, precision: int
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Bound both sides of the inequality, from below and from above: not divided by b, they would be tiny."""
    power, whole, single = (
        [Fraction(bound, 1 << precision) for bound in exp_bounds(exponent, precision)]
        for exponent in (epsilon * (limit + 1 - period) / period, epsilon, epsilon / period)
    )
    falls = sorted(1 - (1 - 2 * delta) * bound for bound in whole)
    left = power[0] * falls[0], power[1] * falls[1]
    right = delta * (1 + single[0]), delta * (1 + single[1])
    return left, right


@dataclass(frozen=True, repr=False)
class TruncatedLaplace(ApproximateMechanism, ScalarNoise):
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
        self._fill(sensitivity=read_l1_distance(sensitivity), epsilon=read_parameter(epsilon, "epsilon"))
        self._fill(delta=read_parameter(delta, "delta"), step=read_step(step))
        if self.delta >= Fraction(1, 2):
            raise MechanismError("delta-not-below-half", delta=delta)
        refuse_below_one_step(self.sensitivity, self.step)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def limit(self) -> Any:
        """How far off a release can be at most."""
        return self.lattice.real(self.law.limit)

    @cached_property
    def law(self) -> TruncatedLaplaceLaw:
        """The exact law of the noise, in steps of the lattice."""
        period = self.lattice.whole_steps(self.sensitivity)
        return TruncatedLaplaceLaw(period / self.epsilon, find_least_limit(self.epsilon, self.delta, period))

    @cached_property
    def sampler(self) -> discrete_laplace.TruncatedDiscreteLaplace:
        """The exact sampler of that law."""
        return discrete_laplace.TruncatedDiscreteLaplace(self.law.scale, self.law.limit)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return integers at several losses and sensitivities, and a real number on a lattice."""
        return (
            *(_build_specimen("1", delta, distance) for delta in ("1e-6", "1/10") for distance in (1, 5)),
            _build_specimen("1/2", "1/5", 3),
            _build_specimen("3", "1e-9", 2),
            Specimen(
                cls(sensitivity=1, epsilon=1, delta="1e-4", step="1/4"), Adjacency.REPLACE_ONE, ((0.12, 1.12),)
            ),
        )


def _build_specimen(epsilon: str, delta: str, distance: int) -> Specimen:
    mechanism = TruncatedLaplace(sensitivity=distance, epsilon=epsilon, delta=delta)
    return Specimen(mechanism, Adjacency.ADD_REMOVE, ((0, distance), (distance, 0), (-distance, 0)))
