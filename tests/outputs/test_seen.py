"""Questions that were once paid for and could not be read, or failed with an exception of another library."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.harness import noise_off
from tests.outputs.kinds import COLUMNS, rows
from tests.outputs.readers import read

import jali

SEEN = {
    "GROUPING in HAVING": "SELECT k, COUNT(*) FROM v GROUP BY k HAVING GROUPING(k) = 0",
    "GROUPING in HAVING, of totals": "SELECT k, COUNT(*) FROM v GROUP BY ROLLUP (k) HAVING GROUPING(k) + 1 = 1",
    "GROUPING in ORDER BY": "SELECT k, COUNT(*) FROM v GROUP BY k ORDER BY CASE WHEN GROUPING(k) = 0 THEN 1 END",
    "arithmetic in HAVING": "SELECT k, COUNT(*) FROM v GROUP BY k HAVING SUM(x) + 1 > 2",
    "a text beside the least date": "SELECT k, COUNT(*) FROM v GROUP BY k HAVING MIN(d) + 1 > '2025-01-01'",
    "a date and a number": "SELECT k, MIN(d) + 1, MAX(d) - 7 FROM v GROUP BY k",
    "a difference of dates": "SELECT MAX(d) - MIN(d), MIN(d) - MAX(d) FROM v",
    "the last date and a day": "SELECT MAX(ever) + 1, MIN(ever) - 1 FROM v",
    "a whole number beyond 64 bits": "SELECT CEIL(1e50 * COUNT(*)), 9223372036854775807 * COUNT(*) FROM v",
    "numbers too far apart to be drawn": "SELECT k, CASE WHEN k = 'A' THEN -1e300 ELSE 1e300 END, COUNT(*) FROM v"
    " GROUP BY k",
    "a date moved beyond 9999": "SELECT d + INTERVAL 9000 YEAR, COUNT(*) FROM v GROUP BY 1",
    "a date moved to the end of 9999": "SELECT d + INTERVAL 95693 MONTH, COUNT(*) FROM v GROUP BY 1",
    "the same argument twice": "SELECT SUM(GREATEST(x, huge, huge)), SUM(CLAMP(LEAST(x, x), 0, 1)) FROM v",
    "the same date twice": "SELECT COUNT(*) FROM v WHERE GREATEST(d, ever, ever) > '2025-01-01'",
    "NULL where a condition stands": "SELECT COUNT(*) FROM v WHERE CASE WHEN FALSE THEN NULL ELSE NULL END",
}


@pytest.fixture(scope="module")
def home() -> Iterator[jali.Database]:
    with jali.connect() as db:
        db.protect("v", rows(20), unit="uid", max_rows=4, columns=COLUMNS, budget=jali.Budget(epsilon=10**6))
        yield db


@pytest.mark.parametrize("name", SEEN)
def test_a_question_that_once_failed_is_answered_and_can_be_read(home: jali.Database, name: str) -> None:
    assert read(home.ask(SEEN[name], epsilon=1)) == {}


@pytest.mark.parametrize("clause", ["WHERE GROUPING(k) = 0", "WHERE GROUPING(k) + 1 > 0"])
def test_grouping_before_the_groups_is_refused(home: jali.Database, clause: str) -> None:
    with pytest.raises(
        jali.errors.QueryError, match="GROUPING is not allowed here, because this clause is evaluated for each row"
    ):
        home.ask(f"SELECT k, COUNT(*) FROM v {clause} GROUP BY k", epsilon=1)


def test_a_condition_on_a_sum_and_a_number_keeps_the_groups_that_it_says(home: jali.Database) -> None:
    with noise_off():
        every = home.ask("SELECT day, SUM(x) AS s FROM v GROUP BY day", epsilon=1000).rows
        least = sorted(row[1] for row in every)[1]
        some = home.ask(
            f"SELECT day, SUM(x) AS s FROM v GROUP BY day HAVING SUM(x) + 5 > {least} + 5", epsilon=1000
        )
    assert some.rows == [row for row in every if row[1] + 5 > least + 5]
    assert 0 < len(some.rows) < len(every)


def test_the_interval_of_a_moved_date_is_one_of_dates_and_holds_it(home: jali.Database) -> None:
    ((least, moved),) = home.ask("SELECT MIN(d), MIN(d) + 3 FROM v", epsilon=1).rows
    assert moved == least + datetime.timedelta(days=3)
    (spans,) = home.ask("SELECT MIN(d), MIN(d) + 3 FROM v", epsilon=1).interval()
    assert spans[1] == tuple(end + datetime.timedelta(days=3) for end in spans[0])


def test_the_interval_of_a_difference_of_dates_is_in_days(home: jali.Database) -> None:
    answer = home.ask("SELECT MAX(d) - MIN(d) AS days FROM v", epsilon=1)
    ((days,),), (((low, high),),) = answer.rows, answer.interval()
    assert isinstance(days, int)
    assert isinstance(low, float)
    assert low <= days <= high


@pytest.mark.parametrize("years", [2025, 12_000, 5_000_000])
def test_a_public_date_beyond_9999_is_missing(years: int) -> None:
    days = pa.array([0, (years - 1970) * 366], pa.int32()).view(pa.date32())
    with jali.connect() as db:
        db.protect("v", rows(20), unit="uid", max_rows=4, columns=COLUMNS, budget=jali.Budget(epsilon=10**6))
        table = db.publish("days", pa.table({"word": ["a", "b"], "since": days}))
        keys = table.fields[1].keys
        assert keys is not None
        assert (None in keys.values) == (years > 9999)
        answer = db.ask("SELECT since, COUNT(*) FROM v JOIN days USING (word) GROUP BY since", epsilon=1)
        assert read(answer) == {}
