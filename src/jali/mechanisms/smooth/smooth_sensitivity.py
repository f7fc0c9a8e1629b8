"""The mechanism that releases a statistic with noise scaled to its smooth sensitivity on the table at hand."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from jali.errors import MechanismError
from jali.mechanisms.base import LogMasses, Mechanism, Specimen, read_miss_probability, read_parameter
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.choose_noise import best_beta
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.log_normal_noise import LaplaceLogNormal
from jali.mechanisms.smooth.means import Mean
from jali.mechanisms.smooth.noise_calibration import read_price
from jali.mechanisms.smooth.order_statistics import Median
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.polynomial_noise import Polynomial
from jali.mechanisms.smooth.statistic import SmoothBound, Statistic
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT
from jali.mechanisms.smooth.trimmed_mean import TrimmedMean
from jali.mechanisms.smooth.variance import Variance
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number, rational
from jali.sampling import BitSource, system_bits
from jali.sampling.exp_bounds import Bounds
from jali.sampling.parameters import size_of_sample
from jali.sampling.reals.lattice_points import nearest_sample
from jali.sampling.reals.real import Enclosure

# The choice for evenly spread tables of very many people is the same for all that are not tiny.
_MANY = 10**15

TablePairs: TypeAlias = tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, repr=False)
class SmoothSensitivity(Mechanism):
    """Release f(x) + S(x)/alpha Z, where S(x) bounds how far one person can move f on this table and those nearby.

    Noise scaled to the local sensitivity alone would reveal the table by its size; the smooth bound changes by a
    factor of at most e^beta from one table to its neighbours, and Z is a law that hides such a change as well.
    Which noise and which beta are public choices, made before the table is read.

    Args:
        statistic: What is released: it has a public range and knows its smooth sensitivity.
        epsilon: The loss, from 1e-9 to 700; with delta, of (epsilon, delta)-DP.
        delta: The probability of failure, at least 1e-300, for the noises that have one.
        rho: The loss in zCDP, in place of epsilon.
        noise: A family of admissible noises; if not given, the one of least error for evenly spread tables.
        beta: How fast distance is discounted; if not given, likewise.

    Guarantee:
        The release is epsilon-DP, (epsilon, delta)-DP or rho-zCDP under the adjacency of the statistic. It is the
        rounding, to the lattice and into the public range of the statistic, of the ideal real number.
    Proof:
        docs/proofs/smooth_sensitivity.md, after Nissim, Raskhodnikova and Smith 2007, Lemma 2.5; the noises are
        proved admissible in docs/proofs/admissible_noise.md.

    Error:
        `error(c, smooth=s)` is s/alpha times the c-quantile of |Z|, plus what rounding to a mark can do, for a
        table whose smooth sensitivity is s; without it, for the worst table.

    Example:
        >>> from jali.mechanisms import Median, SmoothSensitivity
        >>> ages = Median(low=0, high=120, step=1, adjacency="replace-one")
        >>> mechanism = SmoothSensitivity(statistic=ages, epsilon=1)
        >>> mechanism.loss.epsilon(0)
        1.0
        >>> 0 <= mechanism.release([23, 35, 35, 61, 70]) <= 120
        True
    """

    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False

    statistic: Statistic
    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None
    noise: Family | None
    beta: Fraction | None

    def __init__(
        self,
        *,
        statistic: Statistic,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Family | None = None,
        beta: Number | None = None,
    ) -> None:
        if not isinstance(statistic, Statistic):
            raise MechanismError("smooth-statistic-wrong")
        if noise is not None and not isinstance(noise, Family):
            raise MechanismError("smooth-noise-wrong")
        price = read_price(epsilon, delta, rho)
        self._fill(statistic=statistic, epsilon=price.epsilon, delta=price.delta, rho=price.rho, noise=noise)
        self._fill(beta=None if beta is None else read_parameter(beta, "beta"))
        self.admissible  # noqa: B018 - refuses a beta or a loss that the noise cannot keep

    @property
    def price(self) -> Price:
        """What a release may spend."""
        return Price(self.epsilon, self.delta, self.rho)

    @property
    def loss(self) -> Loss:
        """Pure, approximate or concentrated, as it was asked for."""
        if self.epsilon is None:
            assert self.rho is not None
            return Concentrated(self.rho)
        return Pure(self.epsilon) if self.delta is None else Approximate(self.epsilon, self.delta)

    @cached_property
    def _choice(self) -> tuple[Family, Fraction]:
        """The family and the beta, as given or as chosen from public numbers."""
        if self.noise is not None and self.beta is not None:
            return self.noise, self.beta
        families = None if self.noise is None else (self.noise,)
        chosen = best_beta(self.price, families=families, beta=self.beta, people=_MANY)
        return chosen.family, chosen.beta

    @cached_property
    def admissible(self) -> AdmissibleNoise:
        """The noise of a table with smooth sensitivity 1, and its factor alpha."""
        family, beta = self._choice
        return family.noise(beta, self.price)

    @cached_property
    def ruler(self) -> BoundedLattice:
        """The lattice of the releases."""
        return BoundedLattice.of(*self.statistic.outputs, self.statistic.step)

    def error(self, confidence: float, *, smooth: Number | None = None) -> float:
        """Return a t with Pr[|release - value| <= t] >= confidence.

        Args:
            confidence: Strictly between 0 and 1.
            smooth: The smooth sensitivity of the table; if not given, that of the worst table.
        """
        read_miss_probability(confidence)
        worst = self.statistic.global_sensitivity() if smooth is None else rational(smooth, "smooth")
        if worst < 0:
            raise MechanismError("parameter-below-zero", value=smooth, name="smooth")
        low, high = self.statistic.outputs
        reach = self.admissible.quantile(confidence)
        if math.isinf(reach):
            return float_above(high - low)
        noise = worst * Fraction(reach) * (1 + Fraction(1, 10**12)) / self.admissible.alpha
        return float_above(min(high - low, noise + self._rounding))

    @property
    def _rounding(self) -> Fraction:
        """How far the mark of a value can be off: half a step, or more where the range ends between two marks."""
        low, high = self.statistic.outputs
        ends = self.ruler.first * self.ruler.step, (self.ruler.first + self.ruler.top) * self.ruler.step
        return max(self.ruler.step / 2, ends[0] - low, high - ends[1])

    def smooth(self, table: Any) -> float:
        """Return the smooth sensitivity of a table, which is not private."""
        return float(self._bound(self.statistic.read(table)))

    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the statistic of a table, with noise."""
        return self.sample(value, 1, bits=bits)[0]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases; the table is read once."""
        count = size_of_sample(size)
        centre, bound = self._place(value)
        source = system_bits() if bits is None else bits
        marks = nearest_sample(centre, self._scale(bound), self.admissible.law, count, source)
        return [self._at(mark) for mark in marks]

    def deviation(self, value: Any, output: Any) -> float:
        """Return how far a release is off the statistic of its table."""
        return float(abs(Fraction(output) - self.statistic.value(self.statistic.read(value))))

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the release on a short lattice, from the closed form of the noise."""
        centre, bound = self._place(value)
        scale = float(bound) / float(self.admissible.alpha * self.ruler.step)
        if scale == 0:  # nobody can move the statistic, or by less than doubles resolve: it is released as it is
            return {self._at(math.floor(centre + Fraction(1, 2))): 0.0}
        cuts = [-math.inf, *(float(mark + Fraction(1, 2) - centre) / scale for mark in range(self.ruler.top))]
        masses = [self._mass(low, high) for low, high in zip(cuts, [*cuts[1:], math.inf], strict=True)]
        return {self.ruler.at(mark): math.log(mass) for mark, mass in enumerate(masses) if mass > 0}

    def _mass(self, low: float, high: float) -> float:
        """Return Pr[low < Z <= high], by the smaller of the two tails."""
        if low < 0 < high:
            return 1 - self._tail(-low) - self._tail(high)
        near, far = sorted((abs(low), abs(high)))
        return self._tail(near) - self._tail(far)

    def _tail(self, z: float) -> float:
        return 0.0 if math.isinf(z) else self.admissible.survival(z)

    def _place(self, table: Any) -> tuple[Fraction, SmoothBound]:
        """Return where the statistic lies on the lattice, and its smooth bound."""
        column = self.statistic.read(table)
        return self.statistic.value(column) / self.ruler.step - self.ruler.first, self._bound(column)

    def _bound(self, column: Any) -> SmoothBound:
        return self.statistic.smooth(column, self._choice[1])

    def _at(self, mark: int) -> int | float:
        """Return the value of a mark, clamped to the range."""
        return self.ruler.at(min(max(mark, 0), self.ruler.top))

    def _scale(self, bound: SmoothBound) -> Enclosure:
        """Return bounds of the factor of Z, in steps."""
        factor = 1 / (self.admissible.alpha * self.ruler.step)

        def scale(precision: int) -> Bounds:
            low, high = bound.bounds(precision)
            return low * factor.numerator // factor.denominator, -(-high * factor.numerator // factor.denominator)

        return scale

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return medians with every noise under both adjacencies, two means and a variance."""
        replaced, added = _median(Adjacency.REPLACE_ONE), _median(Adjacency.ADD_REMOVE)
        column: Any = {"low": 0, "high": 8, "step": 1, "adjacency": Adjacency.REPLACE_ONE}
        others = Mean(**column), TrimmedMean(trim="1/5", **column), Variance(**column | {"step": 5}, mesh=1)
        cases = [(cls(statistic=replaced, noise=noise, **price), _SWAPS) for noise, price in _NOISES]
        cases += [(cls(statistic=added, noise=noise, **price), _ADDS) for noise, price in _NOISES[:2]]
        cases += [(cls(statistic=other, epsilon=2), _SWAPS) for other in others]
        return tuple(_specimen(mechanism, pairs) for mechanism, pairs in cases)


_SWAPS: TablePairs = (
    ((0, 0, 0, 8, 8), (0, 0, 8, 8, 8)),
    ((1, 2, 4, 6, 7), (1, 2, 5, 6, 7)),
    ((4, 4, 4, 4, 4), (4, 4, 4, 4, 0)),
)
_ADDS: TablePairs = (((0, 0, 8, 8), (0, 0, 8, 8, 8)), ((2, 4, 6), (2, 6)), ((4, 4, 4), (4, 4, 4, 8)))
_NOISES: tuple[tuple[Family, dict[str, Any]], ...] = (
    (PolyPlace(), {"epsilon": 2}),
    (Cauchy(), {"epsilon": 2}),
    (StudentT(degrees=3), {"epsilon": 2}),
    (Polynomial(gamma=4), {"epsilon": 2}),
    (SmoothLaplace(), {"epsilon": 2, "delta": "1/100"}),
    (SmoothGaussian(), {"epsilon": 2, "delta": "1/100"}),
    (LaplaceLogNormal(), {"rho": 1}),
)


def _median(adjacency: Adjacency) -> Median:
    return Median(low=0, high=8, step=1, adjacency=adjacency)


def _specimen(mechanism: SmoothSensitivity, pairs: TablePairs) -> Specimen:
    typical = pairs[1][0]
    shape = {"smooth": Fraction(mechanism.smooth(typical))}
    return Specimen(mechanism, mechanism.statistic.adjacency, pairs, shape, typical, tight=False)
