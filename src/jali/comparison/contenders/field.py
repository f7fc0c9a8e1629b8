"""A statistic in a comparison: its true value, and who competes for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.comparison.contender import Contender, Setting
from jali.mechanisms.laplace import Laplace
from jali.mechanisms.smooth.admissible import Family
from jali.mechanisms.smooth.families.cauchy import Cauchy
from jali.mechanisms.smooth.families.gaussian import SmoothGaussian
from jali.mechanisms.smooth.families.laplace import SmoothLaplace
from jali.mechanisms.smooth.families.poly_place import PolyPlace
from jali.mechanisms.smooth.families.student_t import StudentT
from jali.mechanisms.smooth.smooth_sensitivity import SmoothSensitivity
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.stability.declined import DECLINED
from jali.mechanisms.stability.propose_test_release import ProposeTestRelease

PURE: tuple[tuple[str, Family], ...] = (
    ("smooth, PolyPlace", PolyPlace()),
    ("smooth, Cauchy", Cauchy()),
    ("smooth, Student t", StudentT(degrees=3)),
)
WITH_DELTA: tuple[tuple[str, Family], ...] = (
    ("smooth, Laplace", SmoothLaplace()),
    ("smooth, Gaussian", SmoothGaussian()),
)
# What propose-test-release proposes: a share of the global sensitivity, which is public.
_PROPOSED = Fraction(1, 50)


@dataclass(frozen=True)
class Field:
    """A statistic, what it truly is on a column, and its contenders, best known first.

    Attributes:
        truth: The value of the statistic itself.
        contenders: The mechanisms for a setting.
        columns: How many columns the data have.
    """

    truth: Callable[[Setting, Any], float]
    contenders: Callable[[Setting], Iterator[Contender]]
    columns: int = 1


def true_value(statistic: Statistic, data: Any) -> float:
    """Return the value of a statistic on data, which is not private."""
    return float(statistic.value(statistic.read(data)))


def smooth(statistic: Statistic, setting: Setting, proposed: Fraction = _PROPOSED) -> Iterator[Contender]:
    """Yield smooth sensitivity with each noise, and propose-test-release for a share of the global sensitivity."""
    for name, family in PURE:
        yield Contender(name, SmoothSensitivity(statistic=statistic, epsilon=setting.epsilon, noise=family))
    spent: Any = {"statistic": statistic, "epsilon": setting.epsilon, "delta": setting.delta}
    for name, family in WITH_DELTA:
        yield Contender(name, SmoothSensitivity(**spent, noise=family))
    bound = statistic.global_sensitivity(setting.people) * proposed
    yield Contender("propose-test-release", ProposeTestRelease(**spent, bound=bound), read_if_answered)


def with_global_sensitivity(statistic: Statistic, setting: Setting) -> Iterator[Contender]:
    """Yield Laplace noise for the worst table there is."""
    worst = statistic.global_sensitivity(setting.people)
    noise = Laplace(sensitivity=worst, epsilon=setting.epsilon, step=statistic.step)
    yield Contender("Laplace, global sensitivity", noise, prepare=lambda data: true_value(statistic, data))


def read_if_answered(outcome: Any) -> float | None:
    """Return the number that was released, or None if the mechanism declined."""
    return None if outcome is DECLINED else float(outcome)
