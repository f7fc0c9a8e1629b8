"""A measurement is added by one file and one registration: the planner chooses it, and everything follows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.parquet import write_parquet


def test_a_question_is_answered_through_a_measurement_that_a_test_registers(tmp_path: Path) -> None:
    rows = "SELECT range AS uid, CASE WHEN range % 2 = 0 THEN 'A' ELSE 'B' END AS ward, 30 AS age FROM range(1000)"
    write_parquet(rows, tmp_path / "visits.parquet")
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.planner.ask_registered", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kinds"] == ["TwoSidedGeometric"]
    assert "two-sided geometric" in told["explained"]
    assert told["cost"] == "epsilon 100"
    assert [ward for ward, _ in told["rows"]] == ["A", "B"]
    # One unit counts for two rows: noise of scale 2/100 is beyond 1 but once in 10^21.
    assert [count for _, count in told["rows"]] == pytest.approx([500, 500], abs=1)
    assert told["interval"][0] < told["rows"][0][1] < told["interval"][1]
    assert told["again"] == told["rows"]
    assert told["cached"] is True
    assert told["problems"] == []
    assert "500" in told["shown"] or "499" in told["shown"]
