"""Intervals with sampling error cover the value of the population that the rows are a random sample of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.coverage.repeated import CONFIDENCE, LEAST, seeded
from tests.depth import thinned

import jali

# Each group is a random sample of its own, so that one answer has as many repetitions as it has groups.
SAMPLES = 2_000
SIZE = 50
PEOPLE, VISITS = 30, 3
SLOPE, HEIGHT = 3.0, 20.0


def _database(columns: dict[str, Any], unit: str | None) -> jali.Database:
    db = jali.connect()
    declared: dict[str, Any] = {
        "g": jali.Keys(list(range(SAMPLES))),
        "x": jali.Range(0, 10),
        "y": jali.Range(0, 100),
        "ill": jali.Range(0, 1),
    }
    known = {name: declared[name] for name in columns if name in declared}
    most = None if unit is None else VISITS
    budget = jali.Budget(epsilon=10**4)
    db.protect("t", pa.table(columns), unit=unit, max_rows=most, columns=known, budget=budget)
    return db


@pytest.fixture(scope="module")
def rows() -> jali.Database:
    """Rows of a population in which x is even over [0, 10], y about 20 + 3 x, and 15 % are ill."""
    random = np.random.default_rng(11)
    size = SAMPLES * SIZE
    x = random.uniform(0, 10, size)
    columns = {
        "g": np.repeat(np.arange(SAMPLES), SIZE),
        "x": x,
        "y": HEIGHT + SLOPE * x + random.uniform(-8, 8, size),
        "ill": (random.random(size) < 0.15).astype(int),
    }
    return _database(columns, None)


@pytest.fixture(scope="module")
def people() -> jali.Database:
    """Visits of people: one to three each, of which all are ill or none."""
    random = np.random.default_rng(12)
    each = random.integers(1, VISITS + 1, SAMPLES * PEOPLE)
    owners = np.repeat(np.arange(SAMPLES * PEOPLE), each)
    ill = (random.random(SAMPLES * PEOPLE) < 0.3).astype(int)
    return _database({"uid": owners, "g": owners // PEOPLE, "ill": ill[owners]}, "uid")


def _covered(
    db: jali.Database, outputs: str, truth: list[float], epsilon: float, *, sampling: bool
) -> list[float]:
    sql = f"SELECT g, {outputs} FROM t GROUP BY g"
    with seeded():
        answer = db.ask(sql, epsilon=epsilon)
    spans = [row[1 : 1 + len(truth)] for row in answer.interval(CONFIDENCE, sampling=sampling)]
    held = [[low <= true <= high for (low, high), true in zip(row, truth, strict=True)] for row in spans]
    return [float(share) for share in np.mean(held, axis=0)]


QUESTIONS = {
    "AVG(ill), 100 * COUNT(*) FILTER (WHERE ill = 1) / COUNT(*)": [0.15, 15.0],
    "AVG(y), SUM(x) / COUNT(*)": [HEIGHT + 5 * SLOPE, 5.0],
    "AVG(y), AVG(x), STDDEV(y), VAR_POP(x)": [HEIGHT + 5 * SLOPE, 5.0],
    "REGR_SLOPE(y, x), REGR_INTERCEPT(y, x), REGR_AVGY(y, x), REGR_SYY(y, x)": [SLOPE, HEIGHT, HEIGHT + 5 * SLOPE],
}


# With the larger loss the sampling error is the larger one, with the smaller the noise.
@thinned(4)
@pytest.mark.parametrize("epsilon", [60, 2], ids=["sampling", "noise"])
@pytest.mark.parametrize("outputs", QUESTIONS)
def test_the_populations_value_is_covered(rows: jali.Database, outputs: str, epsilon: float) -> None:
    assert min(_covered(rows, outputs, QUESTIONS[outputs], epsilon, sampling=True)) >= LEAST


def test_without_sampling_error_it_is_not(rows: jali.Database) -> None:
    outputs = "AVG(ill), 100 * COUNT(*) FILTER (WHERE ill = 1) / COUNT(*)"
    assert max(_covered(rows, outputs, QUESTIONS[outputs], 60, sampling=False)) < 0.8


@pytest.mark.parametrize("beside", ["COUNT(DISTINCT uid)", "COUNT(*)"])
def test_rows_of_one_person_that_are_alike_do_not_narrow_it(people: jali.Database, beside: str) -> None:
    outputs = f"AVG(ill), COUNT(*) FILTER (WHERE ill = 1) / COUNT(*), {beside}"
    assert min(_covered(people, outputs, [0.3, 0.3], 60, sampling=True)) >= LEAST


def test_a_share_of_people_is_covered(people: jali.Database) -> None:
    outputs = "COUNT(DISTINCT uid) FILTER (WHERE ill = 1) / COUNT(DISTINCT uid)"
    assert min(_covered(people, outputs, [0.3], 60, sampling=True)) >= LEAST
