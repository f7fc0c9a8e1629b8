"""Linear regression from noisy sums."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.regression.adaptive_regression import AdaptiveRegression
from jali.mechanisms.regression.column_axes import read_table
from jali.mechanisms.regression.normal_equations import UNBOUNDED, fit
from jali.privacy.adjacency import Adjacency
from jali.privacy.conversions import largest_rho

Table = NDArray[np.float64]
SIZES = 400 * DEPTH


def _people(count: int, spread: float, seed: int = 4) -> Table:
    """Two features in [0, 10] and [0, 1] with so much spread, and a target in [-5, 5]."""
    generator = np.random.default_rng(seed)
    x = np.clip(5 + 5 * spread * generator.standard_normal(count), 0, 10)
    z = np.clip(0.5 + 0.5 * spread * generator.standard_normal(count), 0, 1)
    y = np.clip(0.5 * (x - 5) + 2 * (z - 0.5) + generator.standard_normal(count), -5, 5)
    return np.column_stack([x, z, y])


def _model(rho: Any, adjacency: str | Adjacency) -> AdaptiveRegression:
    return AdaptiveRegression(features=((0, 10), (0, 1)), target=(-5, 5), rho=rho, adjacency=adjacency)


def _least_squares(mechanism: AdaptiveRegression, table: Table) -> NDArray[np.float64]:
    """Ordinary least squares on the data as the mechanism reads them: intercept first."""
    marks = read_table(table, mechanism.axes)
    *columns, target = (
        float(axis.middle) + float(axis.half) * marks[:, i] / mechanism.grain
        for i, axis in enumerate(mechanism.axes)
    )
    design = np.column_stack([np.ones(len(marks)), *columns])
    return np.asarray(np.linalg.lstsq(design, target, rcond=None)[0])


def _fits(mechanism: AdaptiveRegression, table: Table, count: int, seed: int = 9) -> list[Any]:
    """Draw many fits at once."""
    people = len(table) if mechanism.equations.knows_people else None
    drawn = mechanism.sample(table, count, bits=SeededBits(seed))
    return [fit(mechanism.equations, mechanism.axes, row, mechanism.stddev, people) for row in drawn]  # type: ignore[arg-type]


def test_the_noise_has_the_law_of_the_discrete_gaussian() -> None:
    """Masses against mpmath's theta function; draws of the sums of one person against these masses."""
    mechanism = AdaptiveRegression.specimens()[0].mechanism
    assert isinstance(mechanism, AdaptiveRegression)
    variance = Fraction(mechanism.equations.squared_sensitivity) / (2 * mechanism.rho)
    assert variance == Fraction(1, 2)
    total = mpmath.jtheta(3, 0, mpmath.exp(-1 / (2 * mpmath.mpf(1) / 2)))
    for (a, b), log in mechanism.log_masses([(1, -1)]).items():
        wanted = -((a - 1) ** 2 + (b + 1) ** 2) - 2 * mpmath.log(total)
        assert log == pytest.approx(float(wanted), rel=1e-9, abs=1e-12)
    drawn = Counter(mechanism.release([(1, -1)], bits=SeededBits(i)).sums for i in range(300))
    assert abs(drawn[1, -1] / 300 - float(1 / total**2)) < 0.2  # seven standard deviations


def test_the_fit_without_noise_to_speak_of_is_least_squares() -> None:
    table = _people(2000, 0.4)
    for adjacency in Adjacency:
        mechanism = _model(10**9, adjacency)
        released = mechanism.release(table, bits=SeededBits(1))
        exact = _least_squares(mechanism, table)
        assert released.ridge == 0
        assert (released.intercept, *released.coefficients) == pytest.approx(tuple(exact), abs=1e-3)
        assert released.predict((5.0, 0.5)) == pytest.approx(float(exact @ [1, 5, 0.5]), abs=1e-3)


def test_without_an_intercept_the_plane_passes_through_the_origin() -> None:
    mechanism = AdaptiveRegression(
        features=((0, 4),), target=(0, 12), rho=10**9, adjacency="add-remove", intercept=False
    )
    released = mechanism.release([(x, 3 * x) for x in (1, 2, 3, 4)] * 50, bits=SeededBits(1))
    assert released.intercept is None
    assert released.intercept_interval(0.9) is None
    assert released.coefficients[0] == pytest.approx(3, abs=1e-3)
    assert len(released.interval(0.9)) == 1


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_error_falls_as_one_over_the_number_of_people(adjacency: Adjacency) -> None:
    mechanism = _model("0.5", adjacency)
    errors = []
    for count in (2000, 8000, 32000):
        table = _people(count, 0.4)
        exact = _least_squares(mechanism, table)[1:]
        fits = _fits(mechanism, table, 200)
        errors.append(np.sqrt(np.mean([(np.array(f.coefficients) - exact) ** 2 for f in fits], axis=0)))
    for fewer, more in itertools.pairwise(errors):
        assert (fewer / more > 2.8).all()
        assert (fewer / more < 5.6).all()


