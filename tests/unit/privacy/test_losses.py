"""Adjacency, losses, events and budgets: exact values, and refusals of what makes no sense."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from jali.errors import CatalogError
from jali.privacy import NOTHING, Adjacency, Approximate, Budget, Concentrated, Event, Pure


def test_adjacency_is_read_from_its_name() -> None:
    assert Adjacency.of("add-remove") is Adjacency.ADD_REMOVE
    assert Adjacency.of("replace-one") is Adjacency.REPLACE_ONE
    assert Adjacency.of(Adjacency.REPLACE_ONE) is Adjacency.REPLACE_ONE


@pytest.mark.parametrize("name", ["", "ADD-REMOVE", "add_remove", "substitute"])
def test_an_unknown_adjacency_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(CatalogError, match="'add-remove' or 'replace-one'"):
        Adjacency.of(name)


def test_a_pure_loss_counts_epsilon_and_half_its_square() -> None:
    assert Pure(0.1).event == Event(Fraction(1, 10), Fraction(1, 200), Fraction(0))


def test_a_concentrated_loss_has_no_pure_part() -> None:
    assert Concentrated("1/8").event == Event(None, Fraction(1, 8), Fraction(0))


def test_an_approximate_loss_keeps_its_delta() -> None:
    assert Approximate(1, 1e-6).event == Event(Fraction(1), Fraction(1, 2), Fraction(1, 10**6))


def test_events_add_up_part_by_part() -> None:
    total = Pure(0.1).event + Approximate("1/3", "1e-9").event
    assert total == Event(Fraction(13, 30), Fraction(1, 200) + Fraction(1, 18), Fraction(1, 10**9))


def test_a_sum_with_a_gaussian_event_has_no_pure_part() -> None:
    total = Pure(1).event + Concentrated(0.5).event
    assert total == Event(None, Fraction(1))
    assert (total + Pure(1).event).epsilon is None


def test_nothing_is_the_neutral_event() -> None:
    for event in (Pure(2).event, Concentrated(2).event, Approximate(2, 0.5).event):
        assert NOTHING + event == event + NOTHING == event


def test_an_event_is_shown_in_its_own_unit() -> None:
    assert (str(Pure(0.1).event), Pure(0.1).event.kind) == ("epsilon 0.1", "epsilon")
    assert (str(Concentrated(0.02).event), Concentrated(0.02).event.kind) == ("rho 0.02", "rho")
    assert str(Approximate(1, 1e-6).event) == "epsilon 1, delta 1e-06"
    assert Concentrated(0.02).event.amount == Fraction(1, 50)
    assert Pure(0.02).event.amount == Fraction(1, 50)


@pytest.mark.parametrize("loss", [Pure, Concentrated, lambda x: Approximate(x, 0), Budget])
@pytest.mark.parametrize("amount", [0, -1, math.nan, math.inf, True, "x", None])
def test_a_loss_or_budget_that_is_not_a_positive_number_is_refused(
    loss: Callable[[Any], Any], amount: Any
) -> None:
    with pytest.raises(CatalogError, match=r"epsilon|rho"):
        loss(amount)


@pytest.mark.parametrize("delta", [-1e-9, 1, 2, math.nan, "x"])
def test_a_delta_outside_of_zero_to_one_is_refused(delta: Any) -> None:
    with pytest.raises(CatalogError, match="delta"):
        Budget(1, delta)
    with pytest.raises(CatalogError, match="delta"):
        Approximate(1, delta)


def test_half_of_delta_is_set_aside_for_events_unless_said_otherwise() -> None:
    assert Budget(3, 1e-6).delta_events == Fraction(1, 2 * 10**6)
    assert Budget(3, 1e-6, delta_events=0).delta_events == 0
    assert Budget(3, 1e-6, delta_events=1e-6).delta_events == Fraction(1, 10**6)
    assert Budget(3).delta_events == Budget(3).delta == 0


@pytest.mark.parametrize("part", [2e-6, -1e-9, 1])
def test_the_part_for_events_lies_between_zero_and_delta(part: Any) -> None:
    with pytest.raises(CatalogError, match="delta_events"):
        Budget(3, 1e-6, delta_events=part)


def test_budgets_are_equal_when_their_numbers_are() -> None:
    assert Budget(0.5, 1e-6) == Budget("1/2", "0.000001") != Budget(0.5, 1e-6, delta_events=0)
    assert repr(Budget(3, 1e-6)) == "Budget(epsilon=3, delta=1e-06)"


def test_a_budget_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Budget(1).epsilon = Fraction(100)  # type: ignore[misc]
