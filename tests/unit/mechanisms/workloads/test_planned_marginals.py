"""Planned marginals: loss over all pairs of people, optimality, the integer lemma and the law, by brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH, deep, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.workloads.planned_marginals import PlannedMarginals, centre_table, subtract_means
from jali.mechanisms.workloads.workload import Marginals, Thresholds

CASES = (
    Marginals((2,), [(0,)]),
    Marginals((3,), [(0,), ()]),
    Marginals((2, 3), [(0,), (1,)]),
    Marginals((2, 3), [(0, 1)]),
    Marginals((2, 3, 4), [(0, 1), (0, 2), (1, 2)]),
    Marginals((2, 2, 3), [(0,), (1, 2)]),
)
cases = pytest.mark.parametrize("workload", CASES, ids=str)


def projection(workload: Marginals, part: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return the matrix from the histogram to the residual table of a part, in doubles."""
    matrix: np.ndarray[Any, Any] = np.ones((1, 1))
    for i, d in enumerate(workload.shape):
        matrix = np.kron(matrix, np.eye(d) - 1 / d if i in part else np.ones((1, d)))
    return matrix


@thinned(4)
@cases
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("total", [None, 9])
def test_the_loss_over_all_pairs_of_people_is_rho_exactly(
    workload: Marginals, adjacency: str, total: int | None
) -> None:
    if total is not None and adjacency == "add-remove":
        pytest.skip("a total is not public under add-remove")
    mechanism = PlannedMarginals(workload=workload, rho="1/3", adjacency=adjacency, total=total)
    people = np.eye(workload.cells)
    moves = people if adjacency == "add-remove" else [a - b for a, b in itertools.combinations(people, 2)]
    losses = []
    for move in moves:
        parts = mechanism.plan.precisions.items()
        losses.append(sum(float(q) * ((projection(workload, s) @ move) ** 2).sum() for s, q in parts) / 2)
    assert max(losses) == pytest.approx(1 / 3)
    if adjacency == "replace-one":
        # A person who leaves costs no more.
        alone = [
            sum(
                float(q) * ((projection(workload, s) @ p) ** 2).sum() for s, q in mechanism.plan.precisions.items()
            )
            for p in people
        ]
        assert max(alone) / 2 <= 1 / 3 + 1e-12


@cases
def test_one_person_moves_a_scaled_residual_by_integers_that_centring_cannot_tell(workload: Marginals) -> None:
    for part in workload.closure():
        shape = tuple(workload.shape[i] for i in part)
        factor = math.prod(shape)
        for place in np.ndindex(*shape):
            person = np.zeros(shape, np.int64)
            person[place] = 1
            short = subtract_means(person)
            assert (factor * subtract_means(person) == subtract_means(short)).all()
            assert Fraction(int((short**2).sum()), factor**2) == math.prod(
                (1 - Fraction(1, d) for d in shape), start=Fraction(1)
            )


def test_centring_is_the_projection_times_the_scale() -> None:
    table = np.random.default_rng(1).integers(-9, 9, (3, 4))
    plain = table - table.mean(axis=0)
    plain = plain - plain.mean(axis=1, keepdims=True)
    assert subtract_means(table) == pytest.approx(12 * plain)
    huge = np.full((2, 2), 2**61)
    huge[0, 0] = -(2**61)
    assert centre_table(huge).tolist() == [[-(2**62), 2**62], [2**62, -(2**62)]]


@cases
def test_the_total_variance_is_the_least_of_all_linear_gaussian_mechanisms(workload: Marginals) -> None:
    """The bound from singular values, (sum of them)^2 / cells, holds for every strategy; the plan reaches it."""
    mechanism = PlannedMarginals(workload=workload, rho="1/200000", adjacency="add-remove")
    bound = np.linalg.svd(workload.matrix(), compute_uv=False).sum() ** 2 / workload.cells
    assert mechanism.total_variance / 100_000 == pytest.approx(bound, rel=1e-5)


def test_weights_move_precision_to_where_it_is_wanted() -> None:
    workload = Marginals((2, 3, 4), [(0, 1), (1, 2)])
    given: Any = {"workload": workload, "rho": "1/2000", "adjacency": "add-remove"}
    even, heavy = PlannedMarginals(**given), PlannedMarginals(**given, weights=(9, 1))
    assert heavy.variances()[0] < even.variances()[0]
    assert heavy.variances()[-1] > even.variances()[-1]
    rows = workload.matrix() * np.sqrt(np.repeat([9, 1], [6, 12]))[:, None]
    bound = np.linalg.svd(rows, compute_uv=False).sum() ** 2 / workload.cells
    assert (heavy.variances() * np.repeat([9, 1], [6, 12])).sum() / 1000 == pytest.approx(bound, rel=1e-4)


