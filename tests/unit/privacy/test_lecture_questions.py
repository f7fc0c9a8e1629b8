"""The questions the lectures leave open, answered by exhaustive search and exact arithmetic.

Nothing here uses a formula of the package to check that formula: sensitivities come from all neighbouring
datasets of a small universe, losses from all outputs of exact discrete mechanisms as rationals, variances from
integrals. docs/lectures.md computes the same answers with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import mpmath  # type: ignore[import-untyped]
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from tests.depth import thinned

Record = tuple[int, int, int]
Data = tuple[Record, ...]
Query = Callable[[Data], tuple[int, ...]]
Channel = dict[tuple[object, ...], Fraction]

UNIVERSE: list[Record] = [(a, b, c) for a, b, c in product((0, 1), repeat=3)]  # in binary order
HALF = Fraction(1, 2)  # e^-epsilon of the examples: epsilon = ln 2 keeps every probability rational


# What is asked of the data.


def thresholds(data: Data) -> tuple[int, ...]:
    """Count, for each y of the universe, the records at or below y."""
    return tuple(sum(x <= y for x in data) for y in UNIVERSE)


def attributes(data: Data) -> tuple[int, ...]:
    """Count, for each attribute, the records that have it."""
    return tuple(sum(x[j] for x in data) for j in range(3))


def points(data: Data) -> tuple[int, ...]:
    """Count, for each y of the universe, the records equal to y."""
    return tuple(sum(x == y for x in data) for y in UNIVERSE)


QUERIES: dict[str, Query] = {"thresholds": thresholds, "attributes": attributes, "points": points}


# Neighbours.


def replaced(size: int) -> Iterator[tuple[Data, Data]]:
    """All pairs of datasets of a public size that differ in one record."""
    for rest in product(UNIVERSE, repeat=size - 1):
        for one, other in product(UNIVERSE, repeat=2):
            if one != other:
                yield (*rest, one), (*rest, other)


def removed(size: int) -> Iterator[tuple[Data, Data]]:
    """All pairs of a dataset and the same dataset without one record."""
    for rest in product(UNIVERSE, repeat=size - 1):
        for one in UNIVERSE:
            yield (*rest, one), rest


def differences(query: Query, pairs: Iterator[tuple[Data, Data]]) -> set[tuple[int, ...]]:
    return {tuple(a - b for a, b in zip(query(x), query(y), strict=True)) for x, y in pairs}


def l1(moves: set[tuple[int, ...]]) -> int:
    return max(sum(map(abs, move)) for move in moves)


def l2_squared(moves: set[tuple[int, ...]]) -> int:
    return max(sum(part * part for part in move) for move in moves)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", QUERIES)
def test_a_single_threshold_attribute_or_point_count_moves_by_one_and_its_mean_by_one_over_n(
    name: str, size: int
) -> None:
    moves = differences(QUERIES[name], replaced(size))
    constant = 7 if name == "thresholds" else None
    for place in range(3 if name == "attributes" else 8):
        reach = max(abs(move[place]) for move in moves)
        assert reach == (0 if place == constant else 1)
        assert Fraction(reach, size) == (0 if place == constant else Fraction(1, size))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "first", "second_squared"), [("thresholds", 7, 7), ("attributes", 3, 3), ("points", 2, 2)]
)
def test_vector_sensitivities_when_one_record_is_replaced(
    name: str, first: int, second_squared: int, size: int
) -> None:
    moves = differences(QUERIES[name], replaced(size))
    assert (l1(moves), l2_squared(moves)) == (first, second_squared)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "first", "second_squared"), [("thresholds", 8, 8), ("attributes", 3, 3), ("points", 1, 1)]
)
def test_vector_sensitivities_when_one_record_is_added_or_removed(
    name: str, first: int, second_squared: int, size: int
) -> None:
    """The count at the largest threshold is n: constant when n is public, one more query when it is not."""
    moves = differences(QUERIES[name], removed(size))
    assert (l1(moves), l2_squared(moves)) == (first, second_squared)


def test_a_mean_has_no_sensitivity_of_one_over_n_when_records_come_and_go() -> None:
    """One over n is of the dataset at hand; over all datasets the mean moves by a half, whatever n is."""

    def moved(size: int) -> Fraction:
        pairs = ((attributes(x), attributes(y)) for x, y in removed(size))
        return max(abs(Fraction(a[0], size) - Fraction(b[0], size - 1)) for a, b in pairs)

    each = [moved(size) for size in (2, 3, 4)]
    assert each == [Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)]
    assert max(each) == Fraction(1, 2)


def test_a_threshold_at_the_top_of_the_universe_is_free_only_while_n_is_public() -> None:
    assert {move[7] for move in differences(thresholds, replaced(2))} == {0}
    assert {move[7] for move in differences(thresholds, removed(2))} == {1}


# Exact discrete Laplace, its tails closed.


def mass(noise: int, decay: Fraction) -> Fraction:
    """Pr[noise] of the discrete Laplace law with e^(-1/scale) = decay."""
    return Fraction(1 - decay, 1 + decay) * decay ** abs(noise)


def closed(value: int, low: int, high: int, decay: Fraction) -> dict[object, Fraction]:
    """The law of value + noise with everything at or below `low` and at or above `high` taken together.

    For true values between low and high the likelihood ratio is constant on each tail, so that nothing is lost:
    the finite channel has exactly the privacy loss of the infinite one.
    """
    if low == high:
        return {low: Fraction(1)}
    below, above = decay ** (value - low) / (1 + decay), decay ** (high - value) / (1 + decay)
    inside: dict[object, Fraction] = {y: mass(y - value, decay) for y in range(low + 1, high)}
    return {low: below, **inside, high: above}


def together(parts: Sequence[dict[object, Fraction]]) -> Channel:
    """The law of independent parts."""
    law: Channel = {(): Fraction(1)}
    for part in parts:
        law = {(*seen, y): p * q for seen, p in law.items() for y, q in part.items()}
    assert sum(law.values()) == 1
    return law


def worst_ratio(one: Channel, other: Channel) -> Fraction:
    """e^epsilon of a pair: the largest likelihood ratio in either direction."""
    assert one.keys() == other.keys()
    return max(max(one[y] / other[y], other[y] / one[y]) for y in one)


def noisy(counts: Sequence[int], size: int, decay: Fraction = HALF) -> Channel:
    """Every count with its own discrete Laplace noise."""
    return together([closed(count, 0, size, decay) for count in counts])


def test_closing_the_tails_changes_no_ratio() -> None:
    wide, narrow = (
        max(closed(1, *ends, HALF)[y] / closed(0, *ends, HALF)[y] for y in closed(0, *ends, HALF))
        for ends in ((-9, 9), (0, 1))
    )
    assert wide == narrow == 2
    assert sum(closed(1, -3, 4, HALF).values()) == 1
    assert closed(0, -2, 2, HALF)[-2] == pytest.approx(float(sum(mass(z, HALF) for z in range(-60, -1))))


# DummySum.


def dummy_sum_1(bits: Sequence[int], decay: Fraction) -> Channel:
    """Noise on every prefix sum, as the first program releases them."""
    sums = [sum(bits[: i + 1]) for i in range(len(bits))]
    return noisy(sums, len(bits), decay)


def dummy_sum_2(bits: Sequence[int], decay: Fraction) -> Channel:
    """Noise on every bit, prefix sums of the noisy bits, as the second program releases them."""
    law: Channel = {}
    for noisy_bits, p in together([closed(bit, 0, 1, decay) for bit in bits]).items():
        sums, s = [], 0
        for bit in noisy_bits:
            s += bit if isinstance(bit, int) else 0
            sums.append(s)
        law[tuple(sums)] = law.get(tuple(sums), Fraction(0)) + p
    return law


def flipped(bits: tuple[int, ...], place: int) -> tuple[int, ...]:
    return (*bits[:place], 1 - bits[place], *bits[place + 1 :])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_dummy_sum_1_costs_n_epsilon_and_no_less(n: int) -> None:
    """Flipping bit i moves n - i prefix sums by one: e^((n-i) epsilon), reached for every dataset."""
    for place in range(n):
        ratios = {
            worst_ratio(dummy_sum_1(bits, HALF), dummy_sum_1(flipped(bits, place), HALF))
            for bits in product((0, 1), repeat=n)
        }
        assert ratios == {Fraction(2) ** (n - place)}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("decay", [HALF, Fraction(1, 3)])
def test_dummy_sum_2_costs_one_over_the_scale_and_no_less(n: int, decay: Fraction) -> None:
    """Each bit is noised once and prefix sums are post-processing: e^(1/scale) wherever a bit is flipped."""
    for bits, place in product(product((0, 1), repeat=n), range(n)):
        pair = dummy_sum_2(bits, decay), dummy_sum_2(flipped(bits, place), decay)
        assert worst_ratio(*pair) == 1 / decay


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
def test_dummy_sum_2_as_printed_is_one_over_epsilon_private_and_as_meant_epsilon_private(epsilon: float) -> None:
    printed = Fraction(math.exp(-1 / epsilon))  # Lap(eps) has scale eps
    meant = Fraction(math.exp(-epsilon))  # Lap(1/eps) has scale 1/eps
    for decay, expected in ((printed, 1 / epsilon), (meant, epsilon)):
        ratio = worst_ratio(dummy_sum_2((0, 1), decay), dummy_sum_2((1, 1), decay))
        assert math.log(ratio) == pytest.approx(expected, rel=1e-14)


def moved_in_line(bits: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The lists of the same length after one element was deleted and one inserted anywhere."""
    left = {bits[:i] + bits[i + 1 :] for i in range(len(bits))}
    return {(*rest[:i], bit, *rest[i:]) for rest in left for i in range(len(bits)) for bit in (0, 1)}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_dummy_sum_2_costs_up_to_n_epsilon_when_a_bit_is_deleted_and_another_inserted(n: int) -> None:
    """0101 without its first bit, and with one more at the end, is 1010: every place differs."""
    ratios = {
        worst_ratio(dummy_sum_2(bits, HALF), dummy_sum_2(other, HALF))
        for bits in product((0, 1), repeat=n)
        for other in moved_in_line(bits)
    }
    assert max(ratios) == Fraction(2) ** n


