"""What each query may spend: spending it k times is within the budget, a millionth more is not."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]

from jali.errors import CatalogError
from jali.privacy.budget import Budget
from jali.privacy.planning.each_query import EachQuery, each_query


def share(found: EachQuery, word: str) -> float:
    return float(next(s.epsilon for s in found.shares if word in s.theorem))


def optimal_delta(single: float, k: int, epsilon: float) -> mpf:
    """Sum over the number of lies of k randomized responses, directly."""
    e = mpf(single)
    truth = mp.exp(e) / (1 + mp.exp(e))
    return mp.fsum(
        mp.binomial(k, lies)
        * truth ** (k - lies)
        * (1 - truth) ** lies
        * (1 - mp.exp(epsilon - (k - 2 * lies) * e))
        for lies in range(k + 1)
        if (k - 2 * lies) * e > epsilon
    )


def test_a_hundred_queries_at_a_tenth_are_within_what_the_theory_says() -> None:
    """THEORY section 4, read backwards: k = 100, delta 1e-6."""
    numbers = {
        "basic": 10,
        "Dwork, Rothblum": 6.30823,
        "tanh": 5.75611,
        "zCDP": 5.22154,
        "optimal": 4.774567588,
    }
    for word, epsilon in numbers.items():
        assert share(each_query(Budget(epsilon, "1e-6"), 100), word) == pytest.approx(0.1, rel=2e-6)


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 10), (1.0, 100), (4.0, 37)])
def test_the_optimal_share_is_within_the_budget_and_a_millionth_more_is_not(epsilon: float, k: int) -> None:
    single = share(each_query(Budget(epsilon, "1e-6"), k), "optimal")
    with mp.workdps(40):
        assert optimal_delta(single, k, epsilon) <= mpf("1e-6")
        assert optimal_delta(single * (1 + 1e-9), k, epsilon) > mpf("1e-6")


def test_the_concentrated_share_is_the_root_of_the_largest_rho() -> None:
    from jali.privacy.conversions import largest_rho

    rho = float(largest_rho(Fraction(3), Fraction(1, 10**6)))
    assert share(each_query(Budget(3, "1e-6"), 50), "zCDP") == pytest.approx(math.sqrt(2 * rho / 50), rel=1e-9)


def test_basic_composition_shares_out_exactly_and_alone_at_delta_0() -> None:
    found = each_query(Budget(1), 3)
    assert [s.epsilon for s in found.shares] == [Fraction(1, 3)]
    assert found.best.theorem == "basic composition"


def test_the_best_share_is_the_largest() -> None:
    found = each_query(Budget(1, "1e-6"), 1000)
    assert found.best.epsilon == max(s.epsilon for s in found.shares)
    assert "optimal" in found.best.theorem
    assert str(found).splitlines()[0] == "1,000 queries within epsilon=1, delta=1e-06"
    assert len(str(found).splitlines()) == 2 + len(found.shares)


def test_a_theorem_that_cannot_count_so_far_is_left_out() -> None:
    found = each_query(Budget(1, "1e-6"), 2_000_000)
    assert "optimal" not in " ".join(s.theorem for s in found.shares)
    assert found.best.theorem == "zCDP with the tight conversion"


def test_shares_become_plain_values() -> None:
    document = json.loads(json.dumps(each_query(Budget(1, "1e-6"), 4).to_dict()))
    assert document["queries"] == 4
    assert document["theorems"][0] == {"theorem": "basic composition", "epsilon": "1/4"}


def test_the_repr_is_one_line_with_the_best_share() -> None:
    assert (
        repr(each_query(Budget(1), 4))
        == "<4 queries within epsilon=1, delta=0: epsilon 0.25 each, by basic composition>"
    )
    assert str(each_query(Budget(1), 1)).startswith("1 query within")


@pytest.mark.parametrize("budget", [1, "1", None])
def test_a_budget_that_is_none_is_refused_by_name(budget: object) -> None:
    with pytest.raises(CatalogError, match=r"^budget is not a Budget"):
        each_query(budget, 100)  # type: ignore[arg-type]


def test_no_queries_are_refused_by_name() -> None:
    with pytest.raises(CatalogError, match=r"^k "):
        each_query(Budget(1), 0)
