"""The theory's numbers on composition (section 4), each from its theorem, and from a formula written down here."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from jali.privacy.composition.advanced_composition import ADVANCED, ADVANCED_TANH
from jali.privacy.composition.basic_composition import BASIC
from jali.privacy.composition.compose import compose
from jali.privacy.composition.compound import Parts
from jali.privacy.composition.optimal_composition import OPTIMAL, response_delta
from jali.privacy.composition.renyi_composition import CONCENTRATED, CONCENTRATED_SIMPLE
from jali.privacy.composition.theorem import Theorem
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.losses.laplace_loss import LaplaceLoss
from jali.privacy.losses.pure_loss import Pure

DELTA = Fraction(1, 10**6)
HUNDRED: Parts = ((Pure(0.1), 100),)
TEN: Parts = ((Pure(0.1), 10),)


@pytest.mark.parametrize(
    ("theorem", "parts", "epsilon", "digits"),
    [
        (BASIC, HUNDRED, 10, 0),
        (ADVANCED, HUNDRED, 6.30823, 5),
        (ADVANCED_TANH, HUNDRED, 5.75611, 5),
        (CONCENTRATED_SIMPLE, HUNDRED, 5.75652, 5),
        (CONCENTRATED, HUNDRED, 5.2215344445, 10),  # the theory rounds it up to 5.22154
        (OPTIMAL, HUNDRED, 4.774567588, 9),
        (OPTIMAL, TEN, 0.9993709057, 10),
        (ADVANCED, TEN, 1.767, 3),
        (CONCENTRATED, ((BoundedRange(0.1), 100),), 2.41909, 5),
        (CONCENTRATED_SIMPLE, ((Concentrated(0.5), 1),), 5.75652, 5),
        (CONCENTRATED, ((Concentrated(0.5), 1),), 5.2215344445, 10),
    ],
)
def test_a_theorem_gives_the_number_of_the_theory(
    theorem: Theorem, parts: Parts, epsilon: float, digits: int
) -> None:
    found = theorem.epsilon(parts, DELTA)
    assert found is not None
    assert found == pytest.approx(epsilon, abs=0.5000001 * 10**-digits)


def test_the_numbers_also_come_from_the_formulas_as_written() -> None:
    root = 0.1 * math.sqrt(200 * math.log(1e6))
    assert ADVANCED.epsilon(HUNDRED, DELTA) == pytest.approx(root + 10 * math.expm1(0.1), rel=1e-12)
    assert ADVANCED_TANH.epsilon(HUNDRED, DELTA) == pytest.approx(root + 10 * math.tanh(0.05), rel=1e-12)
    assert CONCENTRATED_SIMPLE.epsilon(HUNDRED, DELTA) == pytest.approx(0.5 + root, rel=1e-12)


def test_the_first_corner_of_ten_randomized_responses() -> None:
    """THEORY: KOV(k=10, .1), i=1: delta 2.88233857618648e-4 at .8."""
    truth = 2.88233857618648e-4
    assert truth * (1 - 1e-14) <= response_delta(0.1, 10, 0.8) <= truth * (1 + 1e-13)


def test_advanced_composition_of_ten_is_worse_than_basic_and_compose_takes_the_minimum() -> None:
    assert (ADVANCED.epsilon(TEN, DELTA) or 0) > (BASIC.epsilon(TEN, DELTA) or 0) == 1.0
    assert compose((Pure(0.1), 10)).epsilon(DELTA) == pytest.approx(0.9993709057, abs=5e-11)
    assert compose((Pure(0.1), 10), parameters="adaptive").epsilon(DELTA) == 1.0


def test_a_hundred_laplace_releases_by_their_distribution() -> None:
    best = compose((LaplaceLoss(10), 100)).best(DELTA)
    assert best.epsilon == pytest.approx(4.69267, abs=1e-5)
    assert str(best.theorem) == "the privacy-loss distribution (numerical)"


def test_a_hundred_gaussian_releases_are_one_with_a_hundredth_of_the_variance() -> None:
    """rho = 0.5 in all: the true epsilon is 4.886554117."""
    low, high = compose((GaussianLoss(10), 100)).bounds(DELTA)
    assert low <= 4.8865541171 <= high
    assert high - low < 1e-3 * high
    assert compose(GaussianLoss(1)).epsilon(DELTA) == pytest.approx(4.886554117, abs=5e-10)


def test_a_group_of_three_under_approximate_privacy() -> None:
    """THEORY: group k=3 of (.5, 1e-6): delta 5.3670e-6; a group of a composition composes groups."""
    group = compose(Approximate(0.5, 1e-6)).group(3)
    assert group.event.epsilon == Fraction(3, 2)
    assert float(group.event.delta) == pytest.approx(5.3670e-6, abs=5e-11)
    assert compose((Pure(0.1), 4)).group(3) == compose((Pure(0.3), 4))
    assert compose((Concentrated(0.1), 4)).group(3).event.rho == Fraction(36, 10)


def test_adding_a_release_to_an_exact_budget_needs_no_rounding() -> None:
    assert compose((Pure(0.1), 10)).epsilon(0) == 1.0
    assert compose((Pure(0.1), 3)).delta("0.3") == 0.0
    assert compose((Approximate(0.1, 1e-7), 10)).epsilon(1e-6) <= 1.0