def test_dummy_sum_2_tells_its_length_when_a_bit_is_deleted() -> None:
    long, short = dummy_sum_2((0, 1, 0), HALF), dummy_sum_2((1, 0), HALF)
    assert not long.keys() & short.keys()


# Examples I, II and III: what the queries cost.


def cost(query: Query, pairs: Iterator[tuple[Data, Data]], size: int) -> Fraction:
    """e^epsilon, over all neighbours and outputs, of noise with e^-epsilon = 1/2 on every count."""
    return max(worst_ratio(noisy(query(x), size), noisy(query(y), size)) for x, y in pairs)


def test_example_1_eight_thresholds_cost_seven_epsilon_exactly() -> None:
    """All 256 outputs of all 56 pairs: the eighth count is n for everybody."""
    assert cost(thresholds, replaced(1), 1) == Fraction(2) ** 7


def test_example_1_costs_eight_epsilon_where_n_is_not_public() -> None:
    assert cost(thresholds, removed(1), 1) == Fraction(2) ** 8


def test_example_2_three_attributes_cost_three_epsilon_exactly() -> None:
    assert cost(attributes, replaced(1), 1) == cost(attributes, removed(1), 1) == Fraction(2) ** 3
    assert cost(attributes, replaced(2), 2) == Fraction(2) ** 3


