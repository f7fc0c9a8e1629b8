"""Parallel composition: the rules, and all neighbours of small tables enumerated to show that they are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Any, cast

import pytest

from jali.errors import CatalogError
from jali.privacy import Adjacency, Approximate, BoundedRange, Concentrated, Event, Loss, Pure
from jali.privacy.composition.compose import compose
from jali.privacy.composition.parallel_composition import Largest, contenders, parallel
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.losses.laplace_loss import LaplaceLoss

Table = tuple[int, ...]
Law = dict[tuple[int, ...], Fraction]
ADD_REMOVE, REPLACE_ONE = "add-remove", "replace-one"


# Exact small mechanisms. An epsilon is given as its odds e^epsilon, a whole number, so that all is rational.


def noisy_count(count: int, odds: int, top: int) -> dict[int, Fraction]:
    """Geometric noise of ratio 1/odds, clamped to 0..top: exactly ln(odds)-DP for counts one apart."""
    ratio = Fraction(1, odds)
    inner = {y: (1 - ratio) / (1 + ratio) * ratio ** abs(y - count) for y in range(1, top)}
    return {0: ratio**count / (1 + ratio), **inner, top: ratio ** (top - count) / (1 + ratio)}


def released(counts: list[int], odds: list[int], top: int) -> Law:
    """The law of all parts' noisy counts, drawn independently."""
    laws = [noisy_count(count, odd, top).items() for count, odd in zip(counts, odds, strict=True)]
    return {tuple(y for y, _ in seen): _product(p for _, p in seen) for seen in product(*laws)}


def by_value(table: Table, parts: int) -> list[int]:
    """How many rows have each value."""
    return [table.count(value) for value in range(parts)]


def by_index(table: Table, parts: int) -> list[int]:
    """How many of the rows at positions i, i + parts, ... are not 0."""
    return [sum(value > 0 for value in table[part::parts]) for part in range(parts)]


def replaced(values: int, rows: int) -> Iterator[tuple[Table, Table]]:
    """All tables that differ in one row."""
    for table in product(range(values), repeat=rows):
        for row, value in product(range(rows), range(values)):
            yield table, (*table[:row], value, *table[row + 1 :])


def added(values: int, rows: int) -> Iterator[tuple[Table, Table]]:
    """All tables of which one has a row more."""
    for table in product(range(values), repeat=rows):
        yield table[:-1], table
        yield table, table[:-1]


def worst_odds(
    pairs: Iterator[tuple[Table, Table]], partition: Callable[[Table, int], list[int]], odds: list[int], top: int
) -> Fraction:
    """The largest ratio of probabilities of any output on any two neighbours."""
    worst = Fraction(0)
    for one, other in pairs:
        p, q = (released(partition(table, len(odds)), odds, top) for table in (one, other))
        worst = max(worst, *(p[y] / q[y] for y in p))
    return worst


def _product(values: Iterator[Fraction]) -> Fraction:
    result = Fraction(1)
    for value in values:
        result *= value
    return result


# A histogram with one epsilon per cell: odds 2, 3 and 5.

CELLS = [2, 3, 5]


def test_a_value_partition_costs_the_largest_when_a_row_is_added_or_removed() -> None:
    assert worst_odds(added(3, 2), by_value, CELLS, top=2) == 5


def test_a_value_partition_costs_the_two_largest_when_a_row_is_replaced() -> None:
    """The maximum (odds 5) fails; the two largest (odds 3 * 5) hold, and no less would."""
    assert worst_odds(replaced(3, 2), by_value, CELLS, top=2) == 15


def test_an_index_partition_costs_the_largest_when_a_row_is_replaced() -> None:
    assert worst_odds(replaced(2, 3), by_index, CELLS, top=1) == 5


def test_the_rules_give_those_losses() -> None:
    """The same three cells with epsilons 1, 2 and 3 instead of ln 2, ln 3 and ln 5."""
    cells = [Pure(1), Pure(2), Pure(3)]
    assert parallel(cells, partition="value", adjacency=ADD_REMOVE) == Pure(3)
    assert parallel(cells, partition="index", adjacency=REPLACE_ONE) == Pure(3)
    assert parallel(cells, partition="index", adjacency=Adjacency.ADD_REMOVE) == Pure(3)
    moved = parallel(cells, partition="value", adjacency=REPLACE_ONE)
    assert moved.event.epsilon == 5
    assert moved.epsilon(0) == 5
    assert moved.delta(5) == 0 < moved.delta(4.99)


