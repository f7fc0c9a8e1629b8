"""The loss is split exactly, and as well as a search over all splits could."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.golden.cases import FILES, Case, plan_of, read_cases
from tests.golden.catalog import clinic

from jali.planner import Draft
from jali.planner.split_loss import split_loss
from jali.planner.terms import Terms
from jali.privacy import Concentrated, Event, Loss, Pure
from jali.query.aggregation import CountRows, Measure
from jali.query.catalog import Catalog
from jali.query.estimate import Estimate, Linear
from jali.query.nodes import Aggregate, Column, Named, Output, Question

CASES = [case for path in FILES for case in read_cases(path)]


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    with clinic() as declared:
        yield declared.catalog


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_the_shares_of_a_plan_sum_to_its_cost_exactly(case: Case, catalog: Catalog) -> None:
    plan = plan_of(case, catalog)
    total = reduce(Event.__add__, plan.events)
    amount = total.rho if plan.cost.kind == "rho" else total.amount
    # Picks one after the other are one release.
    assert amount == plan.cost.amount or any(draw.picks > 1 for part in plan.parts for draw in part.draws)
    assert total.delta == plan.cost.delta
    assert all(event.amount > 0 for event in plan.events)
    # The square of a sum is more than the sum of squares: a split never costs more zCDP than the whole.
    assert plan.cost.epsilon is None or plan.cost.rho <= plan.cost.epsilon**2 / 2


Shown = list[tuple[int, int | None]]


def draft(measures: int, shown: Shown, loss: Loss) -> Draft:
    """A draft whose outputs are single measures (i, None) or ratios of two (i, j)."""
    estimates = tuple(
        (
            Aggregate("sum", Column(f"c{k}")),
            Estimate(Linear(((above, Fraction(1)),)), None if below is None else Linear(((below, Fraction(1)),))),
        )
        for k, (above, below) in enumerate(shown)
    )
    made: tuple[Measure, ...] = tuple(CountRows(Column(f"m{i}")) for i in range(measures))
    question = Question(Named("visits"), tuple(Output("x", a) for a, _ in estimates))
    return Draft(question, Catalog(()), Terms(loss), measures=made, estimates=estimates)


def importance(measures: int, shown: Shown) -> np.ndarray:
    weights = np.zeros(measures)
    for above, below in shown:
        weights[above] += 1
        if below is not None:
            weights[below] += 1 / 3
    return weights


SHOWN: list[tuple[int, Shown]] = [
    (1, [(0, None)]),
    (2, [(0, None), (1, None)]),
    (2, [(0, 1)]),
    (2, [(0, 1), (1, None)]),
    (3, [(0, 1), (1, None), (2, None)]),
    (4, [(0, 3), (1, 3), (2, 3), (3, None)]),
]


@pytest.mark.parametrize(("measures", "shown"), SHOWN)
@pytest.mark.parametrize(("loss", "power"), [(Pure(1), 2), (Concentrated(1), 1)])
def test_no_other_split_has_a_smaller_forecast_error(measures: int, shown: Shown, loss: Loss, power: int) -> None:
    """The error is the sum of importance / epsilon^2 (Laplace) or importance / rho (Gaussian)."""
    weights = importance(measures, shown)

    def error(shares: np.ndarray) -> float:
        return float(np.sum(weights / shares**power))

    split = split_loss(draft(measures, shown, loss))
    ours = np.array([float(share) for share in split.shares])
    best = minimize(
        lambda z: error(np.exp(z) / np.exp(z).sum()), np.zeros(measures), method="BFGS", options={"gtol": 1e-10}
    )
    assert ours.sum() == pytest.approx(1, abs=1e-12)
    assert error(ours) <= float(best.fun) * (1 + 1e-5)


def test_the_split_of_a_mean_is_not_even() -> None:
    """Were it even, the test above could not fail for a rule that ignores importance."""
    split = split_loss(draft(2, [(0, 1)], Pure(1)))
    above, below = split.shares
    assert above / below == pytest.approx(3 ** (1 / 3), rel=1e-3)
    split = split_loss(draft(2, [(0, 1)], Concentrated(1)))
    above, below = split.shares
    assert above / below == pytest.approx(3**0.5, rel=1e-3)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=12),
    st.fractions(min_value=Fraction(1, 10**6), max_value=100),
    st.booleans(),
)
def test_any_split_sums_to_the_loss_exactly(counts: list[int], amount: Fraction, pure: bool) -> None:
    shown: Shown = [(i, None) for i, count in enumerate(counts) for _ in range(count)]
    loss = Pure(amount) if pure else Concentrated(amount)
    split = split_loss(draft(len(counts), shown, loss))
    parts = [amount * share for share in split.shares]
    assert sum(parts) == amount
    assert min(parts) > 0