def test_example_3_a_histogram_costs_two_epsilon_when_replacing_and_one_when_adding() -> None:
    """Two epsilon is exact: the pair of cells that a record leaves and enters."""
    assert cost(points, replaced(1), 1) == Fraction(2) ** 2
    assert cost(points, removed(1), 1) == Fraction(2)


# "Can we do better?": variances at a global epsilon of one.


def laplace_variance(scale: int) -> int:
    return 2 * scale**2


def conditioned_variance(prefix: int, cells: int, scale: int) -> Fraction:
    """Var of a sum of `prefix` of the cells' Laplace noises, given that all of them sum to zero: exact.

    By Fourier, E[S^2; total = 0] = (1/2pi) integral of -(phi^t)'' phi^(d-t), with phi = u = 1/(1+s^2) at scale 1.
    From u' = -2 s u^2 and s^2 u = 1 - u follows -(u^t)'' = 2t u^(t+1) - 4t(t+1) (1-u) u^(t+1), and
    the integral of u^m is pi C(2m-2, m-1) / 4^(m-1).
    """

    def wallis(m: int) -> Fraction:
        return Fraction(math.comb(2 * m - 2, m - 1), 4 ** (m - 1))

    t, d = prefix, cells
    bent = (2 * t - 4 * t * (t + 1)) * wallis(d + 1) + 4 * t * (t + 1) * wallis(d + 2)
    return scale**2 * bent / wallis(d)


