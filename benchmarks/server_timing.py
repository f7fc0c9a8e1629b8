"""How long refusals take over small and large tables, interleaved: they must not tell how large the data is."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from benchmarks.measure import Row, at_most
from tests.database.clinic import make_visits, open_clinic
from tests.server.serving import running

from jali.server.app import make_app
from jali.server.settings import Settings

ROUNDS, SIZES = 400, (100, 2_000_000)
REFUSALS = {
    "refused by the budget": {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "epsilon": 1000},
    "an unknown table": {"sql": "SELECT COUNT(*) FROM nowhere", "epsilon": 1},
}


def rows() -> list[Row]:
    """Measure: the medians over both tables differ by less than the quartiles of one of them do."""
    with ExitStack() as stack:
        clients = [stack.enter_context(_served(size)) for size in SIZES]
        took = {said: [list[float](), list[float]()] for said in REFUSALS}
        for _ in range(ROUNDS):
            for said, document in REFUSALS.items():
                for client, held in zip(clients, took[said], strict=True):
                    began = time.perf_counter()
                    assert client.post("/api/v1/ask", json=document).status_code in (400, 402)
                    held.append(time.perf_counter() - began)
    return [_row(said, *held) for said, held in took.items()]


def _row(said: str, small: list[float], large: list[float]) -> Row:
    low, middle, high = statistics.quantiles(small, n=4)
    apart = abs(statistics.median(large) - middle) / (high - low)
    return at_most(f"{said}: apart by rows, in quartile distances ({1e3 * middle:.1f} ms)", apart, 1)


@contextmanager
def _served(size: int) -> Iterator[httpx.Client]:
    with tempfile.TemporaryDirectory() as name:
        make_visits(Path(name) / "visits.parquet", size)
        with open_clinic(Path(name), epsilon=10) as database:
            token = database.access.create("cara", "curator").text
            with running(make_app(database, Settings(rate=1e6, burst=10**6))) as address:
                headers = {"Authorization": f"Bearer {token}"}
                with httpx.Client(base_url=address, headers=headers) as client:
                    yield client
