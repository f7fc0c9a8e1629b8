from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jali as jali_package

Runner = Callable[..., Any]
SOURCE = str(Path(jali_package.__file__).parents[1])
SQL = "SELECT ward, COUNT(*) AS n, AVG(age) AS age, SUM(cost) AS c FROM visits WHERE age > 60 GROUP BY ward"


def test_an_explanation_names_everything_and_spends_nothing(jali: Runner, clinic: Path) -> None:
    outcome = jali("explain", clinic, SQL, "--epsilon", "0.1")
    assert outcome.code == 0
    for word in ("patient_id", "add-remove", "at most 5 rows", "age > 60", "COUNT(*)", "AVG(age)", "SUM(cost)"):
        assert word in outcome.out
    assert outcome.out.rstrip().endswith("nothing was spent and no data was read.")
    assert jali("ledger", clinic, "--json").document["receipts"] == []


def test_a_program_gets_the_same_facts(jali: Runner, clinic: Path) -> None:
    document = jali("explain", clinic, SQL, "--rho", "0.01", "--json").document
    assert document["unit"] == "patient_id"
    assert document["exact_loss"] == "1/100"
    assert {m["mechanism"] for m in document["measures"]} == {"discrete Gaussian"}
    assert [a["name"] for a in document["aggregates"]] == ["COUNT(*)", "AVG(age)", "SUM(cost)"]
    assert document["sql"].startswith("WITH ")


def test_groups_that_nobody_declared_are_explained_with_a_delta(jali: Runner, clinic: Path) -> None:
    sql = "SELECT code, COUNT(*) AS n, MEDIAN(cost) AS m FROM visits GROUP BY code"
    terms = ("--epsilon", "1", "--delta", "1e-6", "--max-groups", "1", "--min-people", "7")
    document = jali("explain", clinic, sql, *terms, "--json").document
    assert document["selection"]["least"] == 7
    assert document["selection"]["max_groups"] == 1
    assert document["keys"][0]["origin"] == "chosen"
    assert [m["kind"] for m in document["measures"]] == ["noise", "quantile"]
    assert len(document["queries"]) == 2
    assert "one of fewer than 7 never" in " ".join(jali("explain", clinic, sql, *terms).out.split())
    assert jali("explain", clinic, sql, "--epsilon", "1").code == 4


def test_a_question_may_bound_people_more_tightly(jali: Runner, clinic: Path) -> None:
    document = jali("explain", clinic, SQL, "--epsilon", "0.1", "--max-rows", "2", "--json").document
    assert "at most 2 rows" in document["contribution"]
    assert "The question sets this contribution bound; 5 (visits) is declared" in document["contribution"]


def test_explaining_from_a_cold_shell_loads_no_heavy_library(clinic: Path) -> None:
    code = (
        "import sys; from jali.cli import main; code = main(sys.argv[1:]); "
        "heavy = {'duckdb', 'rich', 'pandas', 'scipy'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "explain", str(clinic), SQL, "--epsilon", "0.1"],
        env=os.environ | {"PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