@cases
def test_no_change_of_the_plan_lowers_the_variance(workload: Marginals) -> None:
    plan = PlannedMarginals(workload=workload, rho="1/2", adjacency="add-remove").plan
    generator = np.random.default_rng(8)
    need = np.array([float(plan.need(part)) for part in plan.parts])
    cost = np.array([float(plan.presence(part)) for part in plan.parts])
    best = np.array([float(plan.precisions[part]) for part in plan.parts])
    assert cost @ best == pytest.approx(1)
    for _ in range(100):
        other = best * np.exp(0.3 * generator.normal(size=best.shape))
        other /= cost @ other
        assert need @ (1 / other) >= need @ (1 / best) * (1 - 1e-9)


def test_answers_are_unbiased_with_the_stated_variances_and_agree() -> None:
    """12 answers: means within 6 and variances within 7 standard errors: below 1e-6."""
    workload = Marginals((2, 3, 2), [(0, 1), (1, 2)])
    mechanism = PlannedMarginals(workload=workload, rho="1/8", adjacency="add-remove")
    histogram, count, bits = np.arange(12) * 3, 300 * DEPTH, SeededBits(21)
    found = [mechanism.release(histogram, bits=bits) for _ in range(count)]
    errors = np.array([one.answers for one in found]) - workload.answers(histogram)
    spread = np.sqrt(mechanism.variances())
    assert (np.abs(errors.mean(axis=0)) <= 6 * spread / math.sqrt(count)).all()
    assert (np.abs(errors.var(axis=0) - spread**2) <= 7 * spread**2 * math.sqrt(2 / count)).all()
    tables = mechanism.tables(found[0])
    assert tables[0, 1].sum(axis=0) == pytest.approx(tables[1, 2].sum(axis=1))


@pytest.mark.parametrize("total", [None, 12])
def test_variances_are_those_of_the_residual_covariances(total: int | None) -> None:
    workload = Marginals((2, 3), [(0, 1), (1,)])
    mechanism = PlannedMarginals(workload=workload, rho="1/50", adjacency="replace-one", total=total)
    spread = np.zeros((6, 6))
    for part, law in mechanism.laws.items():
        up = np.linalg.pinv(projection(workload, part))
        residual = up @ up.T * law.stddev**2 / mechanism.plan.scale(part) ** 2
        spread += residual
    rows = workload.matrix()
    assert mechanism.variances() == pytest.approx(np.einsum("ij,jk,ik->i", rows, spread, rows))


def test_a_public_total_is_kept_without_noise() -> None:
    workload = Marginals((2, 3), [(0, 1), ()])
    mechanism = PlannedMarginals(workload=workload, rho=1, adjacency="replace-one", total=21)
    released = mechanism.release(np.arange(1, 7), bits=SeededBits(3))
    assert released.answers[-1] == pytest.approx(21)
    assert mechanism.tables(released)[0, 1].sum() == pytest.approx(21)
    assert mechanism.variances()[-1] == 0


def test_the_listed_law_is_that_of_all_pairs_of_noises() -> None:
    mechanism = PlannedMarginals(workload=Marginals((2,), [(0,)]), rho="1/4", adjacency="replace-one", total=3)
    law = mechanism.laws[(0,)]
    summed: dict[tuple[int, ...], float] = {}
    for one, other in itertools.product(range(-60, 61), repeat=2):
        key = tuple(subtract_means(np.array([4 + one, 2 + other])).tolist())
        summed[key] = summed.get(key, 0.0) + math.exp(law.log_mass(one) + law.log_mass(other))
    for key, log in mechanism.log_masses((2, 1)).items():
        assert math.exp(log) == pytest.approx(summed[key], rel=1e-9, abs=1e-18)


@deep
def test_the_loss_of_a_three_valued_attribute_is_at_most_its_claim_and_near_it() -> None:
    """The law of the centred table by enumeration of all noises: the Rényi divergences stay below the claim."""
    mechanism = PlannedMarginals(workload=Marginals((3,), [(0,)]), rho=2, adjacency="replace-one", total=4)
    variance = mechanism.laws[(0,)].variance
    laws = [_centred_law(np.array(table) * 3, variance) for table in ((2, 1, 1), (1, 2, 1))]
    slopes = []
    for order in (1.5, 2.0, 4.0):
        p, q = laws
        total = math.fsum(p[k] ** order * q[k] ** (1 - order) for k in p.keys() & q.keys() if q[k] > 1e-14)
        slopes.append(math.log(total) / (order - 1) / order)
    assert max(slopes) <= 2 * (1 + 1e-9)
    assert max(slopes) >= 2 * 0.98


def _centred_law(table: np.ndarray[Any, Any], variance: Fraction) -> dict[tuple[int, ...], float]:
    law = DiscreteGaussianLaw(variance)
    reach = math.ceil(9 * law.sigma)
    masses: dict[tuple[int, ...], float] = {}
    logs = {z: law.log_mass(z) for z in range(-reach, reach + 1)}
    for noise in itertools.product(logs, repeat=3):
        key = tuple(subtract_means(table + np.array(noise)).tolist())
        masses[key] = masses.get(key, 0.0) + math.exp(sum(logs[z] for z in noise))
    return masses


