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
from jali.privacy.adjacency import Adjacency

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
        least_people: How many people there must be for the statistic to move at all.
    """

    truth: Callable[[Setting, Any], float]
    contenders: Callable[[Setting], Iterator[Contender]]
    columns: int = 1
    least_people: int = 1


def true_value(statistic: Statistic, data: Any) -> float:
    """Return the value of a statistic on data, which is not private."""
    return float(statistic.value(statistic.read(data)))


def smooth(statistic: Statistic, setting: Setting) -> Iterator[Contender]:
    """Yield smooth sensitivity with each noise."""
    for name, family in PURE:
        yield Contender(name, SmoothSensitivity(statistic=statistic, epsilon=setting.epsilon, noise=family))
    spent: Any = {"statistic": statistic, "epsilon": setting.epsilon, "delta": setting.delta}
    for name, family in WITH_DELTA:
        yield Contender(name, SmoothSensitivity(**spent, noise=family))


def proposed(statistic: Statistic, setting: Setting, share: Fraction = _PROPOSED) -> Iterator[Contender]:
    """Yield propose-test-release for a share of the global sensitivity, as the guess of `people` has it."""
    bound = statistic.global_sensitivity(setting.people) * share
    mechanism = ProposeTestRelease(statistic=statistic, bound=bound, epsilon=setting.epsilon, delta=setting.delta)
    yield Contender("propose-test-release", mechanism, read_if_answered)


def with_global_sensitivity(statistic: Statistic, setting: Setting) -> Iterator[Contender]:
    """Yield Laplace noise for the worst table there is, clamped to the range as all others are."""
    known = setting.people if setting.adjacency is Adjacency.REPLACE_ONE else None
    noise = Laplace(sensitivity=statistic.global_sensitivity(known), epsilon=setting.epsilon, step=statistic.step)
    low, high = map(float, statistic.outputs)
    yield Contender(
        "Laplace, global sensitivity",
        noise,
        lambda released: min(max(released, low), high),
        prepare=lambda data: true_value(statistic, data),
    )


def read_if_answered(outcome: Any) -> float | None:
    """Return the number that was released, or None if the mechanism declined."""
    return None if outcome is DECLINED else float(outcome)