def conditioned_cell_by_signs(cells: int, scale: int) -> Fraction:
    """The same for one cell, by counting signs.

    Given j positive cells, the positive part R is Gamma(d-1) of scale b/2 and spread uniformly over the simplex,
    so that a positive cell has E[z^2] = 2 E[R^2] / (j (j+1)); j has weight C(d, j) C(d-2, j-1).
    """
    weights = {j: math.comb(cells, j) * math.comb(cells - 2, j - 1) for j in range(1, cells)}
    square = Fraction(scale**2 * cells * (cells - 1), 4)
    each = {j: square * (Fraction(2, j + 1) + Fraction(2, cells - j + 1)) / cells for j in weights}
    return sum((weights[j] * each[j] for j in weights), Fraction(0)) / sum(weights.values())


@pytest.mark.parametrize(("cells", "variance"), [(2, "2"), (4, "21/5"), (8, "35/6")])
def test_example_3_laplace_noise_conditioned_on_sum_zero_has_these_variances_per_cell(
    cells: int, variance: str
) -> None:
    assert conditioned_variance(1, cells, 2) == conditioned_cell_by_signs(cells, 2) == Fraction(variance)
    assert Fraction(variance) < laplace_variance(2) == 8


@thinned(4)
@pytest.mark.parametrize("prefix", range(1, 8))
def test_the_conditioned_variance_agrees_with_numerical_integration(prefix: int) -> None:
    def sum_density(k: int, x: mpmath.mpf) -> mpmath.mpf:
        """The density of a sum of k Laplace noises of scale 1, a Bessel function."""
        half = mpmath.mpf(k) - mpmath.mpf(1) / 2
        return (x / 2) ** half * mpmath.besselk(half, x) / (mpmath.sqrt(mpmath.pi) * mpmath.gamma(k))

    def moment(power: int) -> mpmath.mpf:
        return mpmath.quad(lambda x: x**power * sum_density(prefix, x) * sum_density(8 - prefix, x), [0, 1, 8, 60])

    expected = float(conditioned_variance(prefix, 8, 2))
    assert float(4 * moment(2) / moment(0)) == pytest.approx(expected, rel=1e-12)


def test_a_histogram_cell_projected_onto_the_known_size_has_variance_seven() -> None:
    assert laplace_variance(2) * (1 - Fraction(1, 8)) == 7


def test_conditioning_on_the_known_size_keeps_epsilon() -> None:
    """On the lattice points of sum n the ratio is at most e^(2/scale), for all 3-cell histograms of 2 people."""
    outputs = [(a, b, 2 - a - b) for a, b in product(range(-4, 7), repeat=2)]

    def weight(output: Sequence[int], counts: Sequence[int]) -> Fraction:
        return HALF ** sum(abs(y - c) for y, c in zip(output, counts, strict=True))

    cells = [(2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1), (0, 1, 1), (0, 0, 2)]
    pairs = [
        (x, y) for x, y in product(cells, repeat=2) if sum(abs(a - b) for a, b in zip(x, y, strict=True)) == 2
    ]
    # The normalising sums agree, because one lattice of noise of sum zero is shifted to another.
    assert max(weight(y, a) / weight(y, b) for a, b in pairs for y in outputs) == 4


