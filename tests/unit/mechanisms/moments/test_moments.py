"""Statistics from noisy sums: values as numpy has them, intervals that cover and are not idle."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.mechanisms.additive.cube_laws import CoordinateLaw
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.intervals.linear_forms import AffineForm, LinearFormLaw, bound_linear_quantile
from jali.mechanisms.moments import KINDS, SQUARE_CENTER, Axis, importance, moment_interval, moment_value
from jali.mechanisms.moments.moment_inversion import (
    Corners,
    build_end_corners,
    build_inverse_corners,
    build_square_corners,
    combine_corners,
)
from jali.sampling import DiscreteGaussian, DiscreteLaplace

Floats = NDArray[np.float64]
X, Y = Axis(0, 10, 5), Axis(0, 100, 50)
# Sums are put on a lattice of so many steps per sensitivity.
STEPS = 1 << 16
DRAWS = 400 * DEPTH


def people(count: int, *, skewed: bool = False, seed: int = 3) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    x = generator.exponential(1.5, count) if skewed else generator.normal(5, 1.5, count)
    x = np.clip(x, 0, 10)
    return x, np.clip(20 + 4 * x + generator.normal(0, 8, count), 0, 100)


def sums_of(x: Floats, y: Floats, across: Axis = X, up: Axis = Y) -> dict[str, float]:
    a, b = x - across.center, y - up.center
    pairs = {"sx": a, "sy": b, "sxx": a * a, "syy": b * b, "sxy": a * b}
    return {"n": float(len(x)), **{name: float(values.sum()) for name, values in pairs.items()}}


def arrays(sums: Mapping[str, float]) -> dict[str, Floats]:
    return {name: np.array([value]) for name, value in sums.items()}


def line(x: Floats, y: Floats) -> tuple[float, float]:
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)


# Each statistic as numpy has it, x being the explaining variable.
PLAIN: dict[str, Callable[[Floats, Floats], float]] = {
    "var_pop": lambda x, y: float(np.var(x)),
    "var_samp": lambda x, y: float(np.var(x, ddof=1)),
    "stddev_pop": lambda x, y: float(np.std(x)),
    "stddev_samp": lambda x, y: float(np.std(x, ddof=1)),
    "covar_pop": lambda x, y: float(np.cov(x, y, ddof=0)[0, 1]),
    "covar_samp": lambda x, y: float(np.cov(x, y)[0, 1]),
    "corr": lambda x, y: float(np.corrcoef(x, y)[0, 1]),
    "regr_slope": lambda x, y: line(x, y)[0],
    "regr_intercept": lambda x, y: line(x, y)[1],
    "regr_r2": lambda x, y: float(np.corrcoef(x, y)[0, 1]) ** 2,
    "regr_count": lambda x, y: float(len(x)),
    "regr_avgx": lambda x, y: float(np.mean(x)),
    "regr_avgy": lambda x, y: float(np.mean(y)),
    "regr_sxx": lambda x, y: float(np.sum((x - x.mean()) ** 2)),
    "regr_syy": lambda x, y: float(np.sum((y - y.mean()) ** 2)),
    "regr_sxy": lambda x, y: float(np.sum((x - x.mean()) * (y - y.mean()))),
}


class Noisy(NamedTuple):
    forms: dict[str, AffineForm]
    laws: list[LinearFormLaw]
    values: list[Floats]

    def interval(self, kind: str, across: Axis = X, confidence: float = 0.95) -> tuple[Floats, Floats]:
        return moment_interval(kind, self.forms, self.laws, self.values, confidence=confidence, x=across, y=Y)

    def value(self, kind: str, across: Axis = X) -> Floats:
        sums = {name: form.of(self.values) for name, form in self.forms.items()}
        return moment_value(kind, sums, across, Y)


def noisy(
    kind: str,
    sums: Mapping[str, float],
    epsilon: float,
    *,
    gaussian: bool = False,
    across: Axis = X,
    draws: int = DRAWS,
) -> Noisy:
    """Noise on each sum the kind needs, by an equal split; squares are measured less half the squared reach."""
    names, bits, found = KINDS[kind], SeededBits(11), Noisy({}, [], [])
    reaches = {"n": 1.0, "sx": across.reach, "sy": Y.reach, "sxy": across.reach * Y.reach}
    centers = {"sxx": SQUARE_CENTER * across.reach**2, "syy": SQUARE_CENTER * Y.reach**2}
    scale = Fraction(STEPS * len(names)) / Fraction(epsilon)
    for place, name in enumerate(names):
        unit = {**reaches, **centers}[name] / STEPS
        exact = round((sums[name] - centers.get(name, 0.0) * sums["n"]) / unit)
        noise = DiscreteGaussian(scale**2).sample(draws, bits=bits) if gaussian else None
        drawn = DiscreteLaplace(scale).sample(draws, bits=bits) if noise is None else noise
        coefficients = [0.0] * len(names)
        coefficients[place] = unit
        coefficients[0] += centers.get(name, 0.0) / STEPS
        found.forms[name] = AffineForm(coefficients, 0.0)
        found.laws.append(DiscreteGaussianLaw(scale**2) if gaussian else DiscreteLaplaceLaw(scale))
        found.values.append(exact + drawn.astype(np.float64))
    return found


def test_every_kind_has_a_value_an_interval_and_importances() -> None:
    assert set(PLAIN) == set(KINDS)
    sums = sums_of(*people(2000))
    for kind, names in KINDS.items():
        assert set(importance(kind, X)) == set(names)
        low, high = noisy(kind, sums, 10.0, draws=3).interval(kind)
        assert np.all(low < high)


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_value_is_the_plain_statistic(kind: str, skewed: bool) -> None:
    x, y = people(300, skewed=skewed)
    value = moment_value(kind, arrays({name: sums_of(x, y)[name] for name in KINDS[kind]}), X, Y)
    assert value[0] == pytest.approx(PLAIN[kind](x, y), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_centre_of_the_sums_does_not_matter_to_the_value(kind: str) -> None:
    x, y = people(300)
    across, up = Axis(0, 10, 2), Axis(0, 100, 80)
    value = moment_value(kind, arrays(sums_of(x, y, across, up)), across, up)
    assert value[0] == pytest.approx(PLAIN[kind](x, y), rel=1e-9)


def test_values_that_cannot_be_are_brought_to_what_can() -> None:
    sums = {"n": [10.0, 10.0, -3.0, 0.5], "sx": [0.0, 0.0, 1.0, 0.1], "sxx": [-4.0, 9000.0, 5.0, 0.1]}
    given = {name: np.array(values) for name, values in sums.items()}
    assert moment_value("var_pop", given, X)[:2].tolist() == [0.0, 25.0]
    assert np.isnan(moment_value("var_pop", given, X)).tolist() == [False, False, True, False]
    assert np.isnan(moment_value("stddev_samp", given, X)).tolist() == [False, False, True, True]


def test_a_line_through_no_spread_is_undefined_and_a_correlation_stays_within_one() -> None:
    flat = arrays({"n": 10.0, "sx": 0.0, "sy": 3.0, "sxx": -1.0, "syy": 40.0, "sxy": 5.0})
    for kind in ("corr", "regr_slope", "regr_intercept", "regr_r2"):
        assert np.isnan(moment_value(kind, flat, X, Y)).all()
    steep = arrays({"n": 10.0, "sx": 0.0, "sy": 0.0, "sxx": 10.0, "syy": 10.0, "sxy": -500.0})
    assert moment_value("corr", steep, X, Y).tolist() == [-1.0]


CASES = [
    (50, 10.0, False, False),
    (500, 1.0, False, True),
    (500, 3.0, True, False),
    (50_000, 1.0, False, False),
    (50_000, 0.3, True, True),
]


@thinned(4)
@pytest.mark.parametrize(("count", "epsilon", "skewed", "gaussian"), CASES)
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("stddev_pop", "regr_r2", "regr_avgy", "regr_syy")]
)
def test_intervals_cover(kind: str, count: int, epsilon: float, skewed: bool, gaussian: bool) -> None:
    """Below 0.885 of 400 draws has probability under 2e-8 for a true 0.95; more draws, smaller still."""
    x, y = people(count, skewed=skewed)
    found = noisy(kind, sums_of(x, y), epsilon, gaussian=gaussian)
    low, high = found.interval(kind)
    truth, slack = PLAIN[kind](x, y), 1e-6 * abs(PLAIN[kind](x, y))
    assert np.mean((low <= truth + slack) & (truth - slack <= high)) >= 0.885
    value = found.value(kind)
    known = ~np.isnan(value)
    assert np.all((low <= value) & (value <= high) | ~known)


@thinned(4)
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_with_many_rows_intervals_are_little_wider_than_the_errors(kind: str, gaussian: bool) -> None:
    x, y = people(50_000)
    found = noisy(kind, sums_of(x, y), 3.0, gaussian=gaussian, draws=2000)
    low, high = (end[:20] for end in found._replace(values=[v[:20] for v in found.values]).interval(kind))
    needed = float(np.quantile(np.abs(found.value(kind) - PLAIN[kind](x, y)), 0.95))
    # The 95 % quantile of 2,000 errors is itself known to a tenth.
    assert 0.9 * needed < np.median(high - low) / 2 < 1.35 * needed


@pytest.mark.parametrize("offset", [-5.0, 0.0, 20.0, 1000.0])
def test_intercepts_cover_wherever_zero_is(offset: float) -> None:
    """Below 0.885 of 400 draws has probability under 2e-8 for a true 0.95."""
    x, y = people(20_000, skewed=True)
    across = Axis(offset, 10 + offset, 5 + offset)
    found = noisy("regr_intercept", sums_of(x + offset, y, across), 1.0, across=across)
    truth = line(x + offset, y)[1]
    low, high = found.interval("regr_intercept", across)
    assert np.mean((low <= truth) & (truth <= high)) >= 0.885
    needed = float(np.quantile(np.abs(found.value("regr_intercept", across) - truth), 0.95))
    assert np.median(high - low) / 2 < 1.7 * needed


def test_a_count_has_the_interval_of_its_noise() -> None:
    found = noisy("regr_count", {"n": 500.0}, 1.0, draws=20)
    low, high = found.interval("regr_count")
    expected = bound_linear_quantile([1.0 / STEPS], found.laws, 0.95)
    np.testing.assert_allclose((high - low) / 2, expected, rtol=2e-3)


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_mean_known_to_an_interval_costs_its_square_only(gaussian: bool) -> None:
    """A hundred times the rows leaves a hundredth of the width, where half the noise is that of the mean."""
    wide, narrow = (
        noisy("var_pop", sums_of(*people(count, skewed=True)), 10.0, gaussian=gaussian, draws=20)
        for count in (2_000, 200_000)
    )
    ratio = np.median(np.subtract(*wide.interval("var_pop"))) / np.median(np.subtract(*narrow.interval("var_pop")))
    assert ratio == pytest.approx(100, rel=0.1)


def test_hopeless_noise_leaves_all_that_is_possible() -> None:
    sums = sums_of(*people(5))
    possible = {
        "var_pop": (0.0, 25.0),
        "stddev_pop": (0.0, 5.0),
        "covar_pop": (-250.0, 250.0),
        "corr": (-1.0, 1.0),
        "regr_r2": (0.0, 1.0),
        "regr_slope": (-math.inf, math.inf),
        "regr_intercept": (-math.inf, math.inf),
        "regr_avgx": (0.0, 10.0),
    }
    for kind, ends in possible.items():
        low, high = noisy(kind, sums, 0.001, draws=20).interval(kind)
        assert (float(np.min(low)), float(np.max(high))) == ends
        assert np.mean((low == ends[0]) & (high == ends[1])) > 0.5


@pytest.mark.parametrize(
    "kind", ["regr_sxy", "regr_sxx", "regr_slope", "regr_intercept", "var_samp", "covar_samp"]
)
def test_a_count_of_nothing_but_noise_leaves_intervals_that_cover(kind: str) -> None:
    """Below 0.885 of 400 draws has probability under 2e-8 for a true 0.95."""
    x, y = people(50)
    low, high = noisy(kind, sums_of(x, y), 0.1).interval(kind)
    assert np.all(low <= high)
    assert np.mean((low <= PLAIN[kind](x, y)) & (PLAIN[kind](x, y) <= high)) >= 0.885


def test_more_confidence_is_a_wider_interval() -> None:
    found = noisy("corr", sums_of(*people(5_000)), 5.0, draws=20)
    widths = [np.subtract(*found.interval("corr", confidence=level)[::-1]) for level in (0.5, 0.9, 0.99)]
    assert np.all(widths[0] < widths[1])
    assert np.all(widths[1] < widths[2])


def test_no_groups_have_no_intervals() -> None:
    found = noisy("corr", sums_of(*people(50)), 1.0, draws=1)
    for kind in KINDS:
        low, high = Noisy(found.forms, found.laws, [value[:0] for value in found.values]).interval(kind)
        assert (low.shape, high.shape) == ((0,), (0,))


def test_numbers_beyond_doubles_give_an_interval_and_no_error() -> None:
    huge = Axis(-1e300, 1e300, 0)
    found = noisy("var_pop", sums_of(*people(50)), 1.0, draws=3)
    low, high = moment_interval("var_pop", found.forms, found.laws, found.values, confidence=0.95, x=huge)
    assert not np.isnan(low).any()
    assert not np.isnan(high).any()


def inside(points: Floats, triangle: Floats) -> bool:
    """Whether points lie in a triangle, up to rounding: no point is beyond a side."""
    turns = []
    for start, end in zip(triangle, np.roll(triangle, -1, axis=0), strict=True):
        side, away = end - start, points - start
        turns.append(side[0] * away[:, 1] - side[1] * away[:, 0])
    signed = np.array(turns)
    return bool(np.all(signed >= -1e-12) or np.all(signed <= 1e-12))


@pytest.mark.parametrize(("low", "high"), [(-0.4, 0.9), (0.2, 0.3), (0.01, 5.0)])
def test_corners_hold_their_curves(low: float, high: float) -> None:
    ends = np.array([low]), np.array([high])
    curves: list[tuple[Corners, Callable[..., Any]]] = [(build_square_corners(*ends, 2), np.square)]
    if low > 0:
        curves.append((build_inverse_corners(*ends, 2), np.reciprocal))
    for corners, curve in curves:
        middle = float(corners.first[0, 0])
        meeting = np.stack([corners.first[3:, 0], corners.second[3:, 0]], axis=1)
        for (start, stop), tip in zip([(low, middle), (middle, high)], meeting, strict=True):
            t = np.linspace(start, stop, 50)
            triangle = np.array([[start, curve(start)], [stop, curve(stop)], tip])
            assert inside(np.stack([t, curve(t)], axis=1), triangle)


def test_combined_corners_are_all_pairs_with_the_middles_first() -> None:
    one, two = combine_corners(
        build_square_corners(np.zeros(1), np.ones(1), 2), build_end_corners(np.ones(1), np.full(1, 3.0))
    )
    assert (one.first[0, 0], two.first[0, 0]) == (0.5, 2.0)
    assert (
        len(
            {
                (float(a), float(q), float(b))
                for a, q, b in zip(one.first[:, 0], one.second[:, 0], two.first[:, 0], strict=True)
            }
        )
        == 15
    )


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("kind", ["covar_pop", "corr", "regr_slope", "regr_intercept"])
def test_a_split_by_importance_beats_an_equal_one(kind: str, skewed: bool) -> None:
    """The variance to first order: finite differences of the plain value, and Lagrange's shares."""
    weights = importance(kind, X)
    shares = np.array([weights[name] ** (1 / 3) for name in KINDS[kind]])
    gradient = effects(kind, sums_of(*people(20_000, skewed=skewed)))
    equal = np.linalg.norm(gradient * len(gradient))
    assert np.linalg.norm(gradient / (shares / shares.sum())) < 0.99 * equal


