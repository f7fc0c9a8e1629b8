"""Parameters at their limits, how mechanisms are made and shown, and the least loss for a wanted error."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import thinned

from jali.errors import JaliError
from jali.mechanisms.additive.additive_noise import Additive
from jali.mechanisms.additive.conditioned_laplace import ConditionedLaplace
from jali.mechanisms.additive.gaussian_mechanism import Gaussian
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.additive.staircase_mechanism import Staircase
from jali.mechanisms.additive.truncated_laplace_mechanism import TruncatedLaplace
from jali.privacy.conversions import largest_rho


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


CASES: list[tuple[type[Additive], dict[str, Any]]] = [
    (Laplace, {"sensitivity": 3}),
    (Laplace, {"sensitivity": "0.7", "step": "1/8", "dimension": 4}),
    (Gaussian, {"sensitivity": 3}),
    (Staircase, {"sensitivity": 3}),
    (TruncatedLaplace, {"sensitivity": 3, "delta": "1e-6"}),
    (LInfinity, {"sensitivity": 3, "dimension": 5}),
    (ConditionedLaplace, {"dimension": 8}),
]
cases = pytest.mark.parametrize(("kind", "parameters"), CASES, ids=lambda c: getattr(c, "__name__", None))


def loss(mechanism: Additive) -> Fraction:
    value: Fraction = getattr(mechanism, mechanism.loss_name)
    return value


def cheaper(mechanism: Additive) -> Any:
    return dataclasses.replace(mechanism, **{mechanism.loss_name: loss(mechanism) * Fraction(999, 1000)})  # type: ignore[type-var]


@cases
def test_the_promise_is_kept_and_a_little_less_loss_would_break_it(kind: type[Additive], parameters: Any) -> None:
    expecting = kind.for_error(within=2, **parameters)
    assert 1.99 <= expecting.expected_error() <= 2
    assert cheaper(expecting).expected_error() > 2
    sure = kind.for_error(within=6, confidence=0.95, **parameters)
    assert sure.error(0.95) <= 6 < cheaper(sure).error(0.95)


@pytest.mark.parametrize("kind", [Laplace, Gaussian, LInfinity])
def test_the_promise_can_be_about_the_largest_of_many(kind: Any) -> None:
    parameters = {"sensitivity": 1} | ({"dimension": 100} if kind is LInfinity else {})
    sure = kind.for_error(within=40, confidence=0.9, coordinates=100, **parameters)
    assert sure.worst_error(0.9, 100) <= 40 < cheaper(sure).worst_error(0.9, 100)
    expecting = kind.for_error(within=40, coordinates=100, **parameters)
    assert expecting.expected_worst(100) <= 40 < cheaper(expecting).expected_worst(100)


def test_wide_laplace_noise_agrees_with_the_closed_form() -> None:
    found = Laplace.for_error(within=10**9, confidence=0.95, sensitivity=1)
    assert float(found.epsilon) == pytest.approx(math.log(20) / 1e9, rel=1e-8)


def test_impossible_and_bad_wishes_are_refused_by_name() -> None:
    for bad in (-1, "x", math.nan, math.inf, True, None):
        with pytest.raises(JaliError, match="within"):
            Laplace.for_error(within=bad, confidence=0.9, sensitivity=1)  # type: ignore[arg-type]
    with pytest.raises(JaliError, match="within"):
        Laplace.for_error(within=0, sensitivity=1)
    with pytest.raises(JaliError, match="within"):
        Laplace.for_error(within="1e-3", sensitivity=2**59)
    with pytest.raises(JaliError, match="confidence"):
        Laplace.for_error(within=1, confidence=1.5, sensitivity=1)
    with pytest.raises(JaliError, match="sensitivity"):
        Laplace.for_error(within=1, sensitivity=0)
    for kind in (Staircase, LInfinity):
        extra = {"dimension": 2} if kind is LInfinity else {}
        with pytest.raises(JaliError, match="coordinates"):
            kind.for_error(within=1, coordinates=3, sensitivity=1, **extra)


def test_a_wish_that_any_noise_fulfils_gets_the_widest_noise_there_is() -> None:
    widest = Laplace.for_error(within=10**30, confidence=0.5, sensitivity=1)
    assert 2**59 < widest.scale <= 2**60


@thinned(4)
@pytest.mark.parametrize(
    ("sensitivity", "within", "confidence", "known"),
    [(5, 1, 0.8, 2.6626), (12, 2, 0.8, 3.0057), (3, 0, 0.9, 4.0073), (40, 13, 0.99, None), (7, 9, 0.95, None)],
)
def test_the_staircase_loss_is_the_least_though_its_quantiles_jump(
    sensitivity: int, within: int, confidence: float, known: float | None
) -> None:
    found = Staircase.for_error(within=within, confidence=confidence, sensitivity=sensitivity)
    assert found.error(confidence) <= within
    for share in range(1, 1000):
        smaller = Staircase(sensitivity=sensitivity, epsilon=found.epsilon * Fraction(share, 1000))
        assert smaller.error(confidence) > within
    assert known is None or float(found.epsilon) == pytest.approx(known, abs=1e-4)


@pytest.mark.parametrize("step", ["1/3", "1/7", "3/7", "1/10", "1/1000", "2/3"])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_tail_at_the_error_is_what_was_left(step: str, confidence: float) -> None:
    for mechanism in (Laplace(sensitivity=1, epsilon=1, step=step), Gaussian(sensitivity=1, rho=1, step=step)):
        error = mechanism.error(confidence)
        assert mechanism.tail(error) <= 1 - confidence < mechanism.tail(math.nextafter(error, 0))
        again = Laplace.for_error(within=error, confidence=confidence, sensitivity=1, step=step)
        assert again.error(confidence) <= error


def test_a_loss_that_is_given_is_refused_for_it_is_what_is_sought() -> None:
    with pytest.raises(JaliError, match="for_error computes epsilon"):
        Laplace.for_error(within=1, sensitivity=1, epsilon=2)
    with pytest.raises(JaliError, match="for_error computes rho"):
        Gaussian.for_error(within=1, sensitivity=1, rho=2)