def test_a_row_replaced_within_its_part_costs_twice_what_adding_it_costs() -> None:
    """Parts sum values of -1 and 1 with noise for one row more or less: replacing -1 by 1 is two steps.

    With losses ln 3 and ln 2 stated for add-remove, replace-one costs 2 ln 3 and not ln 3 + ln 2.
    """
    worst = Fraction(0)
    for one, other in product([(0, -1), (0, 1), (1, -1), (1, 1)], repeat=2):  # part and value of the only row
        laws = [released([1 + (p == part) * v for part in (0, 1)], [3, 2], top=2) for p, v in (one, other)]
        worst = max(worst, *(laws[0][y] / laws[1][y] for y in laws[0]))
    assert worst == 9
    stated = [Stated(3), Stated(2)]
    assert parallel(stated, partition="value", adjacency=REPLACE_ONE).event.epsilon == 6
    assert parallel([Pure(3), Pure(2)], partition="value", adjacency=REPLACE_ONE).event.epsilon == 5


@dataclass(frozen=True, repr=False, init=False)
class Stated(Pure):
    """A pure loss that names the adjacency it holds for."""

    @property
    def adjacency(self) -> Adjacency:
        return Adjacency.ADD_REMOVE


@dataclass(frozen=True, repr=False, init=False)
class Replacing(Pure):
    @property
    def adjacency(self) -> Adjacency:
        return Adjacency.REPLACE_ONE


def test_the_result_names_the_adjacency_it_holds_for() -> None:
    assert parallel([Stated(3), Stated(2)], partition="value", adjacency=REPLACE_ONE).adjacency == REPLACE_ONE
    assert parallel([Stated(3), Stated(2)], partition="value", adjacency=ADD_REMOVE).adjacency == ADD_REMOVE
    assert parallel([Pure(3), Pure(2)], partition="value", adjacency=REPLACE_ONE).adjacency is None


def test_losses_that_do_not_fit_the_adjacency_are_refused() -> None:
    with pytest.raises(CatalogError, match="adjacency"):
        parallel([Stated(1)], partition="index", adjacency=REPLACE_ONE)
    with pytest.raises(CatalogError, match="adjacency"):
        parallel([Stated(1), Replacing(1)], partition="index", adjacency=REPLACE_ONE)
    with pytest.raises(CatalogError, match=r"value partition.*adjacency 'replace-one'.*add-remove"):
        parallel([Replacing(1), Replacing(2)], partition="value", adjacency=REPLACE_ONE)


@pytest.mark.parametrize("partition", ["rows", "", None])
def test_a_partition_is_by_index_or_by_value(partition: Any) -> None:
    with pytest.raises(CatalogError, match="partition must be 'index' or 'value'"):
        parallel([Pure(1)], partition=partition, adjacency=ADD_REMOVE)


def test_an_unknown_adjacency_and_missing_parts_are_refused() -> None:
    with pytest.raises(CatalogError, match="adjacency must be"):
        parallel([Pure(1)], partition="index", adjacency="neighbours")
    with pytest.raises(CatalogError, match="losses is empty"):
        parallel([], partition="index", adjacency=ADD_REMOVE)
    with pytest.raises(CatalogError, match="losses must be losses"):
        parallel(cast(Any, [0.1]), partition="index", adjacency=ADD_REMOVE)
    with pytest.raises(CatalogError, match="losses is empty"):
        Largest([])


@pytest.mark.parametrize("kind", [Pure, Concentrated, BoundedRange])
def test_losses_of_one_kind_have_a_largest(kind: Callable[[float], Loss]) -> None:
    losses = [kind(amount) for amount in (0.2, 0.5, 0.1, 0.5, 0.3)]
    assert parallel(losses, partition="index", adjacency=ADD_REMOVE) == kind(0.5)
    moved = parallel(losses, partition="value", adjacency=REPLACE_ONE)
    assert moved == Largest([compose((kind(0.5), 2))])


def test_deltas_go_with_their_epsilons() -> None:
    small, large, odd = Approximate(1, 1e-9), Approximate(2, 1e-6), Approximate("1/2", 1e-3)
    assert parallel([small, large], partition="index", adjacency=ADD_REMOVE) == large
    mixed = parallel([small, large, odd], partition="index", adjacency=ADD_REMOVE)
    assert mixed == Largest([large, odd])
    assert mixed.event == Event(Fraction(2), Fraction(2), Fraction(1, 1000))
    moved = parallel([small, large], partition="value", adjacency=REPLACE_ONE)
    assert moved.event.delta == Fraction(1, 10**9) + Fraction(1, 10**6)


