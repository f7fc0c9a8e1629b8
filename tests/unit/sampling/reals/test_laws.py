"""Real random numbers: regions measured cell by cell, samplers by all bit strings, many draws by their law."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, special, stats
from tests.depth import DEPTH, thinned
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.errors import MechanismError
from jali.sampling.reals import (
    Law,
    cauchy,
    cauchy_law,
    gaussian,
    gaussian_law,
    laplace,
    laplace_law,
    laplace_log_normal,
    laplace_log_normal_law,
    poly_place,
    poly_place_law,
    polynomial,
    polynomial_law,
    regions,
    student_t,
    student_t_law,
)
from jali.sampling.reals.balls import Ball, of_words
from jali.sampling.reals.regions import Point, Region, RegionLaw, is_inside


@dataclass(frozen=True)
class _Case:
    """A law, its distribution function, and how much area of the square one unit of h(z) dz takes.

    The density is h over the integral of h, where h(0) = 1.
    """

    name: str
    law: Law
    cdf: Callable[[float], float]
    area: float
    whole: float


def _polynomial(gamma: float) -> Callable[[float], float]:
    half = math.pi / gamma / math.sin(math.pi / gamma)

    def cdf(z: float) -> float:
        x = abs(z)
        if x > 1:  # the tail from x on, with w = 1/z
            tail = x ** (1 - gamma) / (gamma - 1) * _hyper(1 - 1 / gamma, x**-gamma)
            return 0.5 + math.copysign(0.5 - tail / (2 * half), z)
        return 0.5 + math.copysign(x * _hyper(1 / gamma, x**gamma) / (2 * half), z)

    return cdf


def _hyper(b: float, x: float) -> float:
    return float(special.hyp2f1(1, b, 1 + b, -x))


def _poly_place(a: float) -> tuple[Callable[[float], float], float]:
    k = (1 - 1 / a) ** (a - 1) * (1 + 1 / a) ** (a + 1)
    body, tail = (1 - (1 - 1 / a) ** a) / a, k * (1 + 1 / a) ** -a / a

    def cdf(z: float) -> float:
        x = abs(z)
        mass = (1 - (1 - x) ** a) / a if x <= 1 / a else body + tail - k * (1 + x) ** -a / a
        return 0.5 + math.copysign(mass / (2 * (body + tail)), z)

    return cdf, 2 * (body + tail)


def _laplace_log_normal(sigma: float) -> Callable[[float], float]:
    y = np.linspace(-12, 12, 4001)  # the trapezoid rule is exact to 1e-12 here
    weights = np.exp(-y * y / 2) * (y[1] - y[0]) / math.sqrt(2 * math.pi)

    def cdf(z: float) -> float:
        tail = float((weights * np.exp(-abs(z) * np.exp(-sigma * y))).sum())
        return 0.5 + math.copysign(0.5 - tail / 2, z)

    return cdf


def _student(degrees: int) -> _Case:
    d = degrees
    whole = math.sqrt(d * math.pi) * math.exp(special.gammaln(d / 2) - special.gammaln((d + 1) / 2))
    return _Case(f"t{d}", student_t_law(d), stats.t(d).cdf, 0.5, whole)


def _poly(gamma: Fraction) -> _Case:
    g = float(gamma)
    whole = 2 * math.pi / g / math.sin(math.pi / g)
    return _Case(f"polynomial {gamma}", polynomial_law(gamma), _polynomial(g), (g - 1) / g, whole)


def _place(a: Fraction) -> _Case:
    cdf, whole = _poly_place(float(a))
    return _Case(f"poly place {a}", poly_place_law(a), cdf, float(a * a / (2 * a + 1)), whole)


_ONE_TRIAL = [
    _Case("cauchy", cauchy_law(), stats.cauchy.cdf, 0.5, math.pi),
    _student(2),
    _student(3),
    _student(40),
    _poly(Fraction(11, 10)),
    _poly(Fraction(3, 2)),
    _poly(Fraction(2)),
    _poly(Fraction(437, 100)),
    _place(Fraction(21, 20)),
    _place(Fraction(2)),
    _place(Fraction(20)),
    _Case("gaussian", gaussian_law(), stats.norm.cdf, 0.5, math.sqrt(2 * math.pi)),
    _Case("laplace", laplace_law(), stats.laplace.cdf, 1.0, 2.0),
]
_ALL = [
    *_ONE_TRIAL,
    _Case("lln 1/2", laplace_log_normal_law(Fraction(1, 2)), _laplace_log_normal(0.5), 0.0, 0.0),
    _Case("lln 2", laplace_log_normal_law(Fraction(2)), _laplace_log_normal(2.0), 0.0, 0.0),
]
_BINS = 6
_one_trial = pytest.mark.parametrize("case", _ONE_TRIAL, ids=lambda case: case.name)
_every = pytest.mark.parametrize("case", _ALL, ids=lambda case: case.name)


def _regions(law: Law) -> list[tuple[Region, Fraction]]:
    assert isinstance(law, RegionLaw)
    second = [(law.second, 1 - law.share)] if law.second is not None else []
    return [(law.first, law.share), *second]


def _measure(region: Region, scale: int, depth: int) -> tuple[dict[int, Fraction], Fraction]:
    """Return the area of each floor(scale z), far ones in one, and what is not decided, by quartering."""
    areas: dict[int, Fraction] = defaultdict(Fraction)
    open_area, cells = Fraction(0), [(0, 0, 0)]
    while cells:
        u, v, known = cells.pop()
        point = Point(ScriptedBits(0, 0), 1, u, v, known) if known else None
        verdict = region.contains(point) if point else None
        if verdict is False:
            continue
        image = region.image(point, 40) if point and verdict else None
        floors = {min(scale * end >> 40, _BINS) for end in image} if image else set()
        if len(floors) == 1:
            areas[floors.pop()] += Fraction(1, 4**known)
        elif known == depth:
            open_area += Fraction(1, 4**known)
        else:
            cells += [(2 * u + i, 2 * v + j, known + 1) for i in (0, 1) for j in (0, 1)]
    return areas, open_area


@thinned(4)
@_one_trial
def test_regions_have_the_areas_of_the_density(case: _Case) -> None:
    """Cells that are surely inside have no more area than the density says, and lack no more than is open."""
    areas: dict[int, Fraction] = defaultdict(Fraction)
    undecided, scale = Fraction(0), 2
    for region, share in _regions(case.law):
        known, left = _measure(region, scale, 7 + min(DEPTH, 2))
        undecided += share * left
        for floor, area in known.items():
            areas[floor] += share * area
    assert undecided < 0.1
    for floor in range(_BINS + 1):
        end = 1.0 if floor == _BINS else case.cdf((floor + 1) / scale)
        mass = end - case.cdf(floor / scale)
        wanted = mass * case.whole * case.area
        assert areas[floor] <= wanted + 1e-9
        assert wanted <= areas[floor] + undecided + 1e-9


@thinned(4)
@pytest.mark.parametrize("word_bits", [1, 3])
@_one_trial
def test_every_bit_string_leads_where_the_law_says(case: _Case, word_bits: int) -> None:
    """Of all strings of 10 bits, those that end give no outcome more mass than it has, nor too little.

    Outcomes from 2 on count as 2, on both sides.
    """

    def outcome(bits: ScriptedBits) -> int:
        real, precision = case.law.draw(bits, word_bits=word_bits), 1
        while True:
            ends = {max(-2, min(2, end + (1 << precision - 1) >> precision)) for end in real.bounds(precision)}
            if len(ends) == 1:
                return ends.pop()
            precision += 1

    masses, undecided = enumerate_masses(outcome, 10)
    assert undecided < 0.999
    assert sum(masses.values()) + undecided == 1
    for point, known in masses.items():
        ends = case.cdf(point - 0.5) if point > -2 else 0.0, case.cdf(point + 0.5) if point < 2 else 1.0
        wanted = ends[1] - ends[0]
        assert known - 1e-9 <= wanted <= known + undecided + 1e-9


# Further out, doubles tell the order of magnitude of a heavy-tailed number only; integers refine what matters.
_CLEAR = 1e18


@thinned(4)
@_every
def test_many_draws_follow_the_closed_law(case: _Case) -> None:
    """Dvoretzky, Kiefer, Wolfowitz, Massart: a larger distance than this has a chance below 1e-8."""
    size = 100_000 * DEPTH
    numbers = np.sort(case.law.draws(size, SeededBits(5)).balls.centre)
    limit = math.sqrt(math.log(2e8) / (2 * size))
    places = np.linspace(0, size - 1, 400).astype(int)
    places = places[abs(numbers[places]) < _CLEAR]
    points = numbers[places]
    wanted = np.array([case.cdf(float(z)) for z in points])
    assert abs(wanted - places / size).max() < limit + 1 / size
    stretched = np.array([case.cdf(1.3 * float(z)) for z in points])
    assert abs(stretched - places / size).max() > limit or case.name == "polynomial 11/10"


@thinned(4)
@_every
def test_single_draws_follow_the_closed_law(case: _Case) -> None:
    bits, size = SeededBits(6), 1500 * DEPTH
    numbers = np.sort([float(Fraction(sum(case.law.draw(bits).bounds(60)), 2 << 60)) for _ in range(size)])
    limit = math.sqrt(math.log(2e8) / (2 * size))
    places = np.linspace(0, size - 1, 100).astype(int)
    wanted = np.array([case.cdf(z) for z in numbers[places]])
    assert abs(wanted - places / size).max() < limit + 1 / size


@thinned(4)
@_every
def test_what_doubles_say_of_a_number_is_true_of_the_number(case: _Case) -> None:
    draws = case.law.draws(400, SeededBits(7))
    known = 0
    for place in range(400):
        low, high = draws.real(place).bounds(200)
        centre, radius = float(draws.balls.centre[place]), float(draws.balls.radius[place])
        if math.isfinite(radius) and math.isfinite(centre):
            known += radius < 1e-6 * (1 + abs(centre))
            assert Fraction(centre) - Fraction(radius) <= Fraction(high, 1 << 200)
            assert Fraction(low, 1 << 200) <= Fraction(centre) + Fraction(radius)
    assert known > 300


@thinned(4)
@_one_trial
def test_doubles_never_contradict_integers_at_the_edge_of_a_region(case: _Case) -> None:
    """For many u, the last v that is surely inside is sought by bisection; its neighbours are probed."""
    for region, _ in _regions(case.law):
        us = [1, 2, 5, 2**20, 2**40 + 3, *SeededBits(8).integers(20 * DEPTH, 52).tolist(), 2**52 - 2, 2**52 - 1]
        for u in us:
            edge = _edge(region, int(u))
            vs = [v for k in (0, 1, 2, 3, 10, 10**3, 10**6, 10**9) for v in (edge - k, edge + k) if 0 <= v < 2**52]
            margin = _margin(region, int(u), vs)
            for v, above, below in zip(vs, margin.above(), margin.below(), strict=True):
                verdict = region.contains(Point(ScriptedBits(0, 0), 1, int(u), v, 52))
                assert not (above and verdict is False)
                assert not (below and verdict is True)
                assert not (above and below)


def _edge(region: Region, u: int) -> int:
    low, high = -1, 2**52
    while high - low > 1:
        middle = (low + high) // 2
        inside = region.contains(Point(ScriptedBits(0, 0), 1, u, middle, 52)) is True
        low, high = (middle, high) if inside else (low, middle)
    return low


def _margin(region: Region, u: int, vs: list[int]) -> Ball:
    with np.errstate(all="ignore"):
        return region.margin(of_words(np.full(len(vs), u, np.uint64)), of_words(np.array(vs, np.uint64)))


@_one_trial
def test_doubles_decide_nearly_all_points(case: _Case) -> None:
    """Otherwise many draws at once would be slow; the law does not depend on it."""
    u, v = (of_words(SeededBits(seed).integers(20_000, 52)) for seed in (9, 10))
    for region, _ in _regions(case.law):
        with np.errstate(all="ignore"):
            margin = region.margin(u, v)
        assert (margin.above() | margin.below()).mean() > 0.999


# Beyond the digits of every question before it: whether by a factor of 4 or of 13 takes the same turns.
_DEEP = 1200 if DEPTH == 1 else 4000


@thinned(4)
@pytest.mark.parametrize("word_bits", [1, 2, 3, 4, 13, 52, 64])
@_every
def test_all_answers_about_a_number_agree(case: _Case, word_bits: int) -> None:
    """Whatever the order of the questions, all enclosures share a point, and they close in."""
    bits = SeededBits(11)
    for order in ((1, 2, 3, 10, 40, 100, 5), (100, 10, 64, 300)):
        real = case.law.draw(bits, word_bits=word_bits)
        ends = [(n, *real.bounds(n)) for n in order]
        least = max(Fraction(low, 1 << n) for n, low, _ in ends)
        assert least <= min(Fraction(high, 1 << n) for n, _, high in ends)
        low, high = real.bounds(_DEEP)
        assert Fraction(high - low, 1 << _DEEP) < Fraction(1, 1 << 300)
        assert real.bounds(_DEEP) == (low, high)


def test_refinement_is_forced_where_few_bits_are_known() -> None:
    """With words of one bit the first cell is a quarter of the square, which the edge always crosses."""
    region = _regions(gaussian_law())[0][0]
    point = Point(SeededBits(12), 1)
    assert region.contains(point) is None
    is_inside(region, point)
    assert point.known > 1


@_one_trial
def test_bits_that_decided_a_point_stay_with_it(case: _Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two bits at first and no help from doubles, hundreds of points need more bits; all must be inside."""
    monkeypatch.setattr(regions, "WIDTH", 2)
    for side in ("above", "below"):
        monkeypatch.setattr(Ball, side, lambda ball: np.zeros(np.shape(ball.centre), np.bool_))
    draws = case.law.draws(200, SeededBits(17))
    for place in range(200):
        real = draws.real(place)
        assert isinstance(real, regions.ImageOfPoint)
        assert is_inside(real._region, real._point)