@thinned(4)
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize(("count", "rho", "spread"), [(1000, "0.02", 0.5), (1000, 1, 0.5), (10000, "0.1", 0.15)])
def test_intervals_cover_least_squares_on_the_clamped_data(
    adjacency: Adjacency, count: int, rho: Any, spread: float
) -> None:
    """Coverage at 0.95 is at least 0.93, less six standard deviations of the simulation."""
    mechanism, table = _model(rho, adjacency), _people(count, spread)
    exact = _least_squares(mechanism, table)
    covered = np.zeros(3)
    for released in _fits(mechanism, table, SIZES):
        intervals = (released.intercept_interval(0.95), *released.interval(0.95))
        covered += [low <= wanted <= high for (low, high), wanted in zip(intervals, exact, strict=True)]
    assert (covered / SIZES >= 0.93 - 6 * math.sqrt(0.05 * 0.95 / SIZES)).all()


def test_intervals_cover_where_they_are_only_sometimes_given() -> None:
    """Near the limit two thirds of the fits have intervals: of these at least 0.93 cover, less six deviations."""
    mechanism, table = _model("0.0087", "add-remove"), _people(1000, 0.5)
    exact = _least_squares(mechanism, table)
    given = [released for released in _fits(mechanism, table, 2 * SIZES) if released.covariance]
    assert 0.4 < len(given) / (2 * SIZES) < 0.9
    hits = [[low <= w <= high for (low, high), w in zip(f.interval(0.95), exact[1:], strict=True)] for f in given]
    assert (np.mean(hits, axis=0) >= 0.93 - 6 * math.sqrt(0.05 * 0.95 / len(given))).all()


def test_intervals_are_as_wide_as_the_errors_are() -> None:
    mechanism, table = _model(1, "add-remove"), _people(4000, 0.4)
    fits = _fits(mechanism, table, 400)
    spread = np.std([f.coefficients for f in fits], axis=0)
    claimed = np.sqrt([fits[0].covariance[i][i] for i in (1, 2)])
    assert claimed == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("table", [[], [(5, 0.5, 1)], [(5, 0.5, 1)] * 3000])
def test_intervals_are_unbounded_where_the_data_do_not_determine_the_plane(table: Any) -> None:
    released = _model("0.1", "add-remove").release(table, bits=SeededBits(3))
    assert released.ridge > 0
    assert released.interval(0.5) == (UNBOUNDED, UNBOUNDED)
    assert released.intercept_interval(0.5) == UNBOUNDED
    assert all(map(math.isfinite, released.coefficients))


@thinned(4)
@pytest.mark.parametrize(
    ("count", "spread", "share"), [(1000, 0.5, 0.8), (10000, 0.3, 0.8), (1000, 0.1, 1.05), (300, 0.2, 1.05)]
)
def test_it_is_no_less_accurate_than_adassp_with_a_third_spent_on_the_least_eigenvalue(
    count: int, spread: float, share: float
) -> None:
    """Wang 2018, AdaSSP, in zCDP with the paper's sensitivities; where noise prevails little can be won."""
    mechanism, table = _model("0.1", "add-remove"), _people(count, spread)
    rows = np.column_stack([np.ones(count), (table[:, 0] - 5) / 5, (table[:, 1] - 0.5) / 0.5])
    left, right = rows.T @ rows, rows.T @ (table[:, 2] / 5)
    exact = np.linalg.solve(left, right)
    ours = [_scaled_error(f, exact) for f in _fits(mechanism, table, 2000)]
    generator = np.random.default_rng(8)
    theirs = [float(((_adassp(left, right, 0.1, generator) - exact) ** 2).sum()) for _ in range(2000)]
    assert np.mean(ours) <= share * np.mean(theirs)


def _scaled_error(released: Any, exact: NDArray[np.float64]) -> float:
    first, second = released.coefficients
    middle = released.intercept + first * 5 + second * 0.5
    return float(((np.array([middle / 5, first, second * 0.1]) - exact) ** 2).sum())