def test_losses_of_different_kinds_are_bounded_by_the_worst_at_each_point() -> None:
    mixed = parallel([Pure(1), Concentrated(0.05), GaussianLoss(5)], partition="index", adjacency=ADD_REMOVE)
    members = (Pure(1), Concentrated(0.05), GaussianLoss(5))
    for epsilon in (0.0, 0.5, 0.9, 1.0, 2.0):
        assert mixed.delta(epsilon) == max(loss.delta(epsilon) for loss in members)
    for delta in (1e-12, 1e-6, 0.01):
        assert mixed.epsilon(delta) == max(loss.epsilon(delta) for loss in members)
    assert mixed.renyi(2.0) == max(loss.renyi(2.0) for loss in members)
    assert mixed.event == Event(None, Fraction(1, 2))
    assert mixed.spreads() == ()


def test_a_filter_may_count_the_largest_of_each_number() -> None:
    """Whatever part a neighbour changes, its loss lies below (max epsilon, max delta) and below max rho."""
    members = [Approximate(1, 1e-3), Approximate("1/10", 1e-2), Pure(2)]
    event = Largest(members).event
    assert event.epsilon is not None
    whole = Approximate(event.epsilon, event.delta)
    for loss in members:
        assert all(loss.delta(e) <= whole.delta(e) for e in (0, 0.05, 0.5, 1, 1.5, 2, 3))
        assert loss.event.rho <= event.rho


def test_mixed_kinds_under_replace_one_are_bounded_by_the_worst_pair() -> None:
    losses = [Pure(1), Concentrated(0.05), Pure(2)]
    moved = parallel(losses, partition="value", adjacency=REPLACE_ONE)
    pairs = [compose(Pure(1), Pure(2)), compose(Pure(1), losses[1]), compose(Pure(2), losses[1])]
    for delta in (1e-9, 1e-3):
        assert moved.epsilon(delta) == max(pair.epsilon(delta) for pair in pairs)


def test_many_parts_without_an_order_are_bounded_together() -> None:
    losses = [LaplaceLoss(scale) for scale in range(1, 13)]
    moved = parallel(losses, partition="value", adjacency=REPLACE_ONE)
    assert moved == Largest([compose((Largest(losses), 2))])
    assert moved.event.epsilon == 2


def test_a_group_may_touch_several_parts() -> None:
    """Two people in two parts: the chain of both, not the maximum of groups within one part."""
    mixed = Largest([Pure(1), Concentrated(0.05)])
    assert mixed.group(1) is mixed
    two = mixed.group(2)
    assert two.event == Event(None, Fraction(2))
    for epsilon in (0.5, 1.0, 2.0, 3.0, 4.0):
        truth = 1 / (1 + math.e)
        exact = (1 - truth) * gaussian_delta(epsilon - 1, 0.05) + truth * gaussian_delta(epsilon + 1, 0.05)
        assert two.delta(epsilon) >= exact


def gaussian_delta(epsilon: float, rho: float) -> float:
    """Balle and Wang 2018, Theorem 8, for Gaussian noise of a given rho."""
    stddev = 1 / math.sqrt(2 * rho)
    phi = NormalDist().cdf
    return phi(0.5 / stddev - epsilon * stddev) - math.exp(epsilon) * phi(-0.5 / stddev - epsilon * stddev)


def test_a_part_keeps_its_distribution_in_a_larger_composition() -> None:
    moved = parallel([LaplaceLoss(10), LaplaceLoss(10)], partition="value", adjacency=REPLACE_ONE)
    whole = compose((moved, 50))
    assert whole.epsilon(1e-6) == pytest.approx(4.69267, abs=1e-4)
    assert parallel([LaplaceLoss(1)] * 2, partition="index", adjacency=ADD_REMOVE).spreads()


def test_the_losses_that_few_others_exceed_are_kept() -> None:
    losses = [Pure(1), Pure(3), Pure(2), Pure(3), Concentrated(1), Concentrated(2)]
    assert contenders(losses, 1) == [Pure(3), Concentrated(2)]
    assert contenders(losses, 2) == [Pure(3), Pure(3), Concentrated(1), Concentrated(2)]
    assert contenders(reversed(losses), 2) == [Concentrated(2), Concentrated(1), Pure(3), Pure(3)]
    assert contenders([Pure(i) for i in range(1, 3000)], 1) == [Pure(2999)]


def test_the_largest_is_shown_with_its_losses() -> None:
    assert repr(Largest([Pure(1), Concentrated(2)])) == "Largest(Concentrated(2), Pure(1))"
