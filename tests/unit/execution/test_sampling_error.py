"""Sampling errors are those of plain statistics, say where they are bounds, and stand beside the privacy error."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from tests.harness import noise_off

import jali
from jali.answer import Answer
from jali.execution.sampling_error import SamplingErrors, compare_errors

SIZE = 400
random = np.random.default_rng(3)
X = np.round(random.uniform(0, 10, SIZE), 3)
Y = np.round(20 + 3 * X + random.uniform(-8, 8, SIZE), 3)
ILL = (random.random(SIZE) < 0.2).astype(int)
WARD = np.where(np.arange(SIZE) < 300, "A", "B")
OWNER = np.arange(SIZE) // 2  # two rows each
TABLE = pa.table({"uid": OWNER, "ward": WARD, "x": X, "y": Y, "ill": ILL})
RANGES: dict[str, Any] = {
    "ward": jali.Keys(["A", "B"]),
    "x": jali.Range(0, 10),
    "y": jali.Range(0, 100),
    "ill": jali.Range(0, 1),
}


def _database(unit: str | None) -> jali.Database:
    db = jali.connect()
    most = None if unit is None else 4
    db.protect("t", TABLE, unit=unit, max_rows=most, columns=RANGES, budget=jali.Budget(epsilon=10**6))
    return db


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with _database(None) as opened:
        yield opened


@pytest.fixture(scope="module")
def people() -> Iterator[jali.Database]:
    with _database("uid") as opened:
        yield opened


def _exact(db: jali.Database, outputs: str, rest: str = "") -> Answer:
    with noise_off():
        return db.ask(f"SELECT {outputs} FROM t {rest}", epsilon=1)


def _error(answer: Answer, column: str) -> float:
    (found,) = answer.sampling_error(column)
    assert found is not None
    return found


def test_a_mean_with_its_deviation_has_the_usual_standard_error(db: jali.Database) -> None:
    answer = _exact(db, "AVG(x) AS m, STDDEV(x) AS s")
    assert _error(answer, "m") == pytest.approx(scipy.stats.sem(X), rel=1e-6)
    assert not answer.sampling_at_most("m")


def test_a_mean_alone_has_at_most_the_error_that_its_range_allows(db: jali.Database) -> None:
    answer = _exact(db, "AVG(x) AS m")
    assert answer.sampling_at_most("m")
    mean = X.mean()
    assert _error(answer, "m") == pytest.approx(math.sqrt(mean * (10 - mean) / SIZE), rel=1e-3)
    assert _error(answer, "m") > scipy.stats.sem(X)


@pytest.mark.parametrize(
    ("output", "factor"),
    [
        ("AVG(ill)", 1),
        ("AVG(CASE WHEN ill = 1 THEN 1 ELSE 0 END)", 1),
        ("SUM(ill) / COUNT(*)", 1),
        ("COUNT(*) FILTER (WHERE ill = 1) / COUNT(*)", 1),
        ("100 * COUNT(*) FILTER (WHERE ill = 1) / COUNT(*)", 100),
        ("1 - AVG(ill)", 1),
        ("-AVG(ill) / 2", 0.5),
        ("COUNT(*) FILTER (WHERE x >= 0 AND ill = 1) / COUNT(*) FILTER (WHERE x >= 0)", 1),
    ],
)
def test_a_proportion_has_the_binomial_error(db: jali.Database, output: str, factor: float) -> None:
    answer = _exact(db, f"{output} AS p")
    share = (ILL.sum() + 2) / (SIZE + 4)
    assert _error(answer, "p") == pytest.approx(factor * math.sqrt(share * (1 - share) / SIZE), rel=1e-6)
    assert not answer.sampling_at_most("p")


def test_a_proportion_of_nobody_still_has_an_error(db: jali.Database) -> None:
    answer = _exact(db, "COUNT(*) FILTER (WHERE x > 10) / COUNT(*) AS p")
    assert answer.rows == [(0,)]
    assert _error(answer, "p") > 0.5 / SIZE


def test_a_line_has_the_errors_of_least_squares(db: jali.Database) -> None:
    answer = _exact(db, "REGR_SLOPE(y, x) AS b, REGR_INTERCEPT(y, x) AS a, CORR(y, x) AS r")
    line = scipy.stats.linregress(X, Y)
    assert _error(answer, "b") == pytest.approx(line.stderr, rel=1e-5)
    assert _error(answer, "a") == pytest.approx(line.intercept_stderr, rel=1e-5)
    assert _error(answer, "r") == pytest.approx((1 - line.rvalue**2) / math.sqrt(SIZE - 1), rel=1e-5)
    assert not any(map(answer.sampling_at_most, "bar"))


def test_a_slope_alone_has_at_most_the_error_that_the_range_allows(db: jali.Database) -> None:
    answer = _exact(db, "REGR_SLOPE(y, x) AS b")
    line = scipy.stats.linregress(X, Y)
    most = (100 - Y.mean()) * Y.mean() - line.slope**2 * X.var()
    assert answer.sampling_at_most("b")
    assert _error(answer, "b") == pytest.approx(math.sqrt(most / X.var() / (SIZE - 2)), rel=1e-5)
    assert _error(answer, "b") > line.stderr


@pytest.mark.parametrize(
    "output",
    [
        "COUNT(*)",
        "SUM(x)",
        "MEDIAN(x)",
        "COUNT(*) / COUNT(*) FILTER (WHERE ill = 1)",
        "COUNT(*) FILTER (WHERE x > 5) / COUNT(*) FILTER (WHERE ill = 1)",
        "COUNT(DISTINCT ill) / COUNT(*)",
        "AVG(x) + AVG(y)",
        "SQRT(AVG(x))",
    ],
)
def test_what_needs_the_size_of_the_population_or_more_has_none(db: jali.Database, output: str) -> None:
    answer = db.ask(f"SELECT {output} AS v FROM t", epsilon=1)
    assert answer.sampling_error("v") == [None]
    assert answer.interval(sampling=True) == [(None,)]
    assert not any("ampling" in remark for remark in answer.remarks)


def test_rows_of_a_person_count_as_few_as_the_bound_allows(people: jali.Database) -> None:
    answer = _exact(people, "AVG(x) AS m, STDDEV(x) AS s")
    assert _error(answer, "m") == pytest.approx(scipy.stats.sem(X) * 2, rel=1e-4)  # the root of max_rows
    assert answer.sampling_at_most("m")


def test_the_number_of_people_sharpens_it(people: jali.Database) -> None:
    answer = _exact(people, "AVG(x) AS m, STDDEV(x) AS s, COUNT(DISTINCT uid) AS p")
    # 200 people with 400 rows: the squares of their numbers sum up to at most 200 + 200 * 5.
    worth = 400**2 / 1200
    assert _error(answer, "m") == pytest.approx(X.std(ddof=1) / math.sqrt(worth), rel=1e-4)


def test_a_share_of_people_needs_no_caution(people: jali.Database) -> None:
    answer = _exact(people, "COUNT(DISTINCT uid) FILTER (WHERE ill = 1) / COUNT(DISTINCT uid) AS p")
    ill = len(set(OWNER[ILL == 1]))
    share = (ill + 2) / (200 + 4)
    assert _error(answer, "p") == pytest.approx(math.sqrt(share * (1 - share) / 200), rel=1e-4)
    assert not answer.sampling_at_most("p")


def test_both_errors_are_added_in_squares(db: jali.Database) -> None:
    answer = db.ask("SELECT AVG(x) AS m FROM t", epsilon=5)
    ((value,),), ((own,),), ((both,),) = answer.rows, answer.interval(), answer.interval(sampling=True)
    wide = 1.959964 * _error(answer, "m")
    assert both[0] == pytest.approx(value - math.hypot(value - own[0], wide), rel=1e-6)
    assert both[1] == pytest.approx(value + math.hypot(own[1] - value, wide), rel=1e-6)


def test_an_interval_stays_in_the_public_range(db: jali.Database) -> None:
    answer = db.ask("SELECT AVG(ill) AS m FROM t WHERE x > 9.9", epsilon=1)
    ((span,),) = answer.interval(sampling=True)
    assert span is None or (span[0] >= 0 and span[1] <= 1)


def test_errors_follow_the_order_of_the_rows(db: jali.Database) -> None:
    up, down = (
        _exact(db, "ward, AVG(ill) AS m", f"GROUP BY ward ORDER BY ward {way}").sampling_error("m")
        for way in ("", "DESC")
    )
    assert up == down[::-1]
    assert up[0] != up[1]


def test_keys_and_chosen_rows_are_fine(db: jali.Database) -> None:
    answer = _exact(db, "ward, AVG(ill) AS m, COUNT(*) AS n", "GROUP BY ROLLUP(ward) HAVING COUNT(*) > 350")
    assert len(answer.sampling_error("m")) == len(answer) == 1
    assert answer.sampling_error("ward") == [None]


def test_an_unknown_column_is_refused_by_name(db: jali.Database) -> None:
    answer = db.ask("SELECT AVG(x) AS m FROM t", epsilon=5)
    with pytest.raises(jali.errors.QueryError, match="no column k") as refused:
        answer.sampling_error("k")
    assert "m" in str(refused.value.remedy)


def test_a_printed_answer_says_which_error_dominates(db: jali.Database) -> None:
    sampled = db.ask("SELECT AVG(ill) AS m FROM t", epsilon=1000)
    assert "Sampling error dominates m: ± 0.0" in str(sampled)
    noisy = db.ask("SELECT AVG(ill) AS m FROM t", epsilon="1/20")
    assert "Privacy noise dominates m: ± " in str(noisy)
    assert "against ± 0.0" in noisy._repr_html_()


def test_a_bound_only_may_dominate(db: jali.Database) -> None:
    said = str(db.ask("SELECT ward, AVG(x) AS m FROM t GROUP BY ward", epsilon=1000))
    assert "Sampling error may dominate m in all 2 groups: up to ± 0." in said


def test_the_sentence_counts_the_groups_in_which_sampling_is_larger() -> None:
    errors = SamplingErrors((1.0, 3.0, None, 1.0), at_most=False)
    spans = [(-2.0, 2.0), (-2.0, 2.0), (-9.0, 9.0), (-math.inf, math.inf)]
    assert compare_errors("m", spans, errors, 0.95) == (
        "Sampling error dominates m in 1 of 2 groups: ± 3.9, against ± 2.0 for privacy (medians)."
    )
    assert compare_errors("m", [None], SamplingErrors((1.0,), at_most=False), 0.95) == ""


def test_json_has_the_errors_beside_the_intervals(db: jali.Database) -> None:
    answer = db.ask("SELECT ward, AVG(x) AS m, COUNT(*) AS n FROM t GROUP BY ward", epsilon=5)
    document = json.loads(json.dumps(answer.to_json()))
    assert document["sampling_errors"] == [[None, error, None] for error in answer.sampling_error("m")]
    assert document["sampling_at_most"] == [False, True, False]


def test_a_batch_keeps_the_bound_of_its_people(people: jali.Database) -> None:
    with people.batch(epsilon=50) as batch:
        share = batch.ask("SELECT ward, COUNT(*) FILTER (WHERE ill = 1) / COUNT(*) AS m FROM t GROUP BY ward")
        batch.ask("SELECT COUNT(*) AS n FROM t")
    assert share.answer.sampling_at_most("m")
    assert share.answer.release.max_rows == 4