@deep
def test_the_error_bounds_measured_tails_and_is_close_for_large_noise() -> None:
    """20,000 draws of one cell; six deviations of slack on the binomial count."""
    mechanism = PlannedMarginals(workload=Marginals((2,), [(0,)]), rho="1/200", adjacency="add-remove")
    rows = mechanism.sample((50, 60), 20_000, bits=SeededBits(5))
    off = np.array([mechanism.answer(np.array(row)).answers[0] - 50 for row in rows])
    assert (np.abs(off) > mechanism.error(0.95)).sum() <= 1000 + 6 * math.sqrt(1000)
    assert mechanism.error(0.95) <= 2.15 * mechanism.largest


def test_many_attributes_are_planned_with_a_bound_on_pairs() -> None:
    workload = Marginals((2,) * 11, [(i,) for i in range(11)])
    mechanism = PlannedMarginals(workload=workload, rho="1/2", adjacency="replace-one", total=5)
    # One-way residuals of two-valued attributes move by exactly 2 between people who differ everywhere.
    assert sum(mechanism.plan.precisions.values()) == Fraction(1, 2)


def test_huge_counts_do_not_wrap_or_fail() -> None:
    workload = Marginals((2, 2), [(0, 1), ()])
    mechanism = PlannedMarginals(workload=workload, rho=1, adjacency="add-remove")
    for huge in (2**61, 2**62, 10**40, 10**400):
        released = mechanism.release([huge] * 4, bits=SeededBits(4))
        assert np.isfinite(released.answers).all()
        if huge < 10**41:
            assert released.answers[-1] == pytest.approx(4 * float(huge))


def test_bad_parameters_are_refused_by_name() -> None:
    given: Any = {"workload": Marginals((2, 2), [(0,), (1,)]), "rho": 1, "adjacency": "add-remove"}
    wrong: Any = ((), (1,), (1, 0), (1, "x"), "xx", 3)
    for bad in wrong:
        with pytest.raises(JaliError, match="weights"):
            PlannedMarginals(**given, weights=bad)
    with pytest.raises(JaliError, match="workload"):
        PlannedMarginals(workload=Thresholds(3), rho=1, adjacency="add-remove")  # type: ignore[arg-type]
    with pytest.raises(JaliError, match="single attributes"):
        PlannedMarginals(workload=Marginals((3,), [(0,)]), rho=1, adjacency="add-remove").log_masses((1, 1, 1))


def test_the_type_of_a_centred_table_depends_on_the_centred_table_alone() -> None:
    table = np.array([[3, 1], [4, 1]])
    for shift in (0, 2**20, 2**55, 2**60 - 1, 2**60, 2**62, -(2**62)):
        moved = centre_table(table + shift)
        assert moved.dtype == np.int64
        assert moved.tolist() == centre_table(table).tolist()
    assert centre_table(np.array([[2**61, 0], [0, 0]])).dtype == np.int64
    assert centre_table(np.array([[2**63 - 1, 0], [0, 2**63 - 1]])).dtype == object


def test_a_release_tells_no_more_by_its_type_than_by_its_values() -> None:
    mechanism = PlannedMarginals(workload=Marginals((2, 2), [(0, 1)]), rho=8, adjacency="replace-one", total=4)
    for count in (2**52, 2**58 - 1, 2**58, 2**61, 2**63):
        released = mechanism.release([count, count, count, count], bits=SeededBits(1)).measurements
        assert released.dtype == np.int64
        assert released.tolist() == mechanism.release([0, 0, 0, 0], bits=SeededBits(1)).measurements.tolist()


def test_marginals_of_short_integers_and_of_booleans_are_sums() -> None:
    workload = Marginals((2, 2), [(0,)])
    assert workload.answers(np.array([100, 100, 100, 27], np.int8)).tolist() == [200, 127]
    assert workload.answers(np.array([True, True, True, False])).tolist() == [2, 1]
    assert workload.answers(np.array([2**63, 2**63, 0, 1], np.uint64)).tolist() == [2**64, 1]
    assert workload.answers(np.array([-(2**63), -(2**63), 0, 1])).tolist() == [-(2**64), 1]
    assert workload.answers(np.array([0.5, 0.25, 0, 1])).tolist() == [0.75, 1.0]


@pytest.mark.parametrize(
    ("shape", "sets"),
    [((2, 2), [("a",)]), ((2, 2), [0]), (3, [(0,)]), ((2, 2), [(0.0,)]), ((2, 2), [(True,)]), ([2, 3, 4], 2)],
)
def test_attributes_that_are_no_numbers_are_refused_by_name(shape: Any, sets: Any) -> None:
    with pytest.raises(JaliError, match=r"shape|sets"):
        Marginals(shape, sets)
    with pytest.raises(JaliError, match="sets"):
        Marginals((2, 2), [])
    with pytest.raises(JaliError, match="sets"):
        Marginals((2, 2), "01")  # type: ignore[arg-type]
