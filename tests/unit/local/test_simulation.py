"""Simulated surveys: people in exact proportions, asked in batches."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.local import AlmostRandom, KaryResponse, simulate_survey
from jali.local.simulation import drawn_values


def test_categories_are_drawn_with_exactly_their_shares() -> None:
    shares = (Fraction(1, 2), Fraction(1, 8), Fraction(3, 8))
    masses, undecided = enumerate_masses(lambda bits: int(drawn_values(shares, 1, bits=bits)[0]), 6)
    assert masses == dict(enumerate(shares))
    assert undecided == Fraction(0)


def test_a_share_of_zero_is_never_drawn() -> None:
    values = drawn_values((Fraction(0), Fraction(1), Fraction(0)), 1000, bits=SeededBits(1))
    assert set(values.tolist()) == {1}


def test_many_people_are_asked_in_batches_and_counted_once() -> None:
    """200,000 people: truth and estimate within 6 standard deviations of the shares."""
    shares = ("1/2", "0.3", "1/5")
    survey = simulate_survey(KaryResponse(categories=3, epsilon=2), shares, 200_000, bits=SeededBits(2))
    assert sum(survey.truth) == sum(survey.estimate.supports) == survey.estimate.people == 200_000
    np.testing.assert_allclose(survey.true_shares, [0.5, 0.3, 0.2], atol=0.007)
    np.testing.assert_allclose(
        survey.estimate.frequencies, survey.true_shares, atol=6 * max(survey.estimate.stddevs)
    )


@pytest.mark.parametrize("shares", [None, 5, (0.5, 0.4), (0.5,), (1.5, -0.5), ("x", 1), (1, 0, 0), ("1e-25", 1)])
def test_shares_that_are_none_are_refused_by_name(shares: Any) -> None:
    with pytest.raises(JaliError, match="shares"):
        simulate_survey(AlmostRandom(), shares, 10)


def test_what_is_no_randomizer_is_refused() -> None:
    with pytest.raises(JaliError, match="mechanism"):
        simulate_survey("Warner", (0.5, 0.5), 10)  # type: ignore[arg-type]


def test_nobody_cannot_be_asked() -> None:
    with pytest.raises(JaliError, match="people"):
        simulate_survey(AlmostRandom(), (0.5, 0.5), 0)