def test_signs_are_fair() -> None:
    for case in _ALL:
        negatives = int((case.law.draws(20_000, SeededBits(13)).balls.centre < 0).sum())
        assert abs(negatives - 10_000) < 6 * math.sqrt(5000)


@pytest.mark.parametrize("a", [Fraction(11, 10), Fraction(20, 1)])
def test_poly_place_is_continuous_where_its_pieces_meet(a: Fraction) -> None:
    """The largest number of the body is 1/a and so is the least of the tail."""
    body, tail = (region for region, _ in _regions(poly_place_law(a)))
    end = Point(ScriptedBits(0, 0), 1, 2**60 - 1, 0, 60)
    for region in (body, tail):
        image = region.image(end, 50)
        assert image is not None
        assert all(abs(Fraction(bound, 2**50) - 1 / a) < Fraction(1, 2**45) for bound in image)


def test_the_named_draws_are_draws_of_their_laws() -> None:
    """The same bits give the same number."""
    half = Fraction(1, 2)
    pairs = [
        (cauchy(SeededBits(1)), cauchy_law()),
        (student_t(3, SeededBits(1)), student_t_law(3)),
        (polynomial(3 * half, SeededBits(1)), polynomial_law(3 * half)),
        (poly_place(5 * half, SeededBits(1)), poly_place_law(5 * half)),
        (gaussian(SeededBits(1)), gaussian_law()),
        (laplace(SeededBits(1)), laplace_law()),
        (laplace_log_normal(half, SeededBits(1)), laplace_log_normal_law(half)),
    ]
    for real, law in pairs:
        assert real.bounds(100) == law.draw(SeededBits(1)).bounds(100)