def test_example_1_can_be_done_better_the_total_variances_of_the_seven_counts() -> None:
    prefixes = range(1, 8)
    assert 7 * laplace_variance(8) == 896  # epsilon split over eight queries
    assert 7 * laplace_variance(7) == 686  # over the seven that are not constant
    assert sum(t * laplace_variance(2) for t in prefixes) == 224  # prefix sums of a noisy histogram
    projected = [laplace_variance(2) * (t - Fraction(t * t, 8)) for t in prefixes]  # noise minus its mean
    assert sum(projected) == 84
    assert sum(conditioned_variance(t, 8, 2) for t in prefixes) == 70


def cube_variance(dimension: int) -> Fraction:
    """Var of one coordinate of density proportional to exp(-max |z|), by layers of the cube.

    The integral of g(z) e^-max|z| is that of e^-r times the integral of g over the cube of half-side r.
    """
    volume = Fraction(2) ** dimension * math.factorial(dimension)
    square = Fraction(2) ** dimension / 3 * math.factorial(dimension + 2)
    return square / volume


def analytic_gaussian_stddev(epsilon: float, delta: float) -> float:
    """The least stddev for sensitivity 1 (Balle and Wang 2018), by root finding on scipy's normal law."""

    def excess(s: float) -> float:
        return (
            float(norm.cdf(0.5 / s - epsilon * s) - math.exp(epsilon) * norm.cdf(-0.5 / s - epsilon * s)) - delta
        )

    return float(brentq(excess, 0.1, 1000, xtol=1e-13, rtol=1e-14))


def test_example_2_can_be_done_better_the_variance_of_each_count() -> None:
    assert laplace_variance(3) == 18
    assert 4 * laplace_variance(2) == 32  # an attribute is a sum of four cells of the histogram
    assert conditioned_variance(4, 8, 2) == Fraction(40, 3)
    assert cube_variance(3) == Fraction(20, 3)
    assert 3 * analytic_gaussian_stddev(1, 1e-6) ** 2 == pytest.approx(53.544, abs=5e-4)


def test_example_2_noise_in_a_cube_costs_epsilon() -> None:
    """Discrete exp(-epsilon max|z|) noise: one person moves the three counts inside the unit cube."""
    outputs = list(product(range(-4, 5), repeat=3))
    moves = differences(attributes, replaced(1))
    ratios = (
        HALF ** max(map(abs, y)) / HALF ** max(abs(a - b) for a, b in zip(y, move, strict=True))
        for y in outputs
        for move in moves
    )
    assert max(ratios) == 2


def test_the_cube_beats_gaussian_noise_up_to_fifty_counts_and_laplace_up_to_eight() -> None:
    gaussian = analytic_gaussian_stddev(1, 1e-6) ** 2
    assert gaussian == pytest.approx(17.848, abs=5e-4)
    assert [k for k in range(1, 200) if cube_variance(k) < k * gaussian] == list(range(1, 51))
    assert [k for k in range(1, 200) if laplace_variance(k) < k * gaussian] == list(range(1, 9))


# Parallel composition.

DECAYS = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 5))  # epsilon ln 2, ln 3 and ln 5 for three parts


def counted(sizes: Sequence[int], top: int) -> Channel:
    return together([closed(size, 0, top, decay) for size, decay in zip(sizes, DECAYS, strict=True)])


def part_sizes(data: Sequence[int]) -> list[int]:
    return [sum(part == i for part in data) for i in range(3)]


def test_parts_by_value_cost_the_largest_epsilon_when_records_come_and_go() -> None:
    ratios = [
        worst_ratio(counted(part_sizes(data), 2), counted(part_sizes(data[:-1]), 2))
        for data in product(range(3), repeat=2)
    ]
    assert max(ratios) == 5


def test_parts_by_value_cost_the_two_largest_together_when_a_record_is_replaced() -> None:
    ratios = [
        worst_ratio(counted(part_sizes((kept, old)), 2), counted(part_sizes((kept, new)), 2))
        for kept, old, new in product(range(3), repeat=3)
    ]
    assert max(ratios) == 5 * 3


