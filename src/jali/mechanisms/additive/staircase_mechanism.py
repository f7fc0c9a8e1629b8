"""The staircase mechanism on integers and lattices, and the law of its noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import (
    SMALLEST_LOSS,
    ScalarNoise,
    find_last_loss,
    find_least_loss,
    find_least_loss_between,
)
from jali.mechanisms.additive.noise_laws import NoiseLaw
from jali.mechanisms.base import PureMechanism, Specimen, read_parameter
from jali.mechanisms.global_sensitivity import Sensitivity, read_l1_distance
from jali.mechanisms.lattice import read_step, refuse_below_one_step
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling.discrete_laplace import LARGEST_SCALE
from jali.sampling.discrete_staircase import DiscreteStaircase


@dataclass(frozen=True)
class StaircaseLaw(NoiseLaw):
    """Mass a exp(-epsilon level(|x|)) on the integers, level(y) = floor(y/period) + [y mod period >= tread].

    Error:
        With b = exp(-epsilon), a = (1-b) / (2 tread + 2 b (period - tread) - (1-b)); tails and moments are
        geometric sums over blocks of `period` integers.

    Example:
        >>> law = StaircaseLaw.best(Fraction(1), 10**6)
        >>> round(law.mean_magnitude / 10**6, 10)  # exp(1/2) / (e - 1)
        0.9595173757
    """

    epsilon: Fraction
    period: int
    tread: int

    @classmethod
    def best(cls, epsilon: Fraction, period: int) -> StaircaseLaw:
        """Return the law with the tread whose expected error is least."""
        b, s = math.exp(-float(epsilon)), -math.expm1(-float(epsilon))
        inside = b * period**2 - s * s / 4
        # (sqrt(inside) - b period) / s, without the difference of nearly equal numbers.
        excess = (b * period**2 - s / 4) / (math.sqrt(inside) + b * period) if inside > 0 else 0.0
        wanted = excess + 0.5
        nearest = (min(max(1, t), period) for t in (math.floor(wanted), math.floor(wanted) + 1))
        return min((cls(epsilon, period, tread) for tread in nearest), key=lambda law: law.mean_magnitude)

    @property
    def _ratio(self) -> float:
        return math.exp(-float(self.epsilon))

    @property
    def _fall(self) -> float:
        """1 - exp(-epsilon)."""
        return -math.expm1(-float(self.epsilon))

    @property
    def _block(self) -> float:
        """The weight of one block of `period` integers, the first of them with weight 1."""
        return self.tread + self._ratio * (self.period - self.tread)

    @property
    def _log_top(self) -> float:
        """The logarithm of the mass of 0."""
        return math.log(self._fall) - math.log(2 * self._block - self._fall)

    @property
    def mean_magnitude(self) -> float:
        """The expectation of |X|."""
        first = self._moment(1)
        later = self.period * self._ratio / self._fall * self._block
        return 2 * math.exp(self._log_top) * (first + later) / self._fall

    @property
    def stddev(self) -> float:
        """The square root of the expectation of X^2: sums over blocks of (k period + i)^2."""
        b, s = self._ratio, self._fall
        squares = self.period**2 * self._block * b * (1 + b) / s**2
        mixed = 2 * self.period * self._moment(1) * b / s
        return math.sqrt(2 * math.exp(self._log_top) * (squares + mixed + self._moment(2)) / s)

    def _moment(self, power: int) -> float:
        """Sum i^power over the first block, with its weights."""
        top, all_places = _sum_powers(self.tread, power), _sum_powers(self.period, power)
        return float(top) + self._ratio * float(all_places - top)

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]."""
        blocks, place = divmod(abs(value), self.period)
        return self._log_top - float(self.epsilon) * (blocks + (place >= self.tread))

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]: the rest of a block, and all later blocks."""
        if threshold < 0:
            return 1.0
        blocks, place = divmod(threshold + 1, self.period)
        upper, lower = max(0, self.tread - place), self.period - max(place, self.tread)
        weight = upper + self._ratio * lower + self._ratio * self._block / self._fall
        return 2 * math.exp(self._log_top - float(self.epsilon) * blocks) * weight

    @property
    def far(self) -> int:
        """Blocks until e^-40 is left."""
        return self.period * (math.ceil(40 / self.epsilon) + 1)

    def bound_tail(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""
        return self.threshold(left)


def _sum_powers(count: int, power: int) -> int:
    """Return 0^power + 1^power + ... + (count-1)^power, for power 1 or 2."""
    return count * (count - 1) // 2 if power == 1 else (count - 1) * count * (2 * count - 1) // 6


# Among so many wider treads `for_error` looks for a smaller loss: all of them, up to sensitivities of 128 steps.
_NEAR = 64


@dataclass(frozen=True, repr=False)
class Staircase(PureMechanism, ScalarNoise):
    """Add integer noise whose mass falls by exp(-epsilon) once in every `sensitivity` integers.

    For one number, no noise with a pure loss has a smaller expected error. It is worth its while where the
    sensitivity is large and epsilon is above 1 or so; where the sensitivity is one step it is Laplace noise.

    Args:
        sensitivity: How far the values of neighbouring tables are apart, under the adjacency in which the loss is
            meant; at least 1 for integers.
        epsilon: The loss.
        step: The lattice for real values; without it the value must be an integer.

    Guarantee:
        The release is epsilon-DP for inputs at distance at most `sensitivity`. The noise has another shape at
        every loss: there is no simple rule for a sensitivity other than the one it was made for.
    Proof:
        docs/proofs/staircase.md, after Geng and Viswanath 2014, Theorem 7.

    Error:
        The expected error is least among all treads; in the limit of a fine lattice it is
        sensitivity exp(epsilon/2) / (exp(epsilon) - 1).

    Example:
        >>> from jali.mechanisms import Laplace, Staircase
        >>> round(Staircase(sensitivity=100, epsilon=3).expected_error(), 2)
        23.48
        >>> round(Laplace(sensitivity=100, epsilon=3).expected_error(), 2)
        33.33
    """

    loss_power: ClassVar[int | None] = None

    sensitivity: Fraction
    epsilon: Fraction
    step: Fraction | None

    def __init__(self, *, sensitivity: Number | Sensitivity, epsilon: Number, step: Number | None = None) -> None:
        self._fill(
            sensitivity=read_l1_distance(sensitivity),
            epsilon=read_parameter(epsilon, "epsilon"),
            step=read_step(step),
        )
        refuse_below_one_step(self.sensitivity, self.step)
        if self.lattice.whole_steps(self.sensitivity) > LARGEST_SCALE or 1 / self.epsilon > LARGEST_SCALE:
            raise MechanismError("staircase-steps-wrong")
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def law(self) -> StaircaseLaw:
        """The exact law of the noise, in steps of the lattice."""
        return StaircaseLaw.best(self.epsilon, self.lattice.whole_steps(self.sensitivity))

    @cached_property
    def sampler(self) -> DiscreteStaircase:
        """The exact sampler of that law."""
        return DiscreteStaircase(1 / self.epsilon, self.law.period, self.law.tread)

    def _find_least_loss(self, keeps: Callable[[Fraction], bool], wish: str) -> Fraction:
        """Return the least loss among those at which treads up to 64 wider than the first found are the best.

        With one tread errors fall as the loss grows, but a narrower tread can raise a quantile.
        """
        found = find_least_loss(keeps, wish)
        first, widest = self._best_tread(found), self._best_tread(SMALLEST_LOSS)
        edges = [
            find_last_loss(partial(self._is_wide, tread), found) for tread in range(first + 1, widest + 1)[:_NEAR]
        ]
        for edge, lower in pairwise([*edges, SMALLEST_LOSS]):
            if keeps(edge):
                found = find_least_loss_between(keeps, lower, edge)
        return found

    def _best_tread(self, loss: Fraction) -> int:
        return StaircaseLaw.best(loss, self.law.period).tread

    def _is_wide(self, tread: int, loss: Fraction) -> bool:
        return self._best_tread(loss) >= tread

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return integers at several losses and sensitivities, and a real number on a lattice."""
        return (
            *(_build_specimen(epsilon, distance) for epsilon in ("1/5", "1", "4") for distance in (1, 5, 12)),
            Specimen(cls(sensitivity=1, epsilon=2, step="1/8"), Adjacency.REPLACE_ONE, ((0.12, 1.12),)),
        )


def _build_specimen(epsilon: str, distance: int) -> Specimen:
    pairs = ((0, distance), (distance, 0), (-distance, 0))
    return Specimen(Staircase(sensitivity=distance, epsilon=epsilon), Adjacency.ADD_REMOVE, pairs)
