"""Refusals and unknown tables take the same steps whatever the data: the engine reads nothing for them.

No time is asserted here; `python -m benchmarks.server_timing` compares times over tables of different sizes.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.serving import Place

from jali.engines.duckdb import DuckDBEngine

REFUSED: tuple[tuple[dict[str, Any], int], ...] = (
    ({"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "epsilon": 1000}, 402),
    ({"sql": "SELECT COUNT(*) FROM visits WHERE age > 3", "rho": 1000}, 402),
    ({"sql": "SELECT COUNT(*) FROM nowhere", "epsilon": 1}, 400),
    ({"sql": "SELECT SUM(nothing) FROM visits", "epsilon": 1}, 400),
    ({"sql": "SELECT age FROM visits", "epsilon": 1}, 422),
)


@pytest.mark.parametrize(("document", "status"), REFUSED)
def test_what_is_refused_reads_no_data(
    shared: Place, monkeypatch: pytest.MonkeyPatch, document: dict[str, Any], status: int
) -> None:
    read: list[str] = []
    for name in ("run", "_cursor"):
        monkeypatch.setattr(DuckDBEngine, name, lambda *_, name=name, **__: read.append(name))
    with shared.client("ana") as client:
        for path in ("ask", *(("explain",) if status != 402 else ())):
            assert client.post(f"/api/v1/{path}", json=document).status_code == status
    assert read == []


def test_explaining_reads_no_data(shared: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDBEngine, "_cursor", lambda *_, **__: pytest.fail("the data was opened"))
    with shared.client("ana") as client:
        document = {"sql": "SELECT ward, AVG(age) FROM visits GROUP BY ward", "epsilon": 1}
        assert client.post("/api/v1/explain", json=document).status_code == 200
