"""A server loads no attack code before somebody uses the lab."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

USE = """
import sys
from pathlib import Path

import httpx
from tests.server.serving import served

with served(Path(sys.argv[1]), planners=0) as place:
    with place.client("ana") as ana:
        question = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}
        assert ana.post("/api/v1/ask", json=question).status_code == 200
        assert ana.get("/api/v1/receipts").status_code == 200
    assert httpx.get(f"{place.address}/sign-in").status_code == 200
    before = {name for name in sys.modules if f"{name}.".startswith("jali.lab.")}
    with place.client("ana") as ana:
        assert ana.get("/api/v1/lab/reconstruction?n=16").status_code == 200
    after = {name for name in sys.modules if f"{name}.".startswith("jali.lab.")}
print(len(before), "jali.lab.attacks" in after, *sorted(before))
"""


def test_a_server_loads_the_lab_only_when_it_is_used(tmp_path: Path) -> None:
    found = subprocess.run([sys.executable, "-c", USE, tmp_path], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["0", "True"]
