"""Parameters at their limits, confidences of every kind, and how mechanisms are made and shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import thinned

from jali.errors import JaliError
from jali.mechanisms.additive import Additive
from jali.mechanisms.conditioned_laplace import ConditionedLaplace
from jali.mechanisms.gaussian import Gaussian
from jali.mechanisms.l_infinity import LInfinity
from jali.mechanisms.laplace import Laplace
from jali.mechanisms.laws import DiscreteGaussianLaw
from jali.mechanisms.staircase import Staircase
from jali.mechanisms.truncated_laplace import TruncatedLaplace
from jali.privacy.convert import largest_rho


@pytest.mark.parametrize("confidence", ["0.9", None, True, False, 0, 1, math.nan, Decimal("sNaN"), [0.9], 1.5])
def test_a_confidence_that_is_no_share_is_refused_by_name(confidence: Any) -> None:
    with pytest.raises(JaliError, match="confidence"):
        Laplace(sensitivity=1, epsilon=1).error(confidence)


def test_a_confidence_may_be_a_number_of_any_kind() -> None:
    mechanism = Laplace(sensitivity=1, epsilon="1/10")
    for confidence in (0.95, Fraction(95, 100), Decimal("0.95"), np.float64(0.95)):
        assert mechanism.error(confidence) == 30  # type: ignore[arg-type]
    assert mechanism.error(1e-30) == 0
    assert mechanism.worst_error(1e-30, 5) == 0


EXTREME: list[Callable[[str], tuple[Additive, Any]]] = [
    lambda loss: (Laplace(sensitivity=1, epsilon=loss), 3),
    lambda loss: (Gaussian(sensitivity=1, rho=loss), 3),
    lambda loss: (Staircase(sensitivity=7, epsilon=loss), 3),
    lambda loss: (TruncatedLaplace(sensitivity=7, epsilon=loss, delta="1e-6"), 3),
    lambda loss: (LInfinity(sensitivity=1, epsilon=loss, dimension=3), [3, 4, 5]),
    lambda loss: (LInfinity(sensitivity=1, epsilon=loss, dimension=300), [3] * 300),
    lambda loss: (ConditionedLaplace(epsilon=loss, dimension=2), [3, 4]),
    lambda loss: (ConditionedLaplace(epsilon=loss, dimension=5), [3] * 5),
]


@pytest.mark.parametrize("make", EXTREME)
@pytest.mark.parametrize("loss", ["3000", "1e5", "1e9", "1e300"])
def test_huge_losses_have_no_error_and_take_no_time(
    make: Callable[[str], tuple[Additive, Any]], loss: str
) -> None:
    mechanism, value = make(loss)
    assert mechanism.error(0.999) == mechanism.worst_error(0.999) == 0
    assert mechanism.expected_error() == pytest.approx(0, abs=1e-80)
    assert mechanism.stddev == pytest.approx(0, abs=1e-80)
    assert np.asarray(mechanism.release(value)).tolist() == value


@pytest.mark.parametrize("make", EXTREME)
@pytest.mark.parametrize("loss", ["1e-300", "1e-30"])
def test_tiny_losses_are_refused_or_served(make: Callable[[str], tuple[Additive, Any]], loss: str) -> None:
    try:
        mechanism, value = make(loss)
    except JaliError:
        return
    assert mechanism.error(0.9) > 10**9
    assert np.shape(mechanism.release(value)) == np.shape(value)


@thinned(3)
@pytest.mark.parametrize("sensitivity", ["1e19", "1e200", "1e300"])
def test_huge_sensitivities_are_refused(sensitivity: str) -> None:
    for make in (
        lambda: Laplace(sensitivity=sensitivity, epsilon=1),
        lambda: Gaussian(sensitivity=sensitivity, rho=1),
        lambda: Staircase(sensitivity=sensitivity, epsilon=1),
        lambda: TruncatedLaplace(sensitivity=sensitivity, epsilon=1, delta="1e-6"),
        lambda: LInfinity(sensitivity=sensitivity, epsilon=1, dimension=2),
    ):
        with pytest.raises(JaliError):
            make()


def test_noise_of_no_width_has_a_law() -> None:
    law = DiscreteGaussianLaw(Fraction(1, 10**400))
    assert law.quantile(0.9) == 0
    assert law.log_mass(0) == 0


def test_a_representation_leaves_out_the_one_dimension_that_is_usual() -> None:
    assert repr(Laplace(sensitivity=1, epsilon=1)) == "Laplace(sensitivity=1, epsilon=1)"
    assert repr(Laplace(sensitivity=1, epsilon=1, step=1, dimension=2)).endswith("step=1, dimension=2)")
    assert "dimension=1" in repr(LInfinity(sensitivity=1, epsilon=1, dimension=1))


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-6"), ("1/10", "1e-9"), (5, "1/1000")])
def test_gaussian_noise_for_epsilon_and_delta_has_the_largest_rho(epsilon: Any, delta: Any) -> None:
    mechanism = Gaussian.for_loss(epsilon=epsilon, delta=delta, sensitivity=1)
    assert mechanism == Gaussian(sensitivity=1, rho=largest_rho(epsilon, delta))
    law = mechanism.log_masses(0)
    other = mechanism.log_masses(1)
    share = math.exp(float(Fraction(epsilon)))
    spent = math.fsum(max(0.0, math.exp(law[y]) - share * math.exp(other[y])) for y in law if y in other)
    assert 0 < spent <= float(Fraction(delta))
    with pytest.raises(JaliError, match="delta"):
        Gaussian.for_loss(epsilon=1, delta=1, sensitivity=1)
    with pytest.raises(JaliError, match="epsilon"):
        Gaussian.for_loss(epsilon=0, delta="1e-6", sensitivity=1)
    wide = Gaussian.for_loss(epsilon=1, delta="1e-6", sensitivity="1/2", step="1/8", dimension=3)
    assert (wide.step, wide.dimension) == (Fraction(1, 8), 3)
