"""Laplace noise on a histogram, conditioned on sum 0 to keep a public total, and the law of its maximum."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import JointNoise
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw, Floats, NoiseLaw
from jali.mechanisms.base import LogMasses, PureMechanism, Specimen, read_natural, read_parameter
from jali.numbers.quadrature import build_quadrature
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource
from jali.sampling.sum_zero_vectors import sum_zero_noise

# Wider noise is read from noise of this scale: the shapes differ by one over 12 of its square. Few cells need
# many points on the circle, so that they are read from a narrower noise.
_WIDEST_OF_FEW, _WIDEST, _FEW = 256, 4096, 4
# Up to this scale the tails are summed one by one; above, integrated.
_SUMMED = 48
# What is below e^-40 of the largest term is left out: it is lost in the rounding of doubles anyway.
_CIRCLE_DEPTH = 40.0


@dataclass(frozen=True)
class ConditionedLaplaceLaw(NoiseLaw):
    """The largest |z_i| among `coordinates` of `cells` cells, z with mass proportional to q^(sum |z_i|), sum 0.

    Error:
        With f(y) = sum q^|z| y^z and f_t its part with |z| <= t, Pr[all |z_i| <= t] is the ratio of the
        coefficients of y^0 in f_t^n f^(d-n) and in f^d, n being the coordinates and d the cells. Each is the
        mean over the unit circle, taken at so many points that nothing is lost by it.

    Args:
        cells: At least 2.
        scale: q = exp(-1/scale).
        coordinates: From 1 to the number of cells.
    """

    cells: int
    scale: Fraction
    coordinates: int = 1

    @cached_property
    def _factor(self) -> float:
        return max(1.0, float(self.scale) / (_WIDEST_OF_FEW if self.cells <= _FEW else _WIDEST))

    @cached_property
    def _rate(self) -> float:
        return self._factor / float(self.scale)

    @property
    def _sinh(self) -> float:
        """sinh(rate/2), or what is as good as infinite."""
        return math.sinh(min(self._rate / 2, 300.0))

    @cached_property
    def _circle(self) -> tuple[Floats, Floats]:
        """Angles, and the weight of each in the mean of f^d: where that is not negligible."""
        scale = 1 / self._rate
        points = math.ceil(2 * scale * (_CIRCLE_DEPTH + 9 * math.sqrt(2 * self.cells))) + 64
        narrow = math.sqrt(math.expm1(min(_CIRCLE_DEPTH / self.cells, 60.0))) * self._sinh
        share = 1.0 if narrow >= 1 else 2 / math.pi * math.asin(narrow)
        places = np.arange(min(points // 2, math.ceil(points / 2 * share)) + 1.0)
        angles: Floats = 2 * math.pi / points * places
        logs = -self.cells * np.log1p((np.sin(angles / 2) / self._sinh) ** 2)
        # Angles stand for their mirror images too, but for the two that are their own.
        weights = np.exp(logs) * np.where((places == 0) | (2 * places == points), 1.0, 2.0)
        return angles, weights / weights.sum()

    def tails(self, thresholds: Floats) -> Floats:
        """Return Pr[some |z_i| > t] for each t, also between integers."""
        return np.array([self._tail((t + 0.5) / self._factor - 0.5) for t in thresholds.tolist()])

    def _tail(self, threshold: float) -> float:
        angles, weights = self._circle
        q = math.exp(-self._rate)
        # The part of f beyond t, over f, is 2 Re[(q y)^(t+1) / (1 - q y)] |1 - q y|^2 / (1 - q^2).
        beyond = np.cos((threshold + 1) * angles) - q * np.cos(threshold * angles)
        shares = 2 * math.exp(-self._rate * (threshold + 1)) * beyond / -math.expm1(-2 * self._rate)
        return float(weights @ _compute_largest_tail(shares, self.coordinates))

    def tail(self, threshold: int) -> float:
        """Return Pr[some |z_i| > threshold]."""
        return 1.0 if threshold < 0 else min(1.0, max(0.0, float(self.tails(np.array([float(threshold)]))[0])))

    @cached_property
    def mean_magnitude(self) -> float:
        """The expectation of the largest |z_i|: the sum of its tails."""
        return self._sum_of_tails(np.ones_like)

    @cached_property
    def stddev(self) -> float:
        """The square root of the expectation of its square: the sum of (2t+1) times the tail at t."""
        return math.sqrt(self._sum_of_tails(lambda middles: 2 * middles))

    def _sum_of_tails(self, weight: Callable[[Floats], Floats]) -> float:
        end = self.bound_tail(1e-17)
        if self.scale <= _SUMMED:
            middles, steps = np.arange(end + 1.0) + 0.5, np.ones(end + 1)
        else:
            middles, steps = build_quadrature(end + 0.5, panels=12)
        return float((weight(middles) * steps) @ self.tails(middles - 0.5))

    def log_mass(self, value: int) -> float:
        """Return ln Pr[z_1 = value]."""
        outside = self.tail(abs(value) - 1) - self.tail(abs(value))
        return math.log(outside / (2 if value else 1)) if outside > 0 else -math.inf

    @property
    def far(self) -> int:
        """Forty scales, and as many as the largest of many cells needs."""
        return self.bound_tail(1e-17)

    def bound_tail(self, left: float) -> int:
        """Return a t with Pr[some |z_i| > t] <= left, from the bound for one cell without the condition."""
        return math.ceil(float(self.scale) * (math.log(self.cells) * 2 - math.log(left) + 1))


def _compute_largest_tail(shares: Floats, count: int) -> Floats:
    """Return 1 - (1 - share)^count, with all digits where shares are small; shares may exceed 1 or be negative."""
    small = np.abs(shares) < 0.5
    near = -np.expm1(count * np.log1p(-np.where(small, shares, 0.0)))
    return np.asarray(np.where(small, near, 1 - (1 - shares) ** count))


def compute_log_normaliser(cells: int, scale: Fraction) -> float:
    """Return the logarithm of the sum of q^(sum |z_i|) over all z with sum 0: a closed form.

    With x = q^2 it is (1-x)^(1-d) times the sum of C(d-1, k)^2 x^k over k = 0 .. d-1.
    """
    rate, more = 2 / float(scale), cells - 1
    logs = [2 * _compute_log_binomial(more, k) - k * rate for k in range(more + 1)]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs)) - more * math.log(-math.expm1(-rate))


def _compute_log_binomial(above: int, below: int) -> float:
    return math.lgamma(above + 1) - math.lgamma(below + 1) - math.lgamma(above - below + 1)


_SAMPLED_DEPTH = 31.0
_LARGEST_SCALE = 1 << 40


@dataclass(frozen=True, repr=False)
class ConditionedLaplace(PureMechanism, JointNoise):
    """Add integer noise z of sum 0 to a histogram, with mass proportional to exp(-epsilon/2 sum |z_i|).

    It is for tables under replace-one, whose number of rows is public: the noisy cells have the true total, and
    each of them less noise than Laplace noise of the same loss would give it.

    Args:
        epsilon: The loss.
        dimension: The number of cells, at least 2.

    Guarantee:
        The release is epsilon-DP for histograms with the same total of which one comes from the other by moving
        one record to another cell. Moving k records costs k epsilon.
    Proof:
        docs/proofs/conditioned_laplace.md, after Hardt and Talwar 2010, Theorem 4.1.

    Error:
        The law of Laplace noise of scale 2/epsilon given that its sum is 0. In the limit of small losses the
        variance of a cell is 2/epsilon^2 for two cells, 4.2/epsilon^2 for four, 35/6 /epsilon^2 for eight, and
        tends to the 8/epsilon^2 of Laplace noise.

    Example:
        >>> from jali.mechanisms import ConditionedLaplace
        >>> mechanism = ConditionedLaplace(epsilon=1, dimension=4)
        >>> int(mechanism.release([10, 20, 30, 40]).sum())
        100
        >>> round(mechanism.stddev ** 2, 3)
        4.029
    """

    loss_power: ClassVar[int | None] = None
    step: ClassVar[Fraction | None] = None  # type: ignore[misc]

    epsilon: Fraction
    dimension: int

    def __init__(self, *, epsilon: Number, dimension: int) -> None:
        self._fill(
            epsilon=read_parameter(epsilon, "epsilon"), dimension=read_natural(dimension, "dimension", least=2)
        )
        if self.scale > _LARGEST_SCALE:
            raise MechanismError("conditioned-scale-too-large")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise before it is conditioned."""
        return 2 / self.epsilon

    @property
    def law(self) -> NoiseLaw:
        """The exact law of the noise of one cell."""
        return self._largest(1)

    def noise(self, rows: int, columns: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw the noise of `rows` independent releases."""
        return sum_zero_noise(columns, self.epsilon, rows, bits=bits)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the output, as far as the noise has a sizeable mass: for a few cells."""
        places = self._place_on_lattice(value)
        reach = int(_SAMPLED_DEPTH / float(self.epsilon)) + 1
        first = np.array(list(itertools.product(range(-reach, reach + 1), repeat=self.dimension - 1)))
        noises = np.column_stack([first, -first.sum(axis=1)])
        noises = noises[np.abs(noises).sum(axis=1) <= 2 * reach]
        logs = -np.abs(noises).sum(axis=1) / float(self.scale) - compute_log_normaliser(self.dimension, self.scale)
        return dict(zip(map(tuple, (noises + places).tolist()), logs.tolist(), strict=True))

    def _largest(self, coordinates: int) -> NoiseLaw:
        if self.dimension == 2:  # (z, -z) has mass proportional to exp(-epsilon |z|)
            return DiscreteLaplaceLaw(1 / self.epsilon)
        return ConditionedLaplaceLaw(self.dimension, self.scale, coordinates)

    def _find_worst_threshold(self, allowed: float, count: int) -> int:
        return self._largest(count).threshold(allowed)

    def _compute_expected_worst(self, count: int) -> float:
        return self._largest(count).mean_magnitude

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return histograms of two, three and four cells."""
        return (
            _build_specimen("1/2", (3, 5), (4, 4)),
            _build_specimen("1", (0, 1, 7), (1, 0, 7)),
            _build_specimen("5/2", (0, 1, 7), (0, 2, 6)),
            _build_specimen("5", (2, 1, 0, 4), (1, 1, 0, 5)),
        )


def _build_specimen(epsilon: str, one: tuple[int, ...], other: tuple[int, ...]) -> Specimen:
    mechanism = ConditionedLaplace(epsilon=epsilon, dimension=len(one))
    return Specimen(mechanism, Adjacency.REPLACE_ONE, ((one, other), (other, one)))
