"""Noise and answers that depend on the table, with the mistakes that make them reveal it.

The tables of the smooth ones have three numbers among 0, 1, ..., 8, neighbours differ in one number, the statistic
is the median, and the noise is Cauchy noise by the exact rule, rounded to the range. How sensitive a table is, and
those nearby are, is found by going through all tables. With the right sensitivity, `honest`, the claims hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from jali.lab.audit.broken.definition import BROKEN, CLAIM, Sampled, define_subject
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects.registration import Registration
from jali.mechanisms.base import LogMasses, Mechanism
from jali.mechanisms.smooth.smooth_sensitivity import SmoothSensitivity
from jali.mechanisms.stability.acceptance import DECLINED
from jali.mechanisms.stability.propose_test_release import Proposal, ProposeTestRelease
from jali.mechanisms.stability.stable_value import Stable, StableValue
from jali.privacy import Adjacency, Approximate, Pure
from jali.privacy.rationals import Number

Table: TypeAlias = tuple[int, ...]
Sensitivity: TypeAlias = Callable[[Table, float], float]
# A statistic, and how many changes lead to a table where one person can move it by more than 1.
Distant: TypeAlias = tuple[float, int]

# Two losses, and a beta for each at which alpha = 2 sinh(epsilon/2) is right.
LARGE, SMALL = (Fraction(1), 0.7), (Fraction(1, 2), 0.2)
_SIZE, _TOP = 3, 8


def tables() -> Iterator[Table]:
    """Yield all tables, in ascending order of their numbers."""
    yield from combinations_with_replacement(range(_TOP + 1), _SIZE)


def distance(one: Table, other: Table) -> int:
    """Return how many numbers must be replaced."""
    return _SIZE - sum((Counter(one) & Counter(other)).values())


def median(table: Table) -> int:
    """Return the middle number."""
    return table[_SIZE // 2]


@lru_cache(maxsize=1)
def _local_sensitivities() -> dict[Table, int]:
    every = list(tables())
    return {
        one: max(abs(median(one) - median(other)) for other in every if distance(one, other) <= 1) for one in every
    }


@lru_cache(maxsize=256)
def at_distances(table: Table) -> tuple[int, ...]:
    """Return the largest local sensitivities of tables up to 0, 1, 2 and 3 changes away."""
    rings = [(distance(table, other), local) for other, local in _local_sensitivities().items()]
    return tuple(max(local for apart, local in rings if apart <= k) for k in range(_SIZE + 1))


def honest(table: Table, beta: float) -> float:
    """Return the smooth sensitivity."""
    return max(math.exp(-beta * k) * size for k, size in enumerate(at_distances(table)))


def local_alone(table: Table, beta: float) -> float:  # noqa: ARG001 - that is the mistake
    """Scale the noise to the local sensitivity: its size reveals the table."""
    return float(at_distances(table)[0])


def from_one_change_on(table: Table, beta: float) -> float:
    """Leave the table's own local sensitivity out."""
    return max(math.exp(-beta * k) * size for k, size in enumerate(at_distances(table)) if k)


def halve_at_each_change(table: Table, beta: float) -> float:  # noqa: ARG001 - that is the mistake
    """Discount by 2^-k, whatever beta is: at epsilon 1 Cauchy noise bears it, as ln 2 < 0.7353; not below."""
    return max(0.5**k * size for k, size in enumerate(at_distances(table)))


def without_the_ends(table: Table, beta: float) -> float:
    """Look at the gaps between the table's own numbers, and not at those to the ends of the range."""
    middle = _SIZE // 2
    reach = [
        max(_at(table, middle + t) - _at(table, middle + t - k - 1) for t in range(k + 2))
        for k in range(_SIZE + 1)
    ]
    return max(math.exp(-beta * k) * size for k, size in enumerate(reach))


def _at(table: Table, place: int) -> int:
    return table[min(max(place, 0), _SIZE - 1)]


def noisy_median(sensitivity: Sensitivity, epsilon: Fraction, beta: float, table: Table) -> LogMasses:
    """Return the law of the median with Cauchy noise of scale sensitivity/alpha, rounded to the range."""
    centre, scale = median(table), sensitivity(table, beta) / (2 * math.sinh(float(epsilon) / 2))
    if scale == 0:
        return {centre: 0.0}
    edges = [-math.inf, *(mark + 0.5 for mark in range(_TOP)), math.inf]
    turns = [math.atan((edge - centre) / scale) for edge in edges]
    return {mark: math.log((turns[mark + 1] - turns[mark]) / math.pi) for mark in range(_TOP + 1)}


class RetriedForFree(ProposeTestRelease):
    """Tries again until it answers, and charges one attempt."""

    def log_masses(self, value: Proposal) -> LogMasses:
        """Return the law of the answer, given that there is one."""
        masses = {output: mass for output, mass in super().log_masses(value).items() if output is not DECLINED}
        total = math.log(math.fsum(map(math.exp, masses.values())))
        return {output: mass - total for output, mass in masses.items()}


class InvertedScale(ProposeTestRelease):
    """Multiplies by epsilon where it should divide."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in steps."""
        return super().scale * (self.epsilon * (1 - self.test_share)) ** 2


class OneChangeFurther(StableValue):
    """Counts the change that leads to another answer: 1 where a neighbour has another one."""

    def log_masses(self, value: tuple[str, int]) -> LogMasses:
        """Return the law at the distance to the nearest table with another answer."""
        answer, unchanged = value
        return super().log_masses(Stable(answer, unchanged + 1))


