"""Laws of mechanisms that add noise: lattices, large scales, huge values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms import Gaussian, Laplace

LOSSES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3))


@dataclass(frozen=True)
class Member:
    """How the suite makes a mechanism from a sensitivity and a loss."""

    name: str
    make: Callable[..., Any]
    loss_name: str


MEMBERS = (Member("Laplace", Laplace, "epsilon"), Member("Gaussian", Gaussian, "rho"))
members = pytest.mark.parametrize("member", MEMBERS, ids=lambda m: m.name)


def make(member: Member, sensitivity: Any = 1, loss: Any = 1, **options: Any) -> Any:
    return member.make(sensitivity=sensitivity, **{member.loss_name: loss}, **options)


@members
def test_noise_shrinks_as_the_loss_grows(member: Member) -> None:
    errors = [make(member, 10, loss).error(0.95) for loss in LOSSES]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]


@members
def test_noise_grows_with_the_sensitivity_in_proportion(member: Member) -> None:
    one, ten = make(member, 1000, "1/10"), make(member, 10000, "1/10")
    assert ten.law.stddev == pytest.approx(10 * one.law.stddev, rel=1e-6)


@members
def test_the_loss_is_the_one_that_was_given(member: Member) -> None:
    for loss in LOSSES:
        assert make(member, 7, loss).loss.event.amount == loss


@members
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_error_is_the_exact_quantile_of_the_noise(member: Member, confidence: float) -> None:
    mechanism = make(member, 3, "1/4")
    masses = [math.exp(mechanism.law.log_mass(x)) for x in range(3000)]
    wanted = next(t for t in range(3000) if masses[0] + 2 * math.fsum(masses[1 : t + 1]) >= confidence)
    assert mechanism.error(confidence) == wanted


@members
def test_tails_agree_with_sums_of_the_mass_function(member: Member) -> None:
    law = make(member, 5, "1/10").law
    for threshold in (0, 1, 5, 20, 60):
        beyond = 2 * math.fsum(math.exp(law.log_mass(x)) for x in range(threshold + 1, 6000))
        assert law.tail(threshold) == pytest.approx(beyond, rel=1e-10)
    assert law.tail(-1) == 1


@members
def test_large_scales_agree_with_small_ones_in_shape(member: Member) -> None:
    """The summed and the smooth form of a law meet: quantiles scale with the noise."""
    small, large = make(member, 40, "1/2"), make(member, 40 * 2**30, "1/2")
    assert large.error(0.95) == pytest.approx(2**30 * small.error(0.95), rel=0.02)


@members
def test_a_release_of_integers_is_integers_of_the_same_shape(member: Member) -> None:
    mechanism = make(member)
    assert isinstance(mechanism.release(5), int)
    released = mechanism.release(np.arange(6).reshape(2, 3))
    assert released.shape == (2, 3)
    assert released.dtype.kind == "i"


@members
def test_releases_have_the_law_they_claim(member: Member) -> None:
    """Chi-square over seven cells at a false-alarm rate below 1e-7; a scale off by 30 % fails it."""
    mechanism = make(member, 10, "1/2")
    noise = mechanism.release(np.zeros(200_000, np.int64), bits=SeededBits(20_261_115))
    assert _chi_square(noise, mechanism) < 45
    for wrong in (make(member, 7, "1/2"), make(member, 13, "1/2")):
        assert _chi_square(noise, wrong) > 1000


def _chi_square(noise: np.ndarray, mechanism: Any) -> float:
    spread = mechanism.law.stddev
    edges = [0, *sorted({round(spread * f) for f in (0.25, 0.5, 1, 1.5, 2, 2.5)})]
    tails = [1.0, *(mechanism.law.tail(edge) for edge in edges), 0.0]
    expected = -np.diff(tails) * len(noise)
    # Cell i holds |x| in (edge_{i-1}, edge_i]; the first cell is 0 itself.
    cells = np.searchsorted(edges, np.abs(noise), side="left")
    observed = np.bincount(cells, minlength=len(expected))
    return float((((observed - expected) ** 2) / expected).sum())


@members
def test_real_values_are_rounded_to_the_lattice_and_sensitivity_is_rounded_up(member: Member) -> None:
    mechanism = make(member, "0.3", 50, step="1/4")
    released = mechanism.release(0.4)
    assert Fraction(released) % Fraction(1, 4) == 0
    exact = make(member, 2, 50)
    assert mechanism.law == exact.law


@members
def test_values_that_are_not_finite_are_released_like_any_other(member: Member) -> None:
    mechanism = make(member, 1, 50, step="1/4", dimension=3)
    released = mechanism.release(np.array([math.nan, math.inf, -math.inf]))
    assert np.isfinite(released).all()


@members
def test_huge_integers_do_not_wrap(member: Member) -> None:
    mechanism = make(member, 1, 3)
    for value in (2**63 - 1, -(2**63), 2**100):
        assert abs(mechanism.release(value) - value) < 1000
    pair = mechanism.release(np.array([2**63 - 1, -(2**63)], dtype=np.int64))
    assert abs(int(pair[0]) - (2**63 - 1)) < 1000
    assert abs(int(pair[1]) + 2**63) < 1000


@members
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", True, None])
def test_bad_parameters_are_refused_by_name(member: Member, bad: Any) -> None:
    with pytest.raises(JaliError, match="sensitivity"):
        make(member, sensitivity=bad)
    with pytest.raises(JaliError, match=member.loss_name):
        make(member, loss=bad)


@members
def test_a_noise_that_cannot_be_sampled_is_refused_before_any_release(member: Member) -> None:
    with pytest.raises(JaliError, match="2\\*\\*"):
        make(member, 2**70, "1e-9")


@members
@pytest.mark.parametrize("bad", [0, 1, -0.5, 1.5, math.nan])
def test_a_confidence_outside_zero_and_one_is_refused(member: Member, bad: float) -> None:
    with pytest.raises(JaliError, match="confidence"):
        make(member).error(bad)


@members
def test_floats_without_a_step_are_refused_by_type_not_by_value(member: Member) -> None:
    for value in (1.0, 1.5, math.nan, np.array([1.0, 2.0])):
        with pytest.raises(JaliError, match="takes integers"):
            make(member).release(value)
    with pytest.raises(JaliError, match="dimension"):
        make(member, step="1/4").release(np.zeros(2))


@given(
    a=st.lists(st.floats(-50, 50), min_size=4, max_size=4), b=st.lists(st.floats(-50, 50), min_size=4, max_size=4)
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_lattice_points_move_by_no_more_than_the_sensitivity_in_steps(a: list[float], b: list[float]) -> None:
    from jali.mechanisms.lattice import Lattice

    lattice = Lattice(Fraction(3, 7), dimension=4)
    apart = [abs(Fraction(x) - Fraction(y)) for x, y in zip(a, b, strict=True)]
    steps = [abs(int(d)) for d in lattice.integers(np.array(a)) - lattice.integers(np.array(b))]
    assert sum(steps) <= lattice.steps(sum(apart, Fraction(0)))
    length = Fraction(math.isqrt(int(sum(x * x for x in apart) * 10**12)) + 1, 10**6)
    assert sum(s * s for s in steps) <= lattice.steps_squared(length)
    alone = Lattice(Fraction(3, 7))
    assert steps[0] <= alone.steps(apart[0])
