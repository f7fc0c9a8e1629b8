"""The chooser, the plain mechanisms it compares, and the numbers of Example I of the lectures."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import deep, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.workloads.best_for import best_for
from jali.mechanisms.workloads.factorization import Factorization
from jali.mechanisms.workloads.hierarchy import Hierarchy
from jali.mechanisms.workloads.linear_release import WorkloadMechanism
from jali.mechanisms.workloads.noisy_answers import CubeAnswers, NoisyAnswers
from jali.mechanisms.workloads.noisy_cells import ConditionedCells, NoisyCells
from jali.mechanisms.workloads.planned_marginals import PlannedMarginals
from jali.mechanisms.workloads.workload import Histogram, Marginals, Ranges, Thresholds, Workload
from jali.privacy.conversions import largest_rho

EIGHT = Thresholds(8)
# At a small epsilon, times epsilon squared, discrete noise has the variance of real-valued noise.
SMALL: Any = {"workload": EIGHT, "epsilon": "1/1000", "adjacency": "replace-one"}


def limit(mechanism: WorkloadMechanism) -> float:
    """Return the total variance of the seven thresholds that are not the total, at epsilon 1 in the limit."""
    return float(mechanism.variances()[:7].sum()) / 1000**2


def test_example_one_total_variances_of_the_seven_thresholds() -> None:
    eight_shares = NoisyAnswers(workload=EIGHT, epsilon="1/1000", adjacency="add-remove")
    assert limit(eight_shares) == pytest.approx(896, rel=1e-5)
    assert limit(NoisyAnswers(**SMALL)) == pytest.approx(686, rel=1e-5)
    assert limit(NoisyAnswers(**SMALL, total=50)) == pytest.approx(686, rel=1e-5)
    assert limit(NoisyCells(**SMALL)) == pytest.approx(224, rel=1e-5)
    assert limit(NoisyCells(**SMALL, total=50)) == pytest.approx(84, rel=1e-5)
    assert limit(ConditionedCells(workload=EIGHT, epsilon="1/1000")) == pytest.approx(70, rel=1e-5)
    # Not in the lectures: noise of the cube on seven answers, and a noisy total beside the cells.
    assert limit(CubeAnswers(**SMALL, total=50)) == pytest.approx(168, rel=1e-5)
    assert limit(Hierarchy(**SMALL, fanout=(8,))) == pytest.approx(84 + 8 * 17.5 / 9, rel=1e-5)


def test_example_one_with_the_integer_noise_at_epsilon_one() -> None:
    given: Any = {"workload": EIGHT, "epsilon": 1, "adjacency": "replace-one", "total": 50}
    laplace = {scale: 1 / (2 * math.sinh(1 / (2 * scale)) ** 2) for scale in (2, 7)}
    assert NoisyAnswers(**given).total_variance == pytest.approx(7 * laplace[7])
    assert NoisyCells(**given).total_variance == pytest.approx(10.5 * laplace[2])
    assert NoisyAnswers(**given).total_variance == pytest.approx(684.834523, abs=1e-5)
    assert NoisyCells(**given).total_variance == pytest.approx(82.271660, abs=1e-5)
    conditioned = ConditionedCells(workload=EIGHT, epsilon=1)
    assert conditioned.total_variance == pytest.approx(67.950456, abs=1e-5)


@pytest.mark.parametrize(("cells", "wanted"), [(2, 2), (4, 4.2), (8, 35 / 6)])
def test_conditioned_noise_has_the_cell_variance_of_the_theory(cells: int, wanted: float) -> None:
    mechanism = ConditionedCells(workload=Histogram(cells), epsilon="1/1000")
    assert mechanism.variances()[0] / 1000**2 == pytest.approx(wanted, rel=1e-5)


@thinned(2)
@pytest.mark.parametrize("epsilon", [1, 2])
def test_conditioned_variances_and_quantiles_are_those_of_all_noises_of_sum_zero(epsilon: int) -> None:
    reach = 45
    line = np.arange(-reach, reach + 1)
    x, y, z = np.meshgrid(line, line, line, indexing="ij")
    masses = np.exp(-epsilon / 2 * (abs(x) + abs(y) + abs(z) + abs(x + y + z)))
    masses /= masses.sum()
    mechanism = ConditionedCells(workload=Thresholds(4), epsilon=epsilon)
    for answer, noise in enumerate((x, x + y, x + y + z)):
        assert mechanism.variances()[answer] == pytest.approx((masses * noise**2).sum(), rel=1e-9)
        for confidence in (0.5, 0.9, 0.999):
            inside = [masses[np.abs(noise) <= t].sum() for t in range(40)]
            wanted = next(t for t, mass in enumerate(inside) if mass >= confidence)
            assert mechanism.error(confidence, answer=answer) == wanted
    assert mechanism.variances()[3] == 0
    assert mechanism.error(0.9, answer=3) == 0


@deep
def test_conditioned_errors_of_huge_scales_are_those_of_smaller_ones_enlarged() -> None:
    small, large = (ConditionedCells(workload=Thresholds(50), epsilon=e) for e in ("1/100", "1/10000000"))
    assert large.rms == pytest.approx(1e5 * small.rms, rel=1e-4)
    assert large.error(0.95) == pytest.approx(1e5 * small.error(0.95), rel=0.01)


@pytest.mark.parametrize("kind", [NoisyAnswers, NoisyCells, Hierarchy])
def test_counts_beyond_all_doubles_are_answered_like_any_other(kind: type[Any]) -> None:
    released = kind(workload=EIGHT, epsilon=1, adjacency="add-remove").release([10**400, *range(7)])
    assert np.isfinite(released.answers).all()


def test_conditioned_cells_keep_the_total() -> None:
    released = ConditionedCells(workload=EIGHT, epsilon=1).release(np.arange(8), bits=SeededBits(1))
    assert released.answers[-1] == 28


@pytest.mark.parametrize(("dimension", "epsilon"), [(1, 1.0), (3, 1.0), (7, 0.5), (40, 2.0)])
def test_cube_noise_has_the_variance_of_a_mixture_of_cubes(dimension: int, epsilon: float) -> None:
    mechanism = CubeAnswers(workload=Histogram(dimension), epsilon=epsilon, adjacency="add-remove")
    sizes = np.arange(4000.0)
    weights = np.exp(dimension * np.log(2 * sizes + 1) - epsilon * sizes - dimension * math.log(9 * dimension))
    wanted = weights @ (sizes * (sizes + 1)) / (3 * weights.sum())
    assert mechanism.variances() == pytest.approx(np.full(dimension, wanted))


def test_example_two_cube_noise_on_three_counts() -> None:
    three = Marginals((2, 2, 2), [(0,), (1,), (2,)])
    assert three.sensitivity("replace-one").l_infinity == 1
    small = CubeAnswers(workload=Thresholds(3), epsilon="1/1000", adjacency="add-remove")
    assert small.variances()[0] / 1000**2 == pytest.approx(20 / 3, rel=1e-5)
    plain = NoisyAnswers(workload=Thresholds(3), epsilon="1/1000", adjacency="add-remove")
    assert plain.variances()[0] / 1000**2 == pytest.approx(18, rel=1e-5)


def test_the_best_way_for_example_one_is_conditioned_noise() -> None:
    choice = best_for(EIGHT, epsilon=1, adjacency="replace-one", total=50)
    assert isinstance(choice.mechanism, ConditionedCells)
    found = {a.name: a.rms for a in choice.alternatives}
    assert found["conditioned noise on the cells"] == pytest.approx(math.sqrt(67.950456 / 8), rel=1e-6)
    assert list(found.values()) == sorted(found.values())
    assert str(choice).splitlines()[0].split() == ["rms", "error", "largest"]
    assert len(str(choice).splitlines()) == 1 + len(choice.alternatives)


@pytest.mark.parametrize(
    ("workload", "loss", "adjacency", "total", "best"),
    [
        (Thresholds(4096), {"epsilon": 1}, "add-remove", None, Hierarchy),
        (Thresholds(8), {"epsilon": 1}, "add-remove", None, NoisyCells),
        (Thresholds(512), {"rho": "1/2"}, "add-remove", None, Factorization),
        (Ranges(32), {"rho": "1/2"}, "add-remove", None, Factorization),
        (Thresholds(1 << 16), {"epsilon": 1, "delta": 1e-6}, "add-remove", None, Factorization),
        (Marginals((2, 3, 4), [(0, 1), (1, 2)]), {"epsilon": 1}, "replace-one", 10, ConditionedCells),
        (Marginals((2,) * 9, [(i,) for i in range(9)]), {"epsilon": 1}, "add-remove", None, CubeAnswers),
    ],
)
def test_the_choice_has_the_least_forecast_error(
    workload: Workload, loss: dict[str, Any], adjacency: str, total: int | None, best: type
) -> None:
    choice = best_for(workload, adjacency=adjacency, total=total, **loss)
    assert isinstance(choice.mechanism, best)
    assert choice.mechanism.rms == min(a.rms for a in choice.alternatives)
    for alternative in choice.alternatives:
        assert alternative.mechanism.workload == workload
        if alternative.largest is not None:
            assert alternative.largest >= alternative.rms * (1 - 1e-9)


def test_the_largest_error_can_decide() -> None:
    choice = best_for(Thresholds(1024), epsilon=1, delta=1e-6, adjacency="add-remove", by="largest")
    largest = [a.largest for a in choice.alternatives]
    assert largest == sorted(largest, key=lambda error: error or math.inf)


def test_gaussian_noise_is_compared_where_a_delta_allows_it_and_spends_no_more() -> None:
    pure = best_for(Thresholds(16), epsilon=1, adjacency="add-remove")
    assert not any("Gaussian" in a.name for a in pure.alternatives)
    both = best_for(Thresholds(16), epsilon=1, delta="1e-6", adjacency="add-remove")
    for alternative in both.alternatives:
        event = alternative.mechanism.loss.event
        assert event.epsilon == 1 or event.rho == largest_rho(Fraction(1), Fraction(1, 10**6))
        assert alternative.mechanism.loss.epsilon(1e-6) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("counts", "best"), [(58, "l-infinity noise on the answers"), (60, "Gaussian noise on the answers")]
)
def test_cube_noise_beats_gaussian_noise_up_to_58_counts_at_one_in_a_million(counts: int, best: str) -> None:
    """(k+1)(k+2)/3 against k/(2 rho), where rho = 0.024356 is what zCDP grants at (1, 1e-6)."""
    choice = best_for(Thresholds(counts), epsilon=1, delta="1e-6", adjacency="add-remove")
    found = {a.name: a.rms for a in choice.alternatives if a.name.endswith("noise on the answers")}
    assert min(found, key=lambda name: found[name]) == best
    assert found["l-infinity noise on the answers"] ** 2 == pytest.approx(
        (counts + 1) * (counts + 2) / 3, rel=1e-3
    )


def test_millions_of_ranges_are_compared_without_being_listed() -> None:
    choice = best_for(Ranges(1 << 20), epsilon=1, adjacency="add-remove")
    assert isinstance(choice.mechanism, Hierarchy)
    assert all(a.largest is None for a in choice.alternatives)
    cells = next(a for a in choice.alternatives if a.name == "noise on the cells")
    # A range has (n + 2)/3 cells on average.
    stddev = cells.mechanism.law.stddev  # type: ignore[attr-defined]
    assert cells.rms == pytest.approx(stddev * math.sqrt(((1 << 20) + 2) / 3), rel=1e-9)


@thinned(4)
@pytest.mark.parametrize("kind", [NoisyAnswers, NoisyCells])
@pytest.mark.parametrize("workload", [Thresholds(5), Ranges(4), Marginals((2, 3), [(0,), (1,), ()])], ids=str)
def test_plain_answers_are_unbiased_with_the_stated_variances(kind: type[Any], workload: Workload) -> None:
    """4,000 releases, at most 10 answers: means within 6, variances within 8 standard errors: below 1e-6."""
    mechanism = kind(workload=workload, epsilon=1, adjacency="replace-one", total=3 * workload.cells)
    histogram, count = np.full(workload.cells, 3), 4000
    rows = mechanism.sample(histogram, count, bits=SeededBits(8))
    errors = np.array([mechanism.answer(np.array(row)).answers for row in rows]) - workload.answers(histogram)
    spread = np.sqrt(mechanism.variances())
    assert (np.abs(errors.mean(axis=0)) <= 6 * spread / math.sqrt(count) + 1e-9).all()
    assert (np.abs(errors.var(axis=0) - spread**2) <= 8 * spread**2 * math.sqrt(5 / count) + 1e-9).all()
    assert mechanism.total_variance == pytest.approx((spread**2).sum())
    for answer in range(workload.size):
        weights = mechanism.influence(answer)
        assert (weights @ weights) * mechanism.law.stddev**2 == pytest.approx(spread[answer] ** 2)


def test_a_mechanism_that_measures_answers_has_no_cells_to_ask() -> None:
    released = NoisyAnswers(workload=EIGHT, epsilon=1, adjacency="add-remove").release([1] * 8)
    with pytest.raises(JaliError, match="not the cells"):
        released.between(0, 3)


def test_bad_requests_are_refused_by_name() -> None:
    with pytest.raises(JaliError, match="epsilon or rho"):
        best_for(EIGHT, adjacency="add-remove")
    with pytest.raises(JaliError, match="delta"):
        best_for(EIGHT, rho=1, delta=0.1, adjacency="add-remove")
    for delta in (0, 1, -1, 2):
        with pytest.raises(JaliError, match="delta"):
            best_for(EIGHT, epsilon=1, delta=delta, adjacency="add-remove")
    with pytest.raises(JaliError, match="by must be"):
        best_for(EIGHT, epsilon=1, adjacency="add-remove", by="luck")
    with pytest.raises(JaliError, match="workload"):
        best_for(8, epsilon=1, adjacency="add-remove")  # type: ignore[arg-type]
    with pytest.raises(JaliError, match="total"):
        best_for(EIGHT, epsilon=1, adjacency="add-remove", total=8)
    with pytest.raises(JaliError, match="adjacency"):
        best_for(EIGHT, epsilon=1, adjacency="near")
    for kind in (CubeAnswers, ConditionedCells):
        given: Any = {"adjacency": "replace-one", "total": 3} if kind is CubeAnswers else {}
        with pytest.raises(JaliError, match="workload"):
            kind(workload=Thresholds(1), epsilon=1, **given)


MANY: tuple[WorkloadMechanism, ...] = (
    NoisyAnswers(workload=EIGHT, epsilon=1, adjacency="add-remove"),
    NoisyCells(workload=EIGHT, epsilon=1, adjacency="add-remove"),
    Hierarchy(workload=Ranges(5), epsilon=1, adjacency="add-remove"),
    Factorization(workload=EIGHT, rho=1, adjacency="add-remove"),
    ConditionedCells(workload=EIGHT, epsilon=1),
    PlannedMarginals(workload=Marginals((2, 3), [(0,), (1,)]), rho=1, adjacency="add-remove"),
)


@pytest.mark.parametrize("mechanism", MANY, ids=lambda m: type(m).__name__)
def test_an_answer_is_named_by_a_number_that_there_is(mechanism: Any) -> None:
    last = mechanism.workload.size - 1
    assert mechanism.error(0.9, answer=last) >= 0
    for answer in (-1, last + 1, 100, 1.5, True, "0"):
        with pytest.raises(JaliError, match="answer"):
            mechanism.error(0.9, answer=answer)


@pytest.mark.parametrize("mechanism", MANY, ids=lambda m: type(m).__name__)
def test_histograms_are_read_item_by_item_and_by_type(mechanism: Any) -> None:
    cells = mechanism.workload.cells
    huge = [2**63, -1, 2**70][:cells] + [1] * (cells - 3)
    assert mechanism.read(huge).tolist() == huge
    assert mechanism.read([2**63, *[1] * (cells - 1)]).tolist() == [2**63, *[1] * (cells - 1)]
    for bad in ([1.0] * cells, ["1"] * cells, [None] * cells, "1" * cells, [1] * (cells + 1), None, [[1], [2, 3]]):
        with pytest.raises(JaliError, match="histogram"):
            mechanism.read(bad)


@pytest.mark.parametrize("mechanism", MANY, ids=lambda m: type(m).__name__)
def test_measurements_are_int64_exactly_if_all_of_them_fit(mechanism: Any) -> None:
    for count in (0, 2**40, 2**59, 2**62, 2**63, 2**70):
        released = mechanism.release([count] * mechanism.workload.cells, bits=SeededBits(5)).measurements
        assert (released.dtype == np.int64) == all(-(2**63) <= item < 2**63 for item in released.tolist())


def test_conditioned_noise_has_an_error_at_every_confidence() -> None:
    mechanism = ConditionedCells(workload=EIGHT, epsilon=1)
    assert mechanism.error(1 - 1e-14) >= mechanism.error(1 - 1e-12) > mechanism.error(0.9)


def test_losses_that_no_noise_serves_are_refused_at_once() -> None:
    with pytest.raises(JaliError, match="scale"):
        ConditionedCells(workload=EIGHT, epsilon="1e-30")
    with pytest.raises(JaliError, match="scale"):
        CubeAnswers(workload=EIGHT, epsilon="1e-30", adjacency="add-remove")


def test_a_choice_shows_itself_as_its_table() -> None:
    choice = best_for(EIGHT, epsilon=1, adjacency="add-remove")
    assert repr(choice) == str(choice)
    assert [line.split("  ")[0] for line in repr(choice).splitlines()[1:]] == [a.name for a in choice.alternatives]
