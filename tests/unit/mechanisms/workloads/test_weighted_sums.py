"""Quantiles of weighted sums of several noises, against exact convolutions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jali.errors import MechanismError
from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.workloads.weighted_sums import Term, moment_quantile, weighted_quantile

NARROW, WIDE = DiscreteLaplaceLaw(Fraction(1, 2)), DiscreteLaplaceLaw(Fraction(6))
THIN, BELL = DiscreteGaussianLaw(Fraction(1, 20)), DiscreteGaussianLaw(Fraction(9))
# Whole coefficients, how many of each, and the law: sums on the integers, which can be listed.
SUMS: dict[str, list[tuple[int, int, Any]]] = {
    "one twice": [(1, 2, WIDE)],
    "one large, many small": [(20, 1, WIDE), (-1, 30, WIDE), (3, 1, NARROW)],
    "narrow": [(2, 1, NARROW), (-1, 1, NARROW), (1, 1, NARROW)],
    "bells": [(5, 1, BELL), (-1, 12, BELL), (2, 3, THIN)],
    "thin bells": [(2, 1, THIN), (1, 2, THIN)],
    "mixed": [(3, 2, BELL), (7, 1, NARROW), (-2, 4, WIDE)],
}


def tails(terms: list[tuple[int, int, Any]]) -> Any:
    """Return Pr[|Y| > t] for t = 0, 1, ..., by convolution of the listed laws."""
    total = np.ones(1)
    for coefficient, count, law in terms:
        reach = law.reach(1e-15)
        one = np.zeros(2 * abs(coefficient) * reach + 1)
        one[:: abs(coefficient)] = [math.exp(law.log_mass(z)) for z in range(-reach, reach + 1)]
        for _ in range(count):
            total = np.convolve(total, one)
    middle = len(total) // 2
    return 2 * (total[middle + 1 :][::-1].cumsum()[::-1])


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("confidence", [0.3, 0.9, 0.95, 0.999])
def test_the_width_covers_and_is_hardly_wider_than_needed(name: str, confidence: float) -> None:
    beyond = tails(SUMS[name])
    least = int(np.flatnonzero(np.append(beyond, 0.0) <= 1 - confidence)[0])
    terms = [Term(abs(float(c)), n, law) for c, n, law in SUMS[name]]
    width = weighted_quantile(terms, confidence)
    assert width >= least - 1e-9
    # The smoothing costs two times 1/500 of the bound by moments; the chances set aside may cost one more step.
    slightly_more = int(np.flatnonzero(np.append(beyond, 0.0) <= (1 - confidence) * 0.998 - 2e-9)[0])
    assert width <= slightly_more + moment_quantile(terms, 1 - confidence) / 249


def test_rare_events_are_bounded_by_moments() -> None:
    beyond = tails(SUMS["mixed"])
    width = weighted_quantile([Term(float(c), n, law) for c, n, law in SUMS["mixed"]], 1 - 1e-7)
    least = int(np.flatnonzero(beyond <= 1e-7)[0])
    assert least <= width <= 1.5 * least


@pytest.mark.parametrize("name", SUMS)
def test_moments_bound_every_tail(name: str) -> None:
    terms = [Term(abs(float(c)), n, law) for c, n, law in SUMS[name]]
    beyond = tails(SUMS[name])
    for allowed in (0.5, 0.05, 1e-4, 1e-8):
        bound = moment_quantile(terms, allowed)
        assert np.append(beyond, np.zeros(1))[min(int(bound), len(beyond))] <= allowed * (1 + 1e-6)


def test_a_single_noise_has_its_exact_width() -> None:
    assert weighted_quantile([Term(-0.5, 1, WIDE)], 0.95) == 0.5 * WIDE.quantile(0.95)
    assert weighted_quantile([Term(0.0, 5, WIDE)], 0.95) == 0.0


def test_noise_too_small_to_show_does_not_break_it() -> None:
    still = DiscreteLaplaceLaw(Fraction(1, 5000))
    width = weighted_quantile([Term(1.0, 1, WIDE), Term(1.0, 9, still)], 0.95)
    assert WIDE.quantile(0.95) <= width <= WIDE.quantile(0.95) + 0.2
    assert weighted_quantile([Term(1.0, 9, still)], 0.95) <= 0.1


def test_a_confidence_must_be_between_0_and_1() -> None:
    with pytest.raises(MechanismError, match="confidence"):
        weighted_quantile([Term(1.0, 2, WIDE)], 1.0)
