"""The sums that a regression releases, and how far one person moves them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jali.mechanisms.regression.normal_equations import NormalEquations
from jali.privacy.adjacency import Adjacency

CASES = [(features, intercept) for features in (1, 2, 3) for intercept in (False, True)]


def _shares(equations: NormalEquations, grain: int) -> np.ndarray:
    """Return the sums of every table of one person."""
    features = equations.terms - equations.intercept
    people = itertools.product(range(-grain, grain + 1), repeat=features + 1)
    return np.array([equations.sums(np.array([person])) for person in people], np.float64)


@pytest.mark.parametrize(("features", "intercept"), CASES)
@pytest.mark.parametrize("grain", [1, 2])
def test_one_person_who_comes_moves_the_sums_by_just_the_sensitivity(
    features: int, intercept: bool, grain: int
) -> None:
    equations = NormalEquations(features + intercept, intercept, Adjacency.ADD_REMOVE, grain)
    assert (_shares(equations, grain) ** 2).sum(axis=1).max() == equations.squared_sensitivity


@pytest.mark.parametrize(("features", "intercept"), CASES)
@pytest.mark.parametrize("grain", [1, 2])
def test_one_person_replaced_moves_the_sums_by_just_the_sensitivity(
    features: int, intercept: bool, grain: int
) -> None:
    equations = NormalEquations(features + intercept, intercept, Adjacency.REPLACE_ONE, grain)
    shares = _shares(equations, grain)
    sizes = (shares**2).sum(axis=1)
    distances = sizes[:, None] + sizes[None, :] - 2 * shares @ shares.T
    assert distances.max() == equations.squared_sensitivity


def test_the_sensitivities_are_below_those_of_the_paper() -> None:
    """Wang 2018 bounds ||x x'||_F by X^2 and ||x y|| by X Y, where here X^2 = p and Y = 1; replacing doubles."""
    for terms in range(1, 12):
        added = NormalEquations(terms, False, Adjacency.ADD_REMOVE, 1).squared_sensitivity
        replaced = NormalEquations(terms, False, Adjacency.REPLACE_ONE, 1).squared_sensitivity
        assert added == (terms**2 + terms) // 2 + terms <= terms**2 + terms
        assert replaced <= 2 * terms**2 + 4 * terms
        assert replaced <= 4 * added


def test_sums_are_rebuilt_into_the_normal_equations() -> None:
    marks = np.random.default_rng(5).integers(-8, 9, (40, 3))
    rows = np.column_stack([np.ones(40), marks[:, :2] / 8])
    for adjacency in Adjacency:
        equations = NormalEquations(3, True, adjacency, 8)
        left, right = equations.matrices(tuple(equations.sums(marks).tolist()), 40)
        assert left == pytest.approx(rows.T @ rows)
        assert right == pytest.approx(rows.T @ (marks[:, 2] / 8))


def test_the_number_of_people_is_released_only_where_it_is_not_public() -> None:
    lengths = [NormalEquations(2, True, adjacency, 8).length for adjacency in Adjacency]
    assert lengths == [5, 4]
    assert NormalEquations(2, False, Adjacency.REPLACE_ONE, 8).length == 5
