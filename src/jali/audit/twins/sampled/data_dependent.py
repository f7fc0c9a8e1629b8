"""Noise and answers that depend on the table, with the mistakes that make them tell of it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np

from jali.audit.subject import Outputs, Subject
from jali.audit.twins.data_dependent import Sensitivity, Table, from_one_change_on, median
from jali.audit.twins.sampled.making import CLAIM, sampled
from jali.privacy import Adjacency, Approximate, Pure
from jali.privacy.rationals import Number

# A statistic, and how many changes lead to a table where one person can move it by more than 1.
Proposal: TypeAlias = tuple[float, int]


def noisy_median(
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


def smooth_sensitivity_without_the_table(epsilon: Number = CLAIM) -> Subject:
    """Broken: takes the maximum over the tables from one change on, which forgets a factor exp(beta)."""
    sampler = partial(noisy_median, epsilon=float(Fraction(epsilon)), sensitivity=from_one_change_on)
    pairs = (((0, 0, 8), (0, 8, 8)),)
    name, source = "smooth sensitivity without k=0", "data_dependent:smooth_sensitivity_without_the_table"
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, pairs, sampler, source)


def proposed(
    value: Proposal, count: int, random: np.random.Generator, epsilon: float, delta: float, attempts: int
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


def retried_for_free(epsilon: Number = CLAIM, delta: Number = Fraction(1, 20)) -> Subject:
    """Broken: twenty attempts are charged as one; tables at distance 0 may have any statistics."""
    sampler = partial(proposed, epsilon=float(Fraction(epsilon)), delta=float(Fraction(delta)), attempts=20)
    name, source = "propose-test-release retried for free", "data_dependent:retried_for_free"
    pairs = (((0.0, 0), (20.0, 0)),)
    return sampled(name, Approximate(epsilon, delta), Adjacency.REPLACE_ONE, pairs, sampler, source)
