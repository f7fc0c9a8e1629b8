"""Answers of every shape, from a small table to text, JSON, frames, HTML and pictures."""

from __future__ import annotations

import datetime
import json
from typing import Any

import matplotlib as mpl
import pyarrow
import pytest

import jali

mpl.use("Agg")
ROWS = 600
WARDS = ["A", None]


@pytest.fixture(scope="module")
def database() -> Any:
    day = datetime.date(2025, 1, 1)
    visits = pyarrow.table(
        {
            "who": list(range(ROWS)),
            "ward": pyarrow.array([WARDS[i % 2] for i in range(ROWS)], pyarrow.string()),
            "code": ["often" if i % 10 else f"rare {i}" for i in range(ROWS)],
            "age": [i % 80 for i in range(ROWS)],
            "day": [day + datetime.timedelta(days=i % 60) for i in range(ROWS)],
        }
    )
    columns: dict[str, jali.Keys | jali.Range] = {
        "ward": jali.Keys(WARDS),
        "age": jali.Range(0, 100),
        "day": jali.Range(day, datetime.date(2025, 3, 1)),
    }
    opened = jali.connect()
    opened.protect("visits", visits, unit="who", max_rows=1, columns=columns, budget=jali.Budget(1000, 1e-3))
    return opened


def test_totals_say_all_where_a_null_key_says_null(database: Any) -> None:
    answer = database.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)", epsilon=5)
    assert [row[0] for row in answer.rows] == ["A", None, None]
    assert answer.totals == [(), (), ("ward",)]
    assert [line.split()[0] for line in str(answer).splitlines()[2:5]] == ["A", "NULL", "(all)"]
    assert answer.to_json()["totals"] == [[], [], ["ward"]]
    assert [label for label, _, _ in answer.plot_data()] == ["A", "NULL", "(all)"]
    assert "(all)" in answer._repr_html_()


def test_lists_and_mappings_reach_every_form(database: Any) -> None:
    sql = """
        SELECT ward, QUANTILE_CONT(age, [0.25, 0.75]) AS q, HISTOGRAM(age, [20, 40]) AS h,
            APPROX_TOP_K(ward, 1) AS top, MEDIAN(day) AS middle
        FROM visits GROUP BY ward
    """
    answer = database.ask(sql, epsilon=20)
    types = {field.name: field.type for field in answer.to_arrow().schema}
    assert types["q"] == types["q_low"] == types["q_high"] == pyarrow.list_(pyarrow.int64())
    assert types["h"] == types["h_low"] == pyarrow.map_(pyarrow.string(), pyarrow.float64())
    assert types["middle"] == types["middle_high"] == pyarrow.date32()
    assert not {"top_low", "top_high"} & set(types)
    assert answer.to_polars().columns == answer.to_pandas().columns.tolist() == list(types)
    assert answer.to_pandas()["h"][0] == answer.rows[0][2]
    document = answer.to_json()
    json.dumps(document, allow_nan=False)
    assert [label for label, _ in document["rows"][0][2]] == [20, 40, "above"]
    assert [label for label, _ in document["intervals"][0][2]] == [20, 40, "above"]
    assert len(document["intervals"][0][1]) == 2
    assert document["intervals"][0][3] is None
    assert "\n" not in repr(answer)
    assert repr(answer).startswith("Answer(ward A, q [")
    for column in (None, "q", "h", "middle"):
        answer.plot(column).figure.canvas.draw()
    for column in ("ward", "top"):
        with pytest.raises(jali.errors.QueryError, match=f"{column} has no numbers to plot"):
            answer.plot(column)


def test_groups_that_were_chosen_are_explained_below_the_table(database: Any) -> None:
    sql = "SELECT code, COUNT(*) AS n FROM visits GROUP BY code"
    answer = database.ask(sql, epsilon=4, delta=1e-6, min_people=5)
    assert [row[0] for row in answer.rows] == ["often"]
    assert answer.group_sizes is not None
    assert answer.group_sizes.least == 5 <= answer.group_sizes.even <= answer.group_sizes.likely
    told = "one of fewer than 5 never."
    assert told in str(answer)
    assert told in answer._repr_html_()
    assert answer.to_json()["group_sizes"]["least"] == 5
    known = database.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1)
    assert (known.group_sizes, known.remarks) == (None, ())


def test_a_built_question_is_answered_like_its_sql(database: Any) -> None:
    session_budget = jali.Budget(100, 1e-6)
    database.grant("ana", "visits", session_budget)
    built = (
        database.session("ana")
        .table("visits")
        .where("age < 70")
        .rollup("ward", half="age < 40")
        .agg(n=jali.count(), q="QUANTILE_CONT(age, [0.5, 0.9])", young=jali.count(where="age < 10"))
        .having("n > -1000000")
        .order_by("n", descending=True)
        .limit(4)
    )
    answer = built.ask(epsilon=5)
    assert answer.columns == ("ward", "half", "n", "q", "young")
    assert [row[2] for row in answer.rows] == sorted((row[2] for row in answer.rows), reverse=True)
    assert len(answer) == 4
    assert "rho" in str(built.explain(rho=0.5))