@pytest.mark.parametrize("degrees", [0, -1, True, 2.0, "x"])
def test_degrees_that_are_none_are_refused(degrees: int) -> None:
    with pytest.raises(MechanismError, match="degrees"):
        student_t_law(degrees)


def test_exponents_without_a_law_are_refused() -> None:
    for gamma in (Fraction(1), Fraction("1.0099"), 1 + Fraction(1, 10**400)):
        with pytest.raises(MechanismError, match="gamma") as refusal:
            polynomial_law(gamma)
        assert refusal.value.remedy
    with pytest.raises(MechanismError, match="a must"):
        poly_place_law(Fraction(1))
    with pytest.raises(MechanismError, match="sigma"):
        laplace_log_normal_law(Fraction(-1))


@pytest.mark.parametrize("number", [1.5, "2", True, None])
def test_parameters_that_are_not_rationals_are_refused(number: Fraction) -> None:
    for name, law in (("gamma", polynomial_law), ("a", poly_place_law), ("sigma", laplace_log_normal_law)):
        with pytest.raises(MechanismError, match=f"^{name} must"):
            law(number)


def test_a_huge_exponent_of_poly_place_is_no_obstacle() -> None:
    """Then a Z is nearly Laplace; doubles decide less, integers the rest."""
    a = Fraction(10**30 + 1, 7)
    draws = poly_place_law(a).draws(50, SeededBits(14))
    numbers = [a * Fraction(draws.real(place).bounds(200)[0], 1 << 200) for place in range(50)]
    assert Fraction(1, 3) < sum(abs(x) for x in numbers) / 50 < 3


