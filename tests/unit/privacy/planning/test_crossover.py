"""Crossovers: the numbers of the theory, and a plain comparison at every k."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.privacy.budget import Budget
from jali.privacy.planning.crossover import Crossover, Wins, crossover
from jali.privacy.planning.plan_queries import plan_queries

SIGMA = {"1e-6": 4.2246788893, "1e-5": 3.7306316348}  # THEORY section 2, at epsilon 1


def first(found: Crossover, noise: str, other: str) -> int | None:
    return next(o.first for o in found.overtakes if (o.noise, o.other) == (noise, other))


@pytest.mark.parametrize(("delta", "last"), [("1e-6", 50), ("1e-5", 38)])
def test_l_inf_noise_beats_gaussian_noise_as_long_as_the_theory_says(delta: str, last: int) -> None:
    """THEORY section 0.3: k <= 50 at (1, 1e-6), k <= 38 at 1e-5; the noises cross where the variances do."""
    found = crossover(Budget(1, delta), confidence=None)
    assert found.wins == (Wins("Laplace", 1, 1), Wins("l_inf", 2, last), Wins("Gaussian", last + 1, None))
    assert (last + 1) * (last + 2) / 3 < SIGMA[delta] ** 2 * last
    assert (last + 2) * (last + 3) / 3 > SIGMA[delta] ** 2 * (last + 1)


def test_plain_laplace_noise_loses_to_gaussian_noise_from_nine_queries() -> None:
    """THEORY section 0.3: 2 k^2 against 17.848 k."""
    found = crossover(Budget(1, "1e-6"), confidence=None)
    assert first(found, "Gaussian", "Laplace") == 9
    assert first(found, "Gaussian", "l_inf") == 51
    assert first(found, "l_inf", "Laplace") == 2


def test_gaussian_noise_takes_no_part_without_a_delta() -> None:
    found = crossover(Budget(1))
    assert found.wins == (Wins("Laplace", 1, 1), Wins("l_inf", 2, None))
    assert str(found) == "Least error of each count at 95 %: Laplace at k=1, l_inf from k=2."


def test_gaussian_noise_may_win_from_the_first_query_on() -> None:
    found = crossover(Budget("0.001", "0.1"))
    assert found.wins == (Wins("Gaussian", 1, None),)
    assert first(found, "Gaussian", "Laplace") == 1


@settings(max_examples=12 * DEPTH, derandomize=True, deadline=None)
@given(
    st.fractions(Fraction(1, 50), 30, max_denominator=50),
    st.integers(1, 12),
    st.sampled_from([(None, False), (0.95, False), (0.3, False), (0.99, True)]),
)
def test_the_winner_of_a_range_is_the_winner_at_every_number_of_queries(
    epsilon: Fraction, power: int, measure: tuple[float | None, bool]
) -> None:
    budget, (confidence, simultaneous) = Budget(epsilon, Fraction(1, 10**power)), measure
    found = crossover(budget, confidence=confidence, simultaneous=simultaneous)
    ends = [k for range_ in found.wins for k in (range_.first, range_.last) if k is not None]
    for k in sorted({*ends, *range(1, 12), 63, 64, 65, 66, 100, 300, 1000, 4000, 10**5}):
        plan = plan_queries(budget, k, confidence=confidence, simultaneous=simultaneous)
        assert plan.best.noise == found.best(k), k


def test_ranges_follow_each_other() -> None:
    found = crossover(Budget(2, "1e-8"), simultaneous=True)
    assert found.wins[0].first == 1
    assert [range_.first for range_ in found.wins[1:]] == [(range_.last or 0) + 1 for range_ in found.wins[:-1]]
    assert found.wins[-1].last is None


def test_crossovers_become_plain_values() -> None:
    document = json.loads(json.dumps(crossover(Budget(1, "1e-6"), confidence=None).to_dict()))
    assert document["measure"] == "standard deviation"
    assert document["wins"][1] == {"noise": "l_inf", "first": 2, "last": 50}
    assert {"noise": "Gaussian", "other": "Laplace", "first": 9} in document["overtakes"]


def test_a_budget_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(CatalogError, match=r"^budget is not a Budget"):
        crossover(1)  # type: ignore[arg-type]


def test_the_repr_of_a_crossover_is_one_line() -> None:
    found = repr(crossover(Budget(1)))
    assert found == "<epsilon=1, delta=0: least error of each count at 95 %: Laplace at k=1, l_inf from k=2>"
