"""Plans: two of budget, number of queries and accuracy give the third."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.privacy.budget import Budget
from jali.privacy.planning.plan_queries import least_epsilon, plan_queries, queries_below_sampling_error
from jali.privacy.planning.query_plan import QueryPlan
from jali.privacy.planning.safe_search import MOST

BUDGET = Budget(1, "1e-6")
SIGMA = 4.2246788893  # THEORY section 2: the standard deviation of one query at (1, 1e-6)
budgets = st.builds(
    lambda epsilon, power: Budget(epsilon, Fraction(1, 10**power) if power else 0),
    st.fractions(Fraction(1, 20), 20, max_denominator=50),
    st.sampled_from([0, 3, 6, 9]),
)
measures = st.sampled_from(
    [
        {"confidence": None},
        {"confidence": 0.95},
        {"confidence": 0.5},
        {"confidence": 0.999, "simultaneous": True},
    ]
)
rounds = settings(max_examples=40 * DEPTH, derandomize=True, deadline=None)


def errors(plan: QueryPlan) -> dict[str, float]:
    found = {row.noise: row.error_in(plan.measure) for row in plan.forecasts}
    return {noise: error for noise, error in found.items() if error is not None}


def counts(plan: QueryPlan) -> dict[str, int]:
    return {row.noise: row.queries for row in plan.forecasts}


def test_example_two_of_the_lecture() -> None:
    """THEORY section 10: variances 18, 20/3 and 53.5 for three counts at (1, 1e-6)."""
    plan = plan_queries(BUDGET, 3, confidence=None)
    variances = {noise: error**2 for noise, error in errors(plan).items()}
    assert variances["Laplace"] == pytest.approx(18)
    assert variances["l_inf"] == pytest.approx(20 / 3)
    assert round(variances["Gaussian"], 1) == 53.5
    assert plan.best.noise == "l_inf"


@pytest.mark.parametrize(("k", "winner"), [(1, "Laplace"), (2, "l_inf"), (50, "l_inf"), (51, "Gaussian")])
def test_the_winner_changes_where_the_theory_says(k: int, winner: str) -> None:
    """THEORY section 0.3, by standard deviation."""
    assert plan_queries(BUDGET, k, confidence=None).best.noise == winner


def test_one_query_has_equal_laplace_and_l_inf_noise_and_the_simpler_is_taken() -> None:
    plan = plan_queries(Budget("0.3"), 1)
    laplace, l_inf = errors(plan).values()
    assert laplace == pytest.approx(l_inf, rel=1e-11)
    assert plan.best.noise == "Laplace"


def test_gaussian_noise_is_left_out_without_a_delta() -> None:
    plan = plan_queries(Budget(1), 10)
    assert list(errors(plan)) == ["Laplace", "l_inf"]
    assert "needs a delta" in plan.legend
    assert "needs a delta" not in plan_queries(BUDGET, 10).legend


@pytest.mark.parametrize("rows", [100, 10_000, 1_000_000])
def test_the_sampling_error_admits_the_number_of_queries_of_closed_forms(rows: int) -> None:
    """Standard deviations at most sqrt(n)/2: of order sqrt(n) queries under pure, n under approximate DP."""
    found = counts(queries_below_sampling_error(BUDGET, rows))
    assert found["Laplace"] == math.isqrt(rows // 8)
    assert found["l_inf"] == max(k for k in range(rows) if 4 * (k + 1) * (k + 2) <= 3 * rows)
    assert found["Gaussian"] == int(rows / (4 * SIGMA**2))


def test_the_sampling_error_counts_a_query_that_just_fits() -> None:
    """Scale 10: the variance 2 k^2 = 200 of ten counts is exactly 800/4."""
    assert counts(queries_below_sampling_error(Budget(1), 800))["Laplace"] == 10
    assert counts(queries_below_sampling_error(Budget(1), 799))["Laplace"] == 9


def test_n_queries_grow_with_the_root_of_n_under_pure_and_with_n_under_approximate_privacy() -> None:
    """THEORY section 10, n queries."""
    small, large = (counts(queries_below_sampling_error(BUDGET, n)) for n in (10**6, 10**8))
    assert large["l_inf"] / small["l_inf"] == pytest.approx(10, rel=0.01)
    assert large["Laplace"] / small["Laplace"] == pytest.approx(10, rel=0.01)
    assert large["Gaussian"] / small["Gaussian"] == pytest.approx(100, rel=0.01)


def test_the_least_epsilon_of_pure_noises_is_a_closed_form() -> None:
    plan = least_epsilon(3, 2, confidence=None, sensitivity=5)
    laplace, l_inf = (float(row.epsilon) for row in plan.forecasts)
    assert laplace == pytest.approx(5 * math.sqrt(18) / 2, rel=1e-10)
    assert l_inf == pytest.approx(5 * math.sqrt(20 / 3) / 2, rel=1e-10)
    assert plan.best.noise == "l_inf"


@rounds
@given(budgets, st.integers(1, 300), measures)
def test_an_error_that_is_planned_is_met_by_as_many_queries(
    budget: Budget, k: int, measure: dict[str, Any]
) -> None:
    for noise, error in errors(plan_queries(budget, k, **measure)).items():
        fitting = plan_queries(budget, accuracy=error, **measure)
        assert counts(fitting)[noise] == k


@rounds
@given(budgets, st.fractions(Fraction(1, 10), 500, max_denominator=100), measures)
def test_queries_that_fit_meet_the_accuracy_and_one_more_does_not(
    budget: Budget, accuracy: Fraction, measure: dict[str, Any]
) -> None:
    for noise, k in counts(plan_queries(budget, accuracy=accuracy, **measure)).items():
        if k:
            assert errors(plan_queries(budget, k, **measure))[noise] <= accuracy
        assert errors(plan_queries(budget, k + 1, **measure))[noise] > accuracy


@rounds
@given(
    st.integers(1, 300),
    st.fractions(Fraction(1, 2), 500, max_denominator=100),
    st.sampled_from([0, 1e-3, 1e-9]),
    measures,
)
def test_the_least_epsilon_meets_the_accuracy_and_a_billionth_less_does_not(
    k: int, accuracy: Fraction, delta: float, measure: dict[str, Any]
) -> None:
    for row in least_epsilon(k, accuracy, delta=delta, **measure).forecasts:
        if row.epsilon == Fraction(1, 10**12):
            continue  # delta alone pays for the noise
        enough = plan_queries(Budget(row.epsilon, delta), k, **measure)
        assert errors(enough)[row.noise] <= accuracy
        less = plan_queries(Budget(row.epsilon * (1 - Fraction(1, 10**8)), delta), k, **measure)
        assert errors(less)[row.noise] > accuracy


@rounds
@given(budgets, st.integers(1, 200), st.fractions(1, 3, max_denominator=10), measures)
def test_more_budget_never_means_more_error_or_fewer_queries(
    budget: Budget, k: int, factor: Fraction, measure: dict[str, Any]
) -> None:
    for more in (Budget(budget.epsilon * factor, budget.delta), Budget(budget.epsilon, budget.delta * factor)):
        before, after = (plan_queries(b, k, **measure) for b in (budget, more))
        assert all(errors(after)[noise] <= error * (1 + 1e-12) for noise, error in errors(before).items())
        fewer, most = (plan_queries(b, accuracy=20, **measure) for b in (budget, more))
        assert all(counts(most)[noise] >= count for noise, count in counts(fewer).items())
        assert most.best.queries >= fewer.best.queries


@rounds
@given(budgets, st.integers(1, 200), measures)
def test_more_queries_never_mean_less_error(budget: Budget, k: int, measure: dict[str, Any]) -> None:
    one, next_ = (errors(plan_queries(budget, count, **measure)) for count in (k, k + 1))
    assert all(next_[noise] > error for noise, error in one.items())


def test_a_delta_that_pays_for_the_noise_alone_needs_almost_no_epsilon() -> None:
    row = least_epsilon(1, 1000, delta="0.1", confidence=None).forecasts[-1]
    assert row.noise == "Gaussian"
    assert row.epsilon == Fraction(1, 10**12)
    assert row.stddev is not None
    assert row.stddev <= 1000


def test_nothing_fits_an_accuracy_that_is_too_fine() -> None:
    plan = plan_queries(BUDGET, accuracy="0.01")
    assert set(counts(plan).values()) == {0}
    assert "Not even one" in plan.advice
    assert plan.to_dict()["best"] is None
    assert "*" not in str(plan)


def test_queries_are_counted_up_to_a_thousand_million() -> None:
    plan = plan_queries(Budget(10, "0.5"), accuracy=10**12, confidence=None)
    assert counts(plan)["Gaussian"] == MOST
    assert "at least 1,000,000,000 counts fit" in plan.advice
    assert "≥ 1,000,000,000" in str(plan)


@pytest.mark.parametrize("accuracy", ["1e9", "1e30"])
def test_of_noises_that_fit_as_many_queries_the_one_with_less_error_is_taken(accuracy: str) -> None:
    """All but Laplace, or all, reach the cap; only Gaussian noise grows with the root of k."""
    plan = plan_queries(BUDGET, accuracy=accuracy)
    assert counts(plan)["l_inf"] == counts(plan)["Gaussian"] == MOST
    assert plan.best.noise == "Gaussian"
    assert max(len(line) for line in str(plan).splitlines()[1:]) <= 80


def test_a_program_sees_which_numbers_of_queries_are_capped() -> None:
    capped = [row["at_least"] for row in plan_queries(BUDGET, accuracy="1e9").to_dict()["noises"]]
    assert capped == [False, True, True]
    assert not any(row["at_least"] for row in plan_queries(BUDGET, MOST).to_dict()["noises"])


def test_the_number_that_was_asked_for_is_no_bound() -> None:
    assert plan_queries(BUDGET, MOST).title == "1,000,000,000 counts within epsilon=1, delta=1e-06"
    assert least_epsilon(MOST, "1e12").title.startswith("1,000,000,000 counts, ")
    assert "at most 1e+30" in plan_queries(BUDGET, accuracy="1e30").title


def test_one_is_singular() -> None:
    assert plan_queries(BUDGET, 1).title.startswith("1 count within")
    assert "of 1 row, 0.5" in queries_below_sampling_error(BUDGET, 1).title


def test_the_repr_of_a_plan_is_one_line_of_what_was_asked_and_what_is_best() -> None:
    assert repr(plan_queries(BUDGET, 50)) == "<50 counts within epsilon=1, delta=1e-06: l_inf noise>"
    assert repr(plan_queries(BUDGET, accuracy="0.01")).endswith("at most 0.01: no noise>")


def test_a_plan_is_a_table_with_the_best_marked() -> None:
    plan = plan_queries(BUDGET, 50)
    lines = str(plan).splitlines()
    assert lines[0] == "50 counts within epsilon=1, delta=1e-06"
    assert lines[1].split("  ")[0] == "noise"
    assert [line.split()[0] for line in lines[2:5]] == ["Laplace", "l_inf", "Gaussian"]
    assert [line.endswith("*") for line in lines[2:5]] == [False, True, False]
    assert lines[-1] == "Take l_inf noise: each count is within 50.69 of the truth, with 95 % confidence."


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (plan_queries(BUDGET, accuracy=100), ("145 counts fit", "at most 100")),
        (plan_queries(Budget(1), accuracy=3), ("one count fits",)),
        (plan_queries(BUDGET, 5, simultaneous=True, sensitivity=2), ("at once", "up to 2")),
        (plan_queries(BUDGET, 5, confidence=None), ("standard deviation on each count is 3.742",)),
        (least_epsilon(50, 100, delta="1e-6"), ("epsilon 0.5069 is enough", "delta=1e-06")),
        (queries_below_sampling_error(BUDGET, 100_000), ("100,000 rows, 158.114", "1,400 counts fit")),
    ],
)
def test_a_plan_says_what_was_asked_and_what_to_take(plan: QueryPlan, words: tuple[str, ...]) -> None:
    assert all(word in str(plan) for word in words)


def test_a_plan_becomes_plain_values() -> None:
    document = json.loads(json.dumps(plan_queries(BUDGET, 50).to_dict()))
    assert document["budget"] == {"epsilon": "1", "delta": "1/1000000"}
    assert document["best"] == "l_inf"
    assert [row["noise"] for row in document["noises"]] == ["Laplace", "l_inf", "Gaussian"]
    assert [row["delta"] for row in document["noises"]] == ["0", "0", "1/1000000"]
    assert document["noises"][1]["mean_worst"] == pytest.approx(50)
    assert document["noises"][2]["law"].startswith("normal")


def test_a_plan_needs_exactly_one_of_queries_and_accuracy() -> None:
    for k, accuracy in ((None, None), (3, 3)):
        with pytest.raises(CatalogError, match="k or accuracy"):
            plan_queries(BUDGET, k, accuracy)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"k": 0}, "k"),
        ({"k": 1.5}, "k"),
        ({"accuracy": 0}, "accuracy"),
        ({"accuracy": -3}, "accuracy"),
        ({"accuracy": math.nan}, "accuracy"),
        ({"k": 10**9 + 1}, "k"),
        ({"accuracy": "1e-40"}, "accuracy"),
        ({"k": 3, "sensitivity": "1e40"}, "sensitivity"),
        ({"k": 3, "confidence": 1}, "confidence"),
        ({"k": 3, "sensitivity": 0}, "sensitivity"),
        ({"k": 3, "confidence": None, "simultaneous": True}, "simultaneous"),
    ],
)
def test_bad_input_is_refused_by_name(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(CatalogError, match=f"^{name} "):
        plan_queries(BUDGET, **wrong)


def test_bad_input_of_the_inverses_is_refused_by_name() -> None:
    with pytest.raises(CatalogError, match=r"^delta "):
        least_epsilon(3, 3, delta=1)
    with pytest.raises(CatalogError, match=r"^rows "):
        queries_below_sampling_error(BUDGET, 0)
    with pytest.raises(CatalogError, match=r"^rows "):
        queries_below_sampling_error(BUDGET, 10**19)
    with pytest.raises(CatalogError, match=r"^k must be at most 1,000,000,000 to plan with, not 1e\+300\.$"):
        least_epsilon(10**300, 3)
    with pytest.raises(CatalogError, match=r"^accuracy needs an epsilon above 1e9"):
        least_epsilon(10**6, "1e-6")


@pytest.mark.parametrize("epsilon", ["1e-13", "1e10"])
def test_an_epsilon_beyond_all_use_is_refused_by_name(epsilon: str) -> None:
    with pytest.raises(CatalogError, match=r"^epsilon must be between 1e-12 and 1e9"):
        plan_queries(Budget(epsilon), 3)


@pytest.mark.parametrize("epsilon", ["1e-12", "1e9"])
@pytest.mark.parametrize("delta", ["0", "1e-12", "0.999"])
def test_extreme_budgets_are_planned(epsilon: str, delta: str) -> None:
    plan = plan_queries(Budget(epsilon, delta), 10**6, simultaneous=True)
    assert all(math.isfinite(error) and error > 0 for error in errors(plan).values())


def test_a_budget_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(CatalogError, match=r"^budget "):
        plan_queries(1, 3)  # type: ignore[arg-type]
    with pytest.raises(CatalogError, match=r"^budget "):
        queries_below_sampling_error(1, 3)  # type: ignore[arg-type]