def _register_smooth(
    name: str, sensitivity: Sensitivity, price: tuple[Fraction, float], one: Table, other: Table
) -> Registration:
    law, neighbours = partial(noisy_median, sensitivity, *price), ((one, other),)
    claim, kind = Pure(price[0]), SmoothSensitivity
    return Registration(name, kind, claim, Adjacency.REPLACE_ONE, neighbours, law, tight=False)


def _register_tested(
    name: str, broken: ProposeTestRelease | StableValue, *pair: Stable | Proposal
) -> Registration:
    kind: type[Mechanism] = StableValue if isinstance(broken, StableValue) else ProposeTestRelease
    neighbours = ((pair[0], pair[1]),)
    return Registration(name, kind, broken.loss, Adjacency.REPLACE_ONE, neighbours, broken.log_masses, tight=False)


_RETRIED_FOR_FREE = "propose-test-release retried for free"
_WITHOUT_ITS_OWN = (0, 0, 8), (0, 8, 8)
_RETRIED = RetriedForFree(bound=1, epsilon=2, delta="1/100", low=0, high=9, step=1)
_INVERTED = InvertedScale(bound=1, epsilon="1/2", delta="1/100", low=0, high=9, step=1)
_FURTHER = OneChangeFurther(epsilon=1, delta="1/100")

EXACT: tuple[Registration, ...] = (
    _register_smooth("noise scaled to the local sensitivity alone", local_alone, LARGE, (4, 4, 4), (4, 4, 8)),
    _register_smooth("smooth sensitivity without the table's own", from_one_change_on, LARGE, *_WITHOUT_ITS_OWN),
    _register_smooth("smooth sensitivity with 2^-k", halve_at_each_change, SMALL, (4, 4, 4), (0, 4, 4)),
    _register_smooth(
        "smooth sensitivity without the ends of the range", without_the_ends, LARGE, (4, 4, 4), (4, 4, 5)
    ),
    _register_tested(_RETRIED_FOR_FREE, _RETRIED, Proposal(0, 0), Proposal(9, 0)),
    _register_tested("propose-test-release with inverted scale", _INVERTED, Proposal(4, 400), Proposal(5, 400)),
    _register_tested("stable value with the distance one too large", _FURTHER, Stable("a", 0), Stable("b", 0)),
)


def draw_noisy_median(
    table: Table, count: int, random: np.random.Generator, epsilon: float, sensitivity: Sensitivity
) -> Outputs:
    """Add Cauchy noise of scale sensitivity/alpha to the median of three numbers among 0, 1, ..., 8.

    With beta = epsilon/2, alpha^2 = 2 min(cosh(epsilon) - 1, exp(beta) (cosh(epsilon) - cosh(beta))) is right for
    the smooth sensitivity (Nissim, Raskhodnikova and Smith 2007; docs/proofs/admissible_noise.md, Theorem 2).
    """
    beta = epsilon / 2
    stretched = math.exp(beta) * (math.cosh(epsilon) - math.cosh(beta))
    alpha = math.sqrt(2 * min(math.cosh(epsilon) - 1, stretched))
    return median(table) + sensitivity(table, beta) / alpha * random.standard_cauchy((count, 1))


@define_subject("smooth sensitivity without k=0", Adjacency.REPLACE_ONE, BROKEN)
def smooth_sensitivity_without_the_table(epsilon: Number = CLAIM) -> Sampled:
    """Broken: takes the maximum over the tables from one change on, which forgets a factor exp(beta)."""
    sampler = partial(draw_noisy_median, epsilon=float(Fraction(epsilon)), sensitivity=from_one_change_on)
    return Pure(epsilon), (_WITHOUT_ITS_OWN,), sampler


def propose_and_test(
    value: Distant, count: int, random: np.random.Generator, epsilon: float, delta: float, attempts: int
) -> Outputs:
    """Propose sensitivity 1, test it, release or decline, and try again. Columns: 1 and the answer, or 0 and NaN.

    One attempt answers if distance + noise exceeds ln(1/(2 delta)) scales, with Laplace noise of scale 2/epsilon
    here and in the answer: at distance 0 with probability delta (Dwork and Lei 2009). Refusals are independent, so
    all of them together have probability (1 - chance)^attempts.
    """
    statistic, distance = value
    scale = 2 / epsilon
    missing = math.log(1 / (2 * delta)) - distance / scale
    chance = math.exp(-missing) / 2 if missing > 0 else 1 - math.exp(missing) / 2
    answered = random.random(count) < 1 - (1 - chance) ** attempts
    answers = statistic + random.laplace(scale=scale, size=count)
    return np.column_stack([answered.astype(np.float64), np.where(answered, answers, np.nan)])


@define_subject(_RETRIED_FOR_FREE, Adjacency.REPLACE_ONE, BROKEN)
def retry_for_free(epsilon: Number = CLAIM, delta: Number = Fraction(1, 20)) -> Sampled:
    """Broken: twenty attempts are charged as one; tables at distance 0 may have any statistics."""
    sampler = partial(
        propose_and_test, epsilon=float(Fraction(epsilon)), delta=float(Fraction(delta)), attempts=20
    )
    return Approximate(epsilon, delta), (((0.0, 0), (20.0, 0)),), sampler
