"""List the mechanisms that compete for each statistic, and how their releases are read as numbers.

There are order statistics, mean, variance, mode and slope, each with its true value and its contenders, best known
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from jali.mechanisms import statistics
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.base import Mechanism
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.quantiles.clipped_mean import ClippedMean
from jali.mechanisms.quantiles.private_quantile import PermutedQuantile, PiecewiseLaplace, QuantileExponential
from jali.mechanisms.quantiles.quantile_mechanism import FEW_MARKS
from jali.mechanisms.quantiles.unbounded_quantile import UnboundedQuantile
from jali.mechanisms.regression.adaptive_regression import AdaptiveRegression
from jali.mechanisms.regression.slope import Slope
from jali.mechanisms.regression.theil_sen import TheilSen
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.smooth.admissible_noise import Family
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.means import Mean
from jali.mechanisms.smooth.most_frequent_value import Winner
from jali.mechanisms.smooth.order_statistics import Maximum, Median, Minimum, Quantile
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.smooth_sensitivity import SmoothSensitivity
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT
from jali.mechanisms.smooth.trimmed_mean import TrimmedMean
from jali.mechanisms.smooth.variance import Variance
from jali.mechanisms.smooth.winsorised_mean import WinsorisedMean
from jali.mechanisms.stability.acceptance import DECLINED
from jali.mechanisms.stability.propose_test_release import ProposeTestRelease
from jali.mechanisms.stability.stable_answers import most_frequent
from jali.mechanisms.stability.stable_value import StableValue
from jali.privacy.adjacency import Adjacency
from jali.privacy.conversions import largest_rho


@dataclass(frozen=True)
class ComparisonSetting:
    """What all contenders know: public numbers only.

    Attributes:
        low: The least value that a column may have.
        high: The largest one.
        step: The lattice, or None for the usual one.
        epsilon: The loss of one release.
        delta: The delta of those contenders that have one.
        adjacency: When two tables are neighbours.
        people: How many there are: public under replace-one, a guess under add-remove.
        at: Which quantile is meant, where one is.
    """

    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    people: int
    at: Fraction = Fraction(1, 2)

    @property
    def column(self) -> dict[str, Any]:
        """The range, the lattice and the adjacency, as statistics and mechanisms take them."""
        return {"low": self.low, "high": self.high, "step": self.step, "adjacency": self.adjacency}


@dataclass(frozen=True)
class Contender:
    """One mechanism in a comparison.

    Attributes:
        name: What the table calls it.
        mechanism: The mechanism.
        reading: The number that a release stands for; None where it declined to answer.
        prepare: What is released, made from the data.
        singly: Whether releases must be made one by one, because outcomes of `sample` are not read as easily.
    """

    name: str
    mechanism: Mechanism
    reading: Callable[[Any], float | None] = float
    prepare: Callable[[Any], Any] = field(default=lambda data: data)
    singly: bool = False

    def values(self, data: Any, draws: int) -> Iterator[float | None]:
        """Make this many releases and read them."""
        value = self.prepare(data)
        if self.singly:
            return (self.reading(self.mechanism.release(value)) for _ in range(draws))
        return map(self.reading, self.mechanism.sample(value, draws))


PURE_FAMILIES: tuple[tuple[str, Family], ...] = (
    ("smooth, PolyPlace", PolyPlace()),
    ("smooth, Cauchy", Cauchy()),
    ("smooth, Student t", StudentT(degrees=3)),
)
FAMILIES_WITH_DELTA: tuple[tuple[str, Family], ...] = (
    ("smooth, Laplace", SmoothLaplace()),
    ("smooth, Gaussian", SmoothGaussian()),
)
# What propose-test-release proposes: a share of the global sensitivity, which is public.
_PROPOSED_SHARE = Fraction(1, 50)


@dataclass(frozen=True)
class ComparedStatistic:
    """A statistic, what it truly is on a column, and its contenders, best known first.

    Attributes:
        truth: The value of the statistic itself.
        contenders: The mechanisms for a setting.
        columns: How many columns the data have.
        least_people: How many people there must be for the statistic to move at all.
    """

    truth: Callable[[ComparisonSetting, Any], float]
    contenders: Callable[[ComparisonSetting], Iterator[Contender]]
    columns: int = 1
    least_people: int = 1


def compute_true_value(statistic: Statistic, data: Any) -> float:
    """Return the value of a statistic on data, which is not private."""
    return float(statistic.value(statistic.read(data)))


def list_smooth_contenders(statistic: Statistic, setting: ComparisonSetting) -> Iterator[Contender]:
    """Yield smooth sensitivity with each noise."""
    for name, family in PURE_FAMILIES:
        yield Contender(name, SmoothSensitivity(statistic=statistic, epsilon=setting.epsilon, noise=family))
    spent: Any = {"statistic": statistic, "epsilon": setting.epsilon, "delta": setting.delta}
    for name, family in FAMILIES_WITH_DELTA:
        yield Contender(name, SmoothSensitivity(**spent, noise=family))


def list_proposing_contenders(
    statistic: Statistic, setting: ComparisonSetting, share: Fraction = _PROPOSED_SHARE
) -> Iterator[Contender]:
    """Yield propose-test-release for a share of the global sensitivity, as the guess of `people` has it."""
    bound = statistic.global_sensitivity(setting.people) * share
    mechanism = ProposeTestRelease(statistic=statistic, bound=bound, epsilon=setting.epsilon, delta=setting.delta)
    yield Contender("propose-test-release", mechanism, read_if_answered)


def list_global_contenders(statistic: Statistic, setting: ComparisonSetting) -> Iterator[Contender]:
    """Yield Laplace noise for the worst table there is, clamped to the range as all others are."""
    known = setting.people if setting.adjacency is Adjacency.REPLACE_ONE else None
    noise = Laplace(sensitivity=statistic.global_sensitivity(known), epsilon=setting.epsilon, step=statistic.step)
    low, high = map(float, statistic.outputs)
    yield Contender(
        "Laplace, global sensitivity",
        noise,
        lambda released: min(max(released, low), high),
        prepare=lambda data: compute_true_value(statistic, data),
    )


def read_if_answered(outcome: Any) -> float | None:
    """Return the number that was released, or None if the mechanism declined."""
    return None if outcome is DECLINED else float(outcome)


MakeStatistic = Callable[[ComparisonSetting], Statistic]


def _list_order_contenders(
    make: MakeStatistic, at: Fraction | None, setting: ComparisonSetting
) -> Iterator[Contender]:
    wanted = setting.at if at is None else at
    ruler = BoundedLattice.of(setting.low, setting.high, setting.step)
    given: Any = {**setting.column, "at": wanted, "epsilon": setting.epsilon}
    if ruler.top < FEW_MARKS:
        yield Contender("permute-and-flip", PermutedQuantile(**given))
    yield Contender("piecewise Laplace", PiecewiseLaplace(**given))
    yield Contender("exponential", QuantileExponential(**given))
    yield Contender("unknown range", _build_unbounded(wanted, ruler, setting))
    yield from list_smooth_contenders(make(setting), setting)
    yield from list_proposing_contenders(make(setting), setting)
    yield from list_global_contenders(make(setting), setting)


def _build_unbounded(at: Fraction, ruler: BoundedLattice, setting: ComparisonSetting) -> UnboundedQuantile:
    return UnboundedQuantile(at=at, step=ruler.step, epsilon=setting.epsilon, adjacency=setting.adjacency)


def _build_quantile(setting: ComparisonSetting) -> Quantile:
    return Quantile(at=setting.at, **setting.column)


def _build_order_statistic(make: MakeStatistic, at: Fraction | None) -> ComparedStatistic:
    return ComparedStatistic(
        lambda setting, data: compute_true_value(make(setting), data), partial(_list_order_contenders, make, at)
    )


MEDIAN = _build_order_statistic(lambda setting: Median(**setting.column), Fraction(1, 2))
QUANTILE = _build_order_statistic(_build_quantile, None)
MINIMUM = _build_order_statistic(lambda setting: Minimum(**setting.column), Fraction(0))
MAXIMUM = _build_order_statistic(lambda setting: Maximum(**setting.column), Fraction(1))


_TRIMMED_SHARE = Fraction(1, 10)
# A mean is never far from its global sensitivity, and nothing below that can be proposed; a variance often is.
_PROPOSED_SHARE_OF_VARIANCE = Fraction(1, 2)


def _list_mean_contenders(setting: ComparisonSetting) -> Iterator[Contender]:
    mean = Mean(**setting.column)
    if setting.adjacency is Adjacency.ADD_REMOVE:
        yield _build_noisy_sums(setting)
    yield from list_global_contenders(mean, setting)
    yield from list_smooth_contenders(mean, setting)
    robust = {"trimmed": TrimmedMean, "winsorised": WinsorisedMean}
    for name, kind in robust.items():
        statistic = kind(trim=_TRIMMED_SHARE, **setting.column)
        yield Contender(f"smooth, {name}", SmoothSensitivity(statistic=statistic, epsilon=setting.epsilon))
    yield _build_clipped_mean(setting)


def _build_noisy_sums(setting: ComparisonSetting) -> Contender:
    """Add noise to the sums of the distances from both ends: one person moves the two by one range in all."""
    ruler = BoundedLattice.of(setting.low, setting.high, setting.step)

    def sums(data: Any) -> list[int]:
        marks = ruler.marks(data)
        above = sum(marks.tolist())
        return [above, ruler.top * len(marks) - above]

    def mean(noisy: tuple[int, int]) -> float:
        place = min(max(noisy[0] / sum(noisy), 0.0), 1.0) if sum(noisy) > 0 else 0.5
        return float((ruler.first + place * ruler.top) * float(ruler.step))

    return Contender("noisy sums", Laplace(sensitivity=ruler.top, epsilon=setting.epsilon), mean, sums)


def _build_clipped_mean(setting: ComparisonSetting) -> Contender:
    ruler = BoundedLattice.of(setting.low, setting.high, setting.step)
    mechanism = ClippedMean(step=ruler.step, epsilon=setting.epsilon, adjacency=setting.adjacency)
    return Contender("bought clipping bounds", mechanism, lambda released: float(released.value), singly=True)


def _list_variance_contenders(setting: ComparisonSetting) -> Iterator[Contender]:
    variance = Variance(**setting.column)
    yield from list_global_contenders(variance, setting)
    yield from list_smooth_contenders(variance, setting)
    yield from list_proposing_contenders(variance, setting, _PROPOSED_SHARE_OF_VARIANCE)


def _compute_true_mean(setting: ComparisonSetting, data: Any) -> float:
    return compute_true_value(Mean(**setting.column), data)


def _compute_true_variance(setting: ComparisonSetting, data: Any) -> float:
    return compute_true_value(Variance(**setting.column), data)


MEAN = ComparedStatistic(_compute_true_mean, _list_mean_contenders)
VARIANCE = ComparedStatistic(_compute_true_variance, _list_variance_contenders, least_people=2)


_PROPOSED_SHARE_OF_SLOPE = Fraction(1, 10)


def _list_slope_contenders(setting: ComparisonSetting) -> Iterator[Contender]:
    ends = (setting.low, setting.high)
    adaptive = AdaptiveRegression(
        features=(ends,),
        target=ends,
        rho=largest_rho(setting.epsilon, setting.delta),
        adjacency=setting.adjacency,
    )
    yield Contender("noisy sums, ridge", adaptive, lambda fitted: float(fitted.coefficients[0]), singly=True)
    robust = TheilSen(feature=ends, target=ends, epsilon=setting.epsilon)
    yield Contender("Theil-Sen", robust, lambda fitted: float(fitted.slope), singly=True)
    slope = Slope(feature=ends, target=ends, adjacency=setting.adjacency)
    yield from list_smooth_contenders(slope, setting)
    yield from list_proposing_contenders(slope, setting, _PROPOSED_SHARE_OF_SLOPE)


def _compute_true_slope(setting: ComparisonSetting, data: Any) -> float:
    """Return the slope by least squares; 0 where all values of the feature are the same."""
    across, up = np.clip(np.asarray(data, np.float64), float(setting.low), float(setting.high)).T
    spread = float(((across - across.mean()) ** 2).sum())
    return float(((across - across.mean()) * (up - up.mean())).sum() / spread) if spread else 0.0


SLOPE = ComparedStatistic(_compute_true_slope, _list_slope_contenders, columns=2, least_people=2)


_MODE_MARKS = 20


def _list_mode_contenders(setting: ComparisonSetting) -> Iterator[Contender]:
    ruler, winner = _build_ruler(setting), _build_winner(setting)
    for name, kind in {"permute-and-flip": PermuteAndFlip, "exponential": Exponential}.items():
        chooser = kind(sensitivity=statistics.histogram(adjacency=setting.adjacency), epsilon=setting.epsilon)
        yield Contender(name, chooser, lambda mark: float(ruler.at(mark)), lambda data: _count_marks(ruler, data))
    stable = StableValue(epsilon=setting.epsilon, delta=setting.delta)

    def lead(data: Any) -> Any:
        return most_frequent(dict(enumerate(_count_marks(ruler, data).tolist())), setting.adjacency)

    def reading(mark: Any) -> float | None:
        return None if mark is DECLINED or mark is None else float(ruler.at(mark))

    yield Contender("stable value", stable, reading, lead)
    yield from list_smooth_contenders(winner, setting)
    yield from list_proposing_contenders(winner, setting)
    yield from list_global_contenders(winner, setting)


def _build_ruler(setting: ComparisonSetting) -> BoundedLattice:
    """Return the lattice as given, or twenty cells of equal width."""
    width = (setting.high - setting.low) / _MODE_MARKS
    return BoundedLattice.of(setting.low, setting.high, width if setting.step is None else setting.step)


def _build_winner(setting: ComparisonSetting) -> Winner:
    ruler = _build_ruler(setting)
    return Winner(low=setting.low, high=setting.high, step=ruler.step, adjacency=setting.adjacency)


def _count_marks(ruler: BoundedLattice, data: Any) -> Any:
    return np.bincount(ruler.marks(data), minlength=ruler.top + 1)


def _compute_true_mode(setting: ComparisonSetting, data: Any) -> float:
    return compute_true_value(_build_winner(setting), data)


MODE = ComparedStatistic(_compute_true_mode, _list_mode_contenders)