def test_parts_by_index_cost_the_largest_epsilon_under_both_adjacencies() -> None:
    """Person i is always in part i; their bit is replaced, or counts for nothing when they are removed."""
    pairs = [(bits, flipped(bits, place)) for bits in product((0, 1), repeat=3) for place in range(3)]
    assert max(worst_ratio(counted(x, 1), counted(y, 1)) for x, y in pairs) == 5


# Post-processing, groups, and what the loss of an outcome is.

ALMOST_RANDOM = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))


def mixed(law: Sequence[Fraction], kernel: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """The law of f(r) for r drawn from `law`, where f(r) is drawn from row r of the kernel."""
    return [
        sum((p * row[y] for p, row in zip(law, kernel, strict=True)), Fraction(0)) for y in range(len(kernel[0]))
    ]


def test_post_processing_by_a_randomized_function_never_adds_loss() -> None:
    """Every kernel from two outcomes to three with probabilities in sixths, the proposition's case included."""
    rows = [tuple(Fraction(k, 6) for k in (a, b, 6 - a - b)) for a in range(7) for b in range(7 - a)]
    worst = Fraction(0)
    for kernel in product(rows, repeat=2):
        one, other = (mixed(law, kernel) for law in ALMOST_RANDOM)
        assert all((p == 0) == (q == 0) for p, q in zip(one, other, strict=True))
        worst = max(worst, *(p / q for p, q in zip(one, other, strict=True) if q))
    assert worst == 3


def test_a_randomized_function_can_remove_loss() -> None:
    """AlmostRandom of an answer of AlmostRandom: ln(5/3) instead of ln 3."""
    one, other = (mixed(law, ALMOST_RANDOM) for law in ALMOST_RANDOM)
    assert one[0] / other[0] == Fraction(5, 3)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_group_of_k_people_loses_k_epsilon_and_no_less(size: int) -> None:
    assert worst_ratio(noisy((0,), 4), noisy((size,), 4)) == Fraction(2) ** size


def test_the_privacy_loss_of_almost_random_is_plus_or_minus_ln_3() -> None:
    losses = [p / q for p, q in zip(*ALMOST_RANDOM, strict=True)]
    assert losses == [3, Fraction(1, 3)]
    expected = sum(float(p) * math.log(ratio) for p, ratio in zip(ALMOST_RANDOM[0], losses, strict=True))
    assert expected == pytest.approx(math.log(3) / 2)


def test_checking_single_outcomes_is_not_enough_once_delta_is_positive() -> None:
    """A hundred outcomes each, none shared: every outcome passes with delta 1/100, the event of all does not."""
    one = [Fraction(1, 100)] * 100 + [Fraction(0)] * 100
    other = one[::-1]
    assert all(p <= q + Fraction(1, 100) for p, q in zip(one, other, strict=True))
    assert sum(max(p - q, Fraction(0)) for p, q in zip(one, other, strict=True)) == 1


def test_the_probability_that_the_loss_exceeds_epsilon_is_not_delta() -> None:
    """Gaussian noise of stddev 1 has a normal loss of mean 1/2: it exceeds 1 with more than twice delta."""
    failure = 1 - norm.cdf(1, loc=0.5)
    delta = norm.cdf(0.5 - 1) - math.e * norm.cdf(-0.5 - 1)
    assert (round(failure, 4), round(delta, 4)) == (0.3085, 0.1269)


def test_the_largest_of_d_laplace_noises_is_the_harmonic_number_on_average() -> None:
    """E[max] = b H_d exactly; the lecture's b (ln d + 1) is a bound."""
    for d, harmonic in ((8, 2.7178571), (100, 5.1873775)):
        tail = mpmath.quad(lambda x, d=d: 1 - (1 - mpmath.exp(-x)) ** d, [0, 5, 20, 80])
        assert float(tail) == pytest.approx(sum(1 / i for i in range(1, d + 1)), abs=1e-12)
        assert float(tail) == pytest.approx(harmonic, abs=5e-8)
        assert float(tail) < math.log(d) + 1