def _adassp(left: Table, right: Table, rho: float, generator: np.random.Generator) -> NDArray[np.float64]:
    terms = len(right)  # X^2 = p and Y = 1 on scaled columns; a third of rho for each of the three releases
    unit = math.sqrt(3 / (2 * rho))
    upper = np.triu(generator.normal(0, terms * unit, (terms, terms)))
    noise = upper + np.triu(upper, 1).T
    quantile = math.sqrt(2 * math.log(6 / 1e-6))
    least = max(0.0, np.linalg.eigvalsh(left)[0] + terms * unit * (generator.normal() - quantile))
    ridge = max(0.0, math.sqrt(terms * math.log(2 * terms**2 / 0.05)) * terms * unit - least)
    noisy = right + generator.normal(0, math.sqrt(terms) * unit, terms)
    return np.asarray(np.linalg.solve(left + noise + ridge * np.eye(terms), noisy))


def test_the_error_is_that_of_the_worst_sum() -> None:
    mechanism = _model("0.5", "add-remove")
    drawn = np.array(mechanism.sample([], 4000, bits=SeededBits(6)), np.float64) / mechanism.grain**2
    beyond = (np.abs(drawn).max(axis=1) > mechanism.error(0.9)).mean()
    assert abs(beyond - 0.1) < 6 * math.sqrt(0.09 / 4000)
    assert mechanism.stddev == pytest.approx(math.sqrt(9 / (2 * 0.5)), rel=1e-6)


def test_the_order_of_rows_plays_no_part() -> None:
    table = _people(500, 0.4)
    mechanism = _model(1, "add-remove")
    assert mechanism.release(table, bits=SeededBits(2)) == mechanism.release(table[::-1], bits=SeededBits(2))


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, 5e-324])
def test_no_value_is_refused_and_all_fits_are_finite(adjacency: Adjacency, value: float) -> None:
    released = _model(1, adjacency).release([(value, value, value)] * 100 + [(1, 0, value)], bits=SeededBits(1))
    assert released.intercept is not None
    assert all(map(math.isfinite, (released.intercept, *released.coefficients, *released.sums)))


@pytest.mark.parametrize(("rho", "grain"), [(10**4, 1), (10**24, 1 << 15), (10**30, 2)])
@pytest.mark.parametrize("table", [[], [(0.5, 0.5)], [(1, 1)] * 3000, [(0, 0), (1, 1)] * 500])
def test_a_regression_with_hardly_any_noise_is_solved(rho: int, grain: int, table: Any) -> None:
    mechanism = AdaptiveRegression(features=((0, 1),), target=(0, 1), rho=rho, adjacency="add-remove", grain=grain)
    released = mechanism.release(table, bits=SeededBits(1))
    assert released.intercept is not None
    assert all(map(math.isfinite, (released.intercept, *released.coefficients)))
    if len(table) == 1000:  # a line through two corners
        assert released.coefficients == pytest.approx((1,))
        assert released.intercept == pytest.approx(0, abs=1e-9)


def test_the_largest_rho_for_a_loss_is_taken() -> None:
    given = {"features": ((0, 1),), "target": (0, 1), "adjacency": "add-remove"}
    assert AdaptiveRegression.for_loss(epsilon=1, delta=1e-6, **given).rho == largest_rho(1, 1e-6)
    with pytest.raises(MechanismError, match="delta"):
        AdaptiveRegression.for_loss(epsilon=1, delta=1, **given)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("features", ()),
        ("features", ((1, 0),)),
        ("features", (0, 1)),
        ("target", (1, 1)),
        ("rho", 0),
        ("grain", 0),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, bad: Any) -> None:
    given = {"features": ((0, 1),), "target": (0, 1), "rho": 1, "adjacency": "add-remove", name: bad}
    with pytest.raises(MechanismError, match=name):
        AdaptiveRegression(**given)


def test_a_table_with_another_number_of_columns_is_refused() -> None:
    with pytest.raises(MechanismError, match="3 columns"):
        _model(1, "add-remove").release([(1, 2)])


def test_a_fit_is_shown_with_what_the_noise_may_have_done() -> None:
    table = [(x, 2 * x + 1) for x in (-1.0, -0.5, 0.0, 0.5, 1.0)] * 4000
    mechanism = AdaptiveRegression(features=[(-1, 1)], target=(-3, 3), rho=1, adjacency="replace-one")
    shown = repr(mechanism.release(table, bits=SeededBits(1)))
    slope, intercept = r"(1\.99\d*|2(\.00\d*)?)", r"(0\.99\d*|1(\.00\d*)?)"
    assert re.fullmatch(rf"Fit\({slope} ± 0\.00\d+; intercept {intercept} ± 0\.00\d+; 95 %\)", shown)
    unclear = AdaptiveRegression(features=[(-1, 1)], target=(-3, 3), rho="1e-6", adjacency="replace-one")
    assert "± inf" in repr(unclear.release(table[:5], bits=SeededBits(1)))