def test_a_variance_loses_little_by_not_knowing_where_its_values_are() -> None:
    weights = importance("var_pop", X)
    shares = np.array([weights[name] ** (1 / 3) for name in KINDS["var_pop"]])
    for skewed in (False, True):
        gradient = effects("var_pop", sums_of(*people(20_000, skewed=skewed)))
        assert np.linalg.norm(gradient / (shares / shares.sum())) < 1.03 * np.linalg.norm(3 * gradient)


def effects(kind: str, sums: Mapping[str, float]) -> Floats:
    """How far one person's worth of each measure moves the value, by finite differences."""
    reaches = {"n": 1.0, "sx": X.reach, "sy": Y.reach, "sxy": X.reach * Y.reach}
    centers = {"sxx": SQUARE_CENTER * X.reach**2, "syy": SQUARE_CENTER * Y.reach**2}
    moved = []
    for name in KINDS[kind]:
        step = {name: {**reaches, **centers}[name]} | (centers if name == "n" else {})
        ends = [arrays({key: sums[key] + sign * step.get(key, 0.0) for key in sums}) for sign in (1, -1)]
        moved.append((moment_value(kind, ends[0], X, Y) - moment_value(kind, ends[1], X, Y))[0] / 2)
    return np.array(moved)


@thinned(4)
@pytest.mark.parametrize("others", ["joint", "laplace"])
@pytest.mark.parametrize("kind", ["var_pop", "covar_pop", "corr", "regr_slope"])
def test_intervals_of_joint_noise_cover_and_are_narrower(kind: str, others: str) -> None:
    """All sums by one cube, or the count by Laplace noise.

    Of 200 draws fewer than 170 covered have probability under 1e-6 for a true 0.95.
    """
    draws, epsilon, names = 200, 10.0, KINDS[kind]
    plain = noisy(kind, sums_of(*people(2000)), epsilon, draws=draws)
    found = Noisy(plain.forms, list(plain.laws), list(plain.values))
    joint = LInfinity(sensitivity=STEPS, epsilon=Fraction(epsilon), dimension=len(names))
    noise = joint.noise(draws, len(names), bits=SeededBits(21)).astype(np.float64)
    still = noisy(kind, sums_of(*people(2000)), 1e9, draws=1)
    for place in range(1 if others == "laplace" else 0, len(names)):
        found.laws[place] = CoordinateLaw(joint.cube, place)
        found.values[place] = np.round(still.values[place]) + noise[:, place]
    low, high = found.interval(kind)
    true = PLAIN[kind](*people(2000))
    assert np.mean((low <= true) & (true <= high)) >= 0.85
    wide = plain.interval(kind)
    assert np.median(high - low) < (0.9 if others == "joint" else 1.0) * np.median(wide[1] - wide[0])
