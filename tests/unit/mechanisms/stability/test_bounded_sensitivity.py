"""A noisy bound of the local sensitivity, then noise for it: privacy over all small tables, margins, errors."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.divergences import hockey_stick
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.smooth.order_statistics import Median
from jali.mechanisms.stability.bounded_sensitivity import Bounded, BoundedSensitivity, Measured, shared_pairs
from jali.privacy.adjacency import Adjacency

TABLES = [sizes for sizes in itertools.product(range(5), repeat=3) if sum(sizes) <= 6]


def _pairs(sizes: tuple[int, ...]) -> int:
    people = [key for key, size in enumerate(sizes) for _ in range(size)]
    return sum(a == b for a, b in itertools.combinations(people, 2))


def _near(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    changed = ((*sizes[:i], sizes[i] + by, *sizes[i + 1 :]) for i in range(len(sizes)) for by in (-1, 1))
    return [near for near in changed if min(near) >= 0]


def test_shared_pairs_and_their_local_sensitivity_equal_brute_force() -> None:
    for sizes in TABLES:
        found = shared_pairs(dict(enumerate(sizes)))
        assert found.value == _pairs(sizes)
        assert found.local == max(abs(_pairs(near) - _pairs(sizes)) for near in _near(sizes))
        listed = [key for key, size in enumerate(sizes) for _ in range(size)]
        assert shared_pairs(listed) == found


def test_the_local_sensitivity_of_shared_pairs_drifts_by_one() -> None:
    drifts = {
        abs(shared_pairs(dict(enumerate(near))).local - shared_pairs(dict(enumerate(sizes))).local)
        for sizes in TABLES
        for near in _near(sizes)
    }
    assert drifts == {0, 1}


@pytest.mark.parametrize(
    ("epsilon", "share", "delta"), [("2", "1/2", "1/10"), ("4", "1/4", "1/50"), ("1", "3/4", "1/5")]
)
def test_all_small_tables_are_as_close_as_claimed(epsilon: str, share: str, delta: str) -> None:
    mechanism = BoundedSensitivity(
        drift=1, epsilon=epsilon, delta=delta, bound_share=share, low=0, high=12, step=1
    )
    laws = {sizes: mechanism.log_masses(shared_pairs(dict(enumerate(sizes)))) for sizes in TABLES}
    for sizes, law in laws.items():
        for near in _near(sizes):
            if near in laws:
                assert hockey_stick(law, laws[near], float(Fraction(epsilon))) <= float(Fraction(delta)) + 1e-12


@pytest.mark.parametrize(
    ("drift", "epsilon", "delta"), [(1, 2, "1e-6"), (3, 1, "1/100"), (1, 8, "1e-30"), (7, "1/3", "1/3")]
)
def test_the_margin_is_the_least_that_fails_with_probability_delta(drift: int, epsilon: Any, delta: str) -> None:
    mechanism = BoundedSensitivity(drift=drift, epsilon=epsilon, delta=delta, low=0, high=10**6, step=1)
    with mpmath.workdps(60):
        q = mpmath.exp(-mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator / 2 / drift)
        failure = mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator

        def below(margin: int) -> Any:
            return q ** (margin + 1) / (1 + q)

        assert below(mechanism.margin) <= failure
        assert mechanism.margin == 0 or below(mechanism.margin - 1) > failure


def test_on_a_fine_lattice_the_margin_is_that_of_the_theorem_book() -> None:
    """Section 6: g ln(1/(2 delta))/epsilon_1."""
    mechanism = BoundedSensitivity(drift=1, epsilon=2, delta="1e-6", low=0, high=1000, step="1e-6")
    assert mechanism.margin * 1e-6 == pytest.approx(math.log(1 / 2e-6), abs=2e-6)


def test_a_smaller_margin_would_fail_more_often_than_delta() -> None:
    """Values as far apart as the local sensitivity: the bound alone must not fall below it more than delta."""
    mechanism = BoundedSensitivity(drift=1, epsilon=4, delta="1/20", low=0, high=12, step=1)
    law = mechanism.log_masses(Measured(0, 6))
    short = math.fsum(math.exp(mass) for (_, bound), mass in law.items() if bound < 6)
    once_more = math.fsum(math.exp(mass) for (_, bound), mass in law.items() if bound < 7)
    assert short <= 0.05 < once_more


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_statistic_is_as_private_as_claimed(adjacency: Adjacency) -> None:
    """The local sensitivity of a median can drift by the whole range; private it is all the same."""
    median = Median(low=0, high=3, step=1, adjacency=adjacency)
    mechanism = BoundedSensitivity(statistic=median, drift=3, epsilon=2, delta="1/10")
    sizes = range(5) if adjacency is Adjacency.ADD_REMOVE else range(4, 5)
    every = [t for size in sizes for t in itertools.combinations_with_replacement(range(4), size)]
    laws = {table: mechanism.log_masses(table) for table in every}
    wanted = {(1, 1)} if adjacency is Adjacency.REPLACE_ONE else {(0, 1), (1, 0)}
    for one, other in itertools.product(every, repeat=2):
        apart = (Counter(one) - Counter(other)).total(), (Counter(other) - Counter(one)).total()
        if apart in wanted:
            assert hockey_stick(laws[one], laws[other], 2) <= 0.1 + 1e-12


def test_a_statistic_takes_tables_and_measured_values_alike() -> None:
    median = Median(low=0, high=9, step=1, adjacency="replace-one")
    mechanism = BoundedSensitivity(statistic=median, drift=9, epsilon=2, delta="1/10")
    column = median.read([1, 4, 6])
    measured = Measured(median.value(column), median.local(column))
    assert measured == (4, 3)
    assert mechanism.log_masses([1, 4, 6]) == mechanism.log_masses(measured)


def test_the_released_bound_holds_except_with_probability_delta() -> None:
    for local in (0, 1, 5, 11, 12):
        mechanism = BoundedSensitivity(drift=2, epsilon=3, delta="1/30", low=0, high=12, step=1)
        law = mechanism.log_masses(Measured(3, local))
        assert math.fsum(math.exp(mass) for (_, bound), mass in law.items() if bound < local) <= 1 / 30


def test_releases_have_the_law_of_value_and_bound() -> None:
    """20,000 draws, each cell within six standard deviations and a draw or two: false alarms below 1e-6."""
    mechanism = BoundedSensitivity(drift=1, epsilon=4, delta="1/20", low=0, high=5, step=1)
    drawn = Counter(mechanism.sample(Measured(2, 1), 20_000, bits=SeededBits(9)))
    law = mechanism.log_masses(Measured(2, 1))
    assert set(drawn) <= set(law)
    for output, mass in law.items():
        chance = math.exp(mass)
        assert abs(drawn[output] / 20_000 - chance) <= 6 * math.sqrt(chance / 20_000) + 4e-4


def test_given_the_bound_the_noise_has_scale_bound_over_epsilon() -> None:
    mechanism = BoundedSensitivity(drift=1, epsilon=4, delta="1/20", low=0, high=9, step=1)
    law = mechanism.log_masses(Measured(4, 2))
    for bound in range(1, 10):
        assert law[5, bound] - law[4, bound] == pytest.approx(-2 / bound)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_error_bounds_the_exact_quantile_and_not_by_far(confidence: float) -> None:
    mechanism = BoundedSensitivity(drift=1, epsilon=6, delta="1/20", low=0, high=60, step=1)
    law = mechanism.log_masses(Measured(30, 2))
    claimed = mechanism.error(confidence, local=2)
    inside = math.fsum(math.exp(mass) for (value, _), mass in law.items() if abs(value - 30) <= claimed)
    assert inside >= confidence
    exact = next(
        t
        for t in range(61)
        if math.fsum(math.exp(mass) for (value, _), mass in law.items() if abs(value - 30) <= t) >= confidence
    )
    assert claimed <= 2 * exact + 2


def test_without_a_local_sensitivity_the_error_is_that_of_the_worst_table() -> None:
    mechanism = BoundedSensitivity(drift=1, epsilon=6, delta="1/20", low=0, high=60, step=1)
    assert mechanism.error(0.9) == mechanism.error(0.9, local=60) >= mechanism.error(0.9, local=2)
    assert mechanism.error(0.9999999) <= 60


def test_many_pairs_are_told_far_better_than_with_noise_for_all_tables() -> None:
    """Of 10,000 people in groups of ten, one more could make 10,000 pairs; here one makes ten."""
    mechanism = BoundedSensitivity(drift=1, epsilon=1, delta="1e-6", low=0, high=5 * 10**7, step=1)
    assert mechanism.error(0.95, local=10) < 600 < 10**4 * math.log(20)


@pytest.mark.parametrize(
    "local",
    [
        *(math.nan, math.inf, -math.inf, -3, 0, 10**400, Fraction(1, 3)),
        *map(Decimal, ("1e9999999", "sNaN", "-1e-9999999", "1e-9999999", "-inf")),
        *(np.float32(2.5), np.int8(3), np.longdouble(1)),
    ],
)
def test_no_local_sensitivity_is_refused_for_its_value(local: Any) -> None:
    released = BoundedSensitivity(drift=1, epsilon=4, delta="1/20", low=0, high=9, step=1).release(
        Measured(3, local)
    )
    assert isinstance(released, Bounded)
    assert 0 <= released.value <= 9
    assert 1 <= released.bound <= 9


@pytest.mark.parametrize(
    ("local", "steps"),
    [
        *((math.nan, 9), (math.inf, 9), (-math.inf, 0), (2.25, 3), (-1, 0), (4, 4)),
        *((Decimal("nan"), 9), (Decimal("1e-9999999"), 1), (Decimal("1e9999999"), 9), (Decimal("-inf"), 0)),
    ],
)
def test_local_sensitivities_are_rounded_up_within_the_range(local: Any, steps: int) -> None:
    mechanism = BoundedSensitivity(drift=1, epsilon=4, delta="1/20", low=0, high=9, step=1)
    assert mechanism._read(Measured(3, local))[1] == steps


@pytest.mark.parametrize(
    "value",
    [Measured("x", 1), Measured(1, "x"), Measured(1, None), (1, 2), 3, Measured(1, np.timedelta64(5, "s"))],
)
def test_values_are_refused_for_their_types(value: Any) -> None:
    with pytest.raises(MechanismError):
        BoundedSensitivity(drift=1, epsilon=4, delta="1/20", low=0, high=9, step=1).release(value)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"drift": 0}, "drift"),
        ({"bound_share": 1}, "bound_share"),
        ({"delta": 0}, "delta"),
        ({"high": -1}, "high"),
        ({"epsilon": "1e-300"}, "scale"),
        ({"statistic": 3}, "statistic"),
    ],
)
def test_bad_parameters_are_refused_by_name(given: dict[str, Any], name: str) -> None:
    with pytest.raises(MechanismError, match=rf"\b{name}\b"):
        BoundedSensitivity(**{"drift": 1, "epsilon": 4, "delta": "1/20", "low": 0, "high": 9, "step": 1, **given})
