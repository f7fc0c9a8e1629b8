"""Forecasts are right: over the golden questions, wherever the law of the error does not depend on the data.

Noise alone is drawn, by the plan's own mechanisms, and read as the answer reads it. With 20,000 draws of a Laplace
law, whose kurtosis is 6, the measured root mean square has a relative standard deviation of 0.8 %: 5 % is six of
them. The bits are seeded, so that each run says the same; over 200 forecasts another seed would raise a false
alarm with a chance below 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, deep, thinned
from tests.golden.cases import FILES, plan_of, read_cases
from tests.golden.catalog import Clinic, clinic
from tests.seeded import SeededBits

from jali.execution.intervals import GroupReader
from jali.execution.postprocess import Release, ReleasedGroups, list_groups
from jali.explain import ChoiceNote, explain_plan
from jali.ir.aggregates import CountRows, SumValues
from jali.ir.estimators import AnyEstimate, Cells, Moment, Picked, RatioEstimate
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.workloads.cell_strategies import MeasuredCells
from jali.mechanisms.workloads.grouping_sets import list_variances, make_consistent
from jali.planner import Plan
from jali.planner.forecast import AggregateForecast, forecast_estimate
from jali.planner.joint_noise import find_block
from jali.planner.measured_query import GroupingSet

Plans: TypeAlias = dict[Path, list[tuple[str, Plan]]]
DRAWS = 20_000
# All draws of the cells of one histogram, each of which is as good as another.
CELL_DRAWS = 40_000
WITHIN = 0.05


@pytest.fixture(scope="module")
def tables() -> Iterator[Clinic]:
    with clinic() as opened:
        yield opened


@pytest.fixture(scope="module")
def plans(tables: Clinic) -> Plans:
    return {path: [(case.title, plan_of(case, tables.catalog)) for case in read_cases(path)] for path in FILES}


@thinned(8)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_measured_error_is_the_forecast(path: Path, plans: Plans) -> None:
    """In `make test` only every other question of a file is measured, and none twice; all of them in deep runs."""
    bits, seen = SeededBits(17), set()
    for title, plan in plans[path][:: 1 if DEPTH > 1 else 2]:
        for (_, estimate), index in ((one, i) for one in plan.estimates for i in range(len(plan.levels))):
            found = forecast_estimate(plan, index, estimate)
            if found.always and (key := (_laws(plan), estimate, index)) not in seen:
                seen.add(key)
                assert found.rms is not None
                assert abs(_measured(plan, index, estimate, bits) / found.rms - 1) < WITHIN, (title, estimate)


def _laws(plan: Plan) -> tuple[Any, ...]:
    return tuple(part.mechanisms for part in plan.parts)


def _measured(plan: Plan, index: int, estimate: AnyEstimate, bits: SeededBits) -> float:
    level = plan.levels[index]
    if isinstance(estimate, Moment):
        estimate = RatioEstimate(dict(estimate.sums)["n"])
    if isinstance(estimate, Cells):
        return _rms(_cell_errors(level, estimate, bits))
    assert isinstance(estimate, RatioEstimate)
    if len(plan.levels) > 1 and _adds_up(plan, estimate):
        return _rms(_agreed_errors(plan, index, estimate, bits))
    noise = _noise(level, DRAWS, bits)
    errors = sum((float(c) * noise[i] for i, c in estimate.numerator.terms), np.zeros(DRAWS))
    return _rms(np.round(errors) if estimate.whole else errors)


def _rms(errors: NDArray[Any]) -> float:
    return math.sqrt(float(np.mean(np.square(errors, dtype=np.float64))))


def _noise(level: GroupingSet, draws: int, bits: SeededBits) -> dict[int, NDArray[Any]]:
    """Draw the noise of every measure of one grouping set, as its mechanisms do."""
    part, found = level.parts[0], {}
    block = {} if part.draws else find_block(part)
    if block:
        joint = next(iter(block.values())).joint
        drawn = joint.noise(draws, joint.dimension, bits=bits).astype(np.float64)
        found = {i: drawn[:, coordinate.place] for i, coordinate in block.items()}
    for i, mechanism in enumerate(() if part.draws else part.mechanisms):
        if isinstance(mechanism, Laplace | Gaussian):
            found[i] = mechanism.noise(1, draws, bits=bits).ravel().astype(np.float64)
    return found


def _cell_errors(level: GroupingSet, cells: Cells, bits: SeededBits) -> NDArray[Any]:
    """Draw the noise of all cells, and add it up as a distribution function does, before its numbers rise."""
    part, index = level.releases[cells.release]
    mechanism, size = part.mechanisms[index], len(cells.labels)
    repeats = max(200, CELL_DRAWS // size)
    if isinstance(mechanism, MeasuredCells):
        assert isinstance(mechanism.noise, Laplace | Gaussian)
        drawn = mechanism.noise.noise(1, repeats * mechanism.strategy.measurements, bits=bits).reshape(repeats, -1)
        return np.array([mechanism.law.running(row.tolist()) for row in drawn]) * float(cells.worth)
    assert isinstance(mechanism, Laplace | Gaussian)
    drawn = mechanism.noise(1, repeats * size, bits=bits).reshape(repeats, size).astype(np.float64)
    return np.asarray((drawn.cumsum(axis=1) if cells.cumulative else drawn) * float(cells.worth))


def _adds_up(plan: Plan, estimate: RatioEstimate) -> bool:
    terms = estimate.numerator.terms
    return len(terms) == 1 and isinstance(plan.aggregation.measures[terms[0][0]], CountRows | SumValues)


def _agreed_errors(plan: Plan, index: int, estimate: RatioEstimate, bits: SeededBits) -> NDArray[Any]:
    """Average independent noises over the tables of all grouping sets: a linear map, found by unit tables."""
    ((place, factor),) = estimate.numerator.terms
    sizes = [len(key.values or ()) for key in plan.keys]
    sets, lengths = [level.places for level in plan.levels], [level.aggregation.groups for level in plan.levels]
    laws: list[Any] = [_additive(level, place).law for level in plan.levels]
    starts = np.cumsum([0, *lengths])

    def averaged(flat: NDArray[Any]) -> NDArray[Any]:
        pieces = [flat[a:b] for a, b in pairwise(starts.tolist())]
        return np.asarray(make_consistent(sizes, sets, pieces, list_variances(laws))[index]).ravel()

    matrix = np.array([averaged(unit) for unit in np.eye(starts[-1])])
    draws = max(2_000, DRAWS // lengths[index])
    noise = [
        _additive(level, place).noise(1, draws * length, bits=bits).reshape(draws, length).astype(np.float64)
        for level, length in zip(plan.levels, lengths, strict=True)
    ]
    return np.asarray(np.concatenate(noise, axis=1) @ matrix * float(factor))


def _additive(level: GroupingSet, place: int) -> Laplace | Gaussian:
    part, index = level.releases[place]
    mechanism = part.mechanisms[index]
    assert isinstance(mechanism, Laplace | Gaussian)
    return mechanism


@thinned(4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_forecast_is_the_half_width_that_the_answer_shows(path: Path, plans: Plans) -> None:
    for title, plan in plans[path]:
        for (_, estimate), index in ((one, i) for one in plan.estimates for i in range(len(plan.levels))):
            found = forecast_estimate(plan, index, estimate)
            if found.always:
                (span, *_) = _reading(plan, index).intervals(estimate, 0.95)
                # The count below a regression has an interval that is searched for, and a little wide.
                near = 0.03 if isinstance(estimate, Moment) else 1e-6
                assert _widest(span) == pytest.approx(found.half_width, rel=near), title


def _widest(span: Any) -> float:
    spans = list(span.values()) if isinstance(span, dict) else [span]
    return float(max(high - low for low, high in spans)) / 2


def _reading(plan: Plan, index: int) -> GroupReader:
    """Read an answer in which every noise was 0."""
    levels = tuple(
        ReleasedGroups(
            level.places,
            groups := ((None,),) if plan.selection else list_groups([plan.keys[i] for i in level.places]),
            tuple(getattr(part.mechanisms[i], "law", None) for part, i in level.releases),
            tuple((_zero(part.mechanisms[i], part, i),) * len(groups) for part, i in level.releases),
        )
        for level in plan.levels
    )
    release = Release(
        plan.question,
        plan.keys,
        plan.estimates,
        plan.aggregation.measures,
        levels,
        plan.selection,
        plan.selection_count,
    )
    return release.readings[index]


def _zero(mechanism: Any, part: Any, index: int) -> Any:
    if not part.draws:
        return 0
    if isinstance(mechanism, MeasuredCells):
        return (0,) * mechanism.strategy.measurements
    return (0,) * part.draws[index].axis.cells if part.draws[index].kind in {"cells", "running"} else 0


def test_every_aggregate_has_a_forecast_or_is_none_that_could_have_one(plans: Plans) -> None:
    """The sums of squares below a regression are the ones that depend on the rows in no simple way."""
    for path in FILES:
        for title, plan in plans[path]:
            for _, estimate in plan.estimates:
                found = forecast_estimate(plan, 0, estimate)
                assert _says(found) or isinstance(estimate, Moment), title
                assert (found.weight_error is not None) <= isinstance(estimate, Picked), title


def _says(found: AggregateForecast) -> bool:
    numbers = (found.half_width, found.most_per_row, found.rank_error, found.weight_error, found.least_per_row)
    return any(number is not None and 0 <= number < math.inf for number in numbers)


@deep
def test_most_golden_forecasts_do_not_depend_on_the_data(plans: Plans) -> None:
    """Otherwise the tests above would measure little."""
    found = [
        forecast_estimate(plan, 0, estimate).always
        for path in FILES
        for _, plan in plans[path]
        for _, estimate in plan.estimates
    ]
    assert sum(found) >= 100


def test_every_release_shows_what_else_was_considered_and_its_forecast(plans: Plans) -> None:
    """In `make test` only the first two questions of each file."""
    for path in FILES:
        for title, plan in plans[path][: None if DEPTH > 1 else 2]:
            for note in explain_plan(plan).measures:
                assert note.alternatives, (title, note.name)
                for other in note.alternatives:
                    assert other.half_width is not None or "rms" in other.outcome, (title, note.name, other)
                    # What is picked has a rank or a weight, and no root mean square error whatever the data.
                    known = other.rms is not None or "rms" in other.outcome or isinstance(note, ChoiceNote)
                    assert known, (title, note.name, other)
