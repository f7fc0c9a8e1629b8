"""The loss is split exactly, and as well as a search over all splits could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.depth import thinned
from tests.golden.cases import FILES, Case, plan_of, read_cases
from tests.golden.catalog import clinic

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Catalog, Source, Table
from jali.ir.aggregates import KeySet, Measure, SumValues
from jali.ir.estimators import LinearCombination, RatioEstimate
from jali.ir.expressions import Aggregate, Column, NamedTable, Output, Question
from jali.ir.relations import Scan
from jali.planner import Draft
from jali.planner.rules.split_loss import forecast_split, split_loss
from jali.planner.terms import QuestionTerms
from jali.privacy import Adjacency, Budget, Concentrated, Event, Loss, Pure

CASES = [case for path in FILES for case in read_cases(path)]


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    with clinic() as declared:
        yield declared.catalog


@thinned(4)
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


Shown = Sequence[tuple[int, int | None]]


def draft(measures: int, shown: Shown, loss: Loss) -> Draft:
    """A draft whose outputs are single measures (i, None) or ratios of two (i, j); all move by 1."""
    ends = Fraction(-1), Fraction(1)
    estimates = tuple(
        (
            Aggregate("sum", Column(f"c{k}")),
            RatioEstimate(LinearCombination(((above, Fraction(1)),)))
            if below is None
            else RatioEstimate(
                LinearCombination(((above, Fraction(1)),)),
                LinearCombination(((below, Fraction(1)),)),
                NumberInterval(*ends),
            ),
        )
        for k, (above, below) in enumerate(shown)
    )
    made: tuple[Measure, ...] = tuple(
        SumValues(Column(f"m{i}"), Kind.INTEGER, *ends, Fraction(0), Fraction(1)) for i in range(measures)
    )
    keys = (KeySet(Column("g"), Kind.TEXT, ("A", "B")),)
    table = Table("visits", Source("frame", ""), None, 1, Adjacency.ADD_REMOVE, (), Budget(1))
    question = Question(NamedTable("visits"), tuple(Output("x", a) for a, _ in estimates), group_by=(Column("g"),))
    return Draft(
        question, Catalog(()), QuestionTerms(loss), Scan(table), keys=keys, measures=made, estimates=estimates
    )


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
    # Few that matter much beside one that hardly does: not all of them should be together.
    (3, [(0, None)] * 500 + [(1, None)] * 500 + [(2, None)]),
    (3, [(0, None)] * 1000 + [(1, None), (2, None)]),
]


def error(weights: np.ndarray, shares: np.ndarray, block: tuple[int, ...], power: int) -> float:
    """The sum of importance times variance: 2/epsilon^2 or (d+1)(d+2)/3 over epsilon^2 together, 1/rho at rho."""
    if power == 1:
        return float(np.sum(weights / shares))
    d, together = len(block), np.isin(np.arange(len(weights)), block)
    alone = 2 * np.sum((weights / shares**2)[~together])
    return float(alone + (d + 1) * (d + 2) / 3 * weights[together].sum() / max(shares[together].sum(), 1e-9) ** 2)


def least(weights: np.ndarray, block: tuple[int, ...], power: int) -> float:
    found = minimize(
        lambda z: error(weights, np.exp(z) / np.exp(z).sum(), block, power),
        np.zeros(len(weights)),
        method="BFGS",
        options={"gtol": 1e-10},
    )
    return float(found.fun)


@thinned(4)
@pytest.mark.parametrize(("measures", "shown"), SHOWN)
@pytest.mark.parametrize(("loss", "power"), [(Pure(1), 2), (Concentrated(1), 1)])
def test_no_other_split_has_a_smaller_forecast_error(measures: int, shown: Shown, loss: Loss, power: int) -> None:
    """A search over all splits, and at a pure loss over all blocks that leave together."""
    weights = importance(measures, shown)
    split = split_loss(draft(measures, shown, loss))
    ours = np.array([float(share) for share in split.shares])
    sizes = range(2, measures + 1) if power == 2 else ()
    blocks = [(), *(block for size in sizes for block in combinations(range(measures), size))]
    best = min(least(weights, block, power) for block in blocks)
    assert ours.sum() == pytest.approx(1, abs=1e-12)
    assert error(weights, ours, split.together, power) <= best * (1 + 1e-5)
    # The scale of a forecast is that of the variance 2 / epsilon^2 or 1 / rho.
    assert forecast_split(draft(measures, shown, loss)) * power == pytest.approx(best, rel=1e-5)


def test_measures_that_hardly_matter_leave_apart() -> None:
    """Were all of them together, or none, the test above could not fail for a rule that ignores importance."""
    split = split_loss(draft(3, [(0, None)] * 500 + [(1, None)] * 500 + [(2, None)], Pure(1)))
    assert split.together == (0, 1)
    assert split.shares[0] == split.shares[1] > split.shares[2] > 0
    assert split_loss(draft(2, [(0, 1)], Pure(1))).together == (0, 1)
    # Nor do two that hardly matter join one that does.
    assert split_loss(draft(3, [(0, None)] * 1000 + [(1, None), (2, None)], Pure(1))).together == (1, 2)


def test_the_split_of_a_mean_at_rho_is_not_even() -> None:
    split = split_loss(draft(2, [(0, 1)], Concentrated(1)))
    above, below = split.shares
    assert split.together == ()
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
