"""What an answer needs, and what it does not load: nothing that explains or draws."""

from __future__ import annotations

import json
import subprocess
import sys

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