def test_a_variance_of_the_theory_book_is_met() -> None:
    """PolyPlace at epsilon 1, beta 1/6: variance 3.750 in units of S, which is 36 times that of Z."""
    _, whole = _poly_place(6.0)
    k = (5 / 6) ** 5 * (7 / 6) ** 7
    body = integrate.quad(lambda z: z * z * (1 - z) ** 5, 0, 1 / 6)[0]
    tail = integrate.quad(lambda z: z * z * k * (1 + z) ** -7, 1 / 6, np.inf)[0]
    assert round(36 * 2 * (body + tail) / whole, 3) == 3.750
    numbers = poly_place_law(Fraction(6)).draws(200_000, SeededBits(15)).balls.centre
    squares: NDArray[np.float64] = 36 * numbers**2
    assert abs(squares.mean() - 3.750) < 0.25


@pytest.mark.parametrize(
    ("law", "factor", "median", "far"),
    [
        (cauchy_law(), 1 / (2 * math.sinh(0.5)), 0.960, 12.19),
        (poly_place_law(Fraction(20)), 20, 0.718, 3.25),
        (poly_place_law(Fraction(6)), 6, 0.781, 3.95),
        (poly_place_law(Fraction(10, 3)), 10 / 3, 0.861, 5.04),
        (poly_place_law(Fraction(5, 3)), 5 / 3, 1.08, 9.28),
    ],
)
def test_quantiles_of_the_theory_book_are_met(law: Law, factor: float, median: float, far: float) -> None:
    """Shares beyond the printed medians and 95 % points, within 6 sigma and the digits printed."""
    size = 100_000
    sizes = factor * abs(law.draws(size, SeededBits(16)).balls.centre)
    assert abs((sizes > median).mean() - 0.5) < 6 * math.sqrt(0.25 / size) + 0.003
    assert abs((sizes > far).mean() - 0.05) < 6 * math.sqrt(0.0475 / size) + 0.0003
