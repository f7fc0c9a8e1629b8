"""docs/bigquery.md is true: its blocks run, its numbers are right, and it names every option."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.docs.sessions import DOCS, blocks, failures
from tests.harness import noise_off

import jali
from jali.sql.bigquery import read_clause

PAGE = (DOCS / "bigquery.md").read_text()
OPTIONS = [
    "epsilon = 1",
    "delta = 1e-9",
    "privacy_unit_column = id",
    "max_groups_contributed = 1",
    "max_rows_contributed = 1",
    "min_privacy_units_per_group = 1",
    "group_selection_strategy = PUBLIC_GROUPS",
]
VISITS = pa.table(
    {
        "patient_id": [1, 1, 1, 2, 3, 3],
        "ward": ["A", "A", "B", "A", "B", "C"],
        "cost": [40.0, 70.0, 5.0, 7.0, 9.0, 300.0],
    }
)


def test_the_blocks_run() -> None:
    assert len(blocks("bigquery.md")) >= 4
    assert failures("bigquery.md") == 0


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_that_is_read_is_in_the_table(option: str) -> None:
    assert read_clause(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({option}) COUNT(*) FROM t")[1] is not None
    assert f"\n| `{option.split(maxsplit=1)[0]}` |" in PAGE


def test_the_table_has_no_other_options() -> None:
    rows = PAGE.split("| Option |")[1].split("\n\n")[0].splitlines()[2:]
    assert len(rows) == len(OPTIONS)


@pytest.mark.parametrize(("groups", "wanted"), [(2, "107, 14 and 100"), (1, "57, 7 and 50")])
def test_the_numbers_of_the_example_are_right(groups: int, wanted: str) -> None:
    with jali.connect() as db, noise_off():
        wards = {"ward": jali.Keys(["A", "B", "C"])}
        db.protect("visits", VISITS, unit="patient_id", max_rows=5, columns=wards, budget=jali.Budget(epsilon=1))
        question = "SELECT ward, SUM(cost, contribution_bounds_per_group => (0, 100)) FROM visits GROUP BY ward"
        a, b, c = (round(float(row[1]), 3) for row in db.ask(question, epsilon=1, max_groups=groups).rows)
    assert f"{a:g}, {b:g} and {c:g}" == wanted
    assert wanted in PAGE
