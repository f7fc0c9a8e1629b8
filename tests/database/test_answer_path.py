"""What an answer needs, through which packages it comes, and what it does not load or compute."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.trace_ask import QUESTION, open_clinic, trace_question

from jali.execution.intervals import GroupReader

# Of one question with groups, by an analyst with a grant.
RETURNS = 15

ASKED = """
import json, sys
import jali
db = jali.connect()
import pyarrow as pa
columns = {"x": jali.Range(0, 9), "k": jali.Keys(["a", "b"])}
rows = pa.table({"u": [1, 2], "x": [1, 2], "k": ["a", "b"]})
db.protect("t", rows, unit="u", max_rows=2, columns=columns, budget=jali.Budget(epsilon=100))
for sql in (
    "SELECT k, COUNT(*), AVG(x), MEDIAN(x) FROM t GROUP BY k",
    "SELECT SUM(n) FROM (SELECT u, COUNT(*) AS n FROM t GROUP BY u)",
):
    answer = db.ask(sql, epsilon=1)
    assert answer.rows and db.ask(sql, epsilon=1).cached
{more}
print(json.dumps([name for name in sys.modules if name.startswith("jali.explain")]))
"""


def loaded(more: str = "") -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", ASKED.replace("{more}", more)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def test_an_answer_loads_no_explanation() -> None:
    assert loaded() == []


def test_an_explanation_does() -> None:
    assert "jali.explain.labelled_facts" in loaded("str(db.explain('SELECT COUNT(*) FROM t', epsilon=1))")


def test_a_question_rarely_returns_to_a_package_that_it_has_left(tmp_path: Path) -> None:
    """The tree before had 42 returns for such a question, counted in the same way."""
    with open_clinic(tmp_path) as db:
        walk = trace_question(db)
    entered = [package for package, _ in walk.hops]
    assert {"sql", "planner", "ledger", "engines", "mechanisms", "sampling"} <= set(entered)
    assert walk.returns.total() <= RETURNS, walk.returns


def test_printing_an_answer_again_computes_no_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[Any] = []
    real = GroupReader.intervals

    def intervals(reader: GroupReader, estimate: Any, confidence: float) -> Any:
        computed.append(estimate)
        return real(reader, estimate, confidence)

    monkeypatch.setattr(GroupReader, "intervals", intervals)
    with open_clinic(tmp_path) as db:
        for sql in (QUESTION, "SELECT COUNT(*) FROM visits"):
            answer = db.ask(sql, epsilon=1)
            printed = str(answer)
            assert computed
            computed.clear()
            assert str(answer) == printed
            assert repr(answer)
            assert answer._repr_html_()
            assert answer.to_json()["intervals"]
            assert any("not counted" in remark for remark in answer.remarks) is (sql != QUESTION)
            assert computed == []
