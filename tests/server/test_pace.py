"""`--pace`: an answer or a failure leaves at a fixed time, and nothing tells before when the engine was done."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from math import isclose
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.serving import Place, served

from jali.engines.base import make_failure
from jali.engines.duckdb import DuckDBEngine
from jali.server.jobs import Pace

COUNT = {"sql": "SELECT COUNT(*) FROM visits WHERE age > 41", "epsilon": "0.1"}


@given(interval=st.floats(0.01, 100), elapsed=st.floats(0, 10_000))
def test_an_answer_leaves_at_the_next_multiple(interval: float, elapsed: float) -> None:
    left = Pace(interval).release_after(elapsed)
    assert isclose(left / interval, round(left / interval), abs_tol=1e-6)
    assert left >= min(interval, elapsed) * (1 - 1e-9)
    assert left >= elapsed * (1 - 1e-9)
    assert left == interval or left - interval < elapsed


@pytest.mark.parametrize(("took", "until"), [(0.0, 0.5), (0.49, 0.5), (0.51, 1.0), (7.2, 7.5)])
def test_what_is_held_waits_until_then_and_no_longer(
    monkeypatch: pytest.MonkeyPatch, took: float, until: float
) -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += max(seconds / 2, 1e-4)  # a sleep may end early

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr("jali.server.jobs.time", clock)
    held = Pace(0.5, began=100.0)
    now[0] += took
    held.hold()
    assert now[0] == pytest.approx(100 + until, abs=1e-3)


def test_without_an_interval_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jali.server.jobs.time", SimpleNamespace(sleep=lambda _: pytest.fail("it waited")))
    Pace().hold()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Answers are held until the second event is set; the first tells that one is held."""
    reached, over = threading.Event(), threading.Event()

    def hold(_: Pace) -> None:
        reached.set()
        assert over.wait(60)

    monkeypatch.setattr(Pace, "hold", hold)
    yield reached, over
    over.set()


def ask(place: Place, **options: Any) -> httpx.Response:
    with place.client("ana") as client:
        return client.post("/api/v1/ask", json=COUNT | options)


@pytest.fixture
def asking() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def test_until_then_its_receipt_is_open_and_its_worker_taken(
    place: Place, held: tuple[threading.Event, threading.Event], asking: ThreadPoolExecutor
) -> None:
    reached, over = held
    answer: Future[httpx.Response] = asking.submit(ask, place)
    assert reached.wait(30)
    (receipt,) = place.database.receipts()
    assert receipt.state == "open"
    with place.client("ana") as client:
        shown = client.get(f"/api/v1/receipts/{receipt.id}").json()
        assert (shown["state"], shown["working"], shown["stage"]) == ("open", True, "reading")
        assert client.get(f"/api/v1/receipts/{receipt.id}/answer").status_code == 202
    assert place.app.state.jali.jobs.under_way == 1
    assert not answer.done()
    over.set()
    assert answer.result(30).status_code == 200


def test_a_failure_is_held_as_long(
    place: Place,
    held: tuple[threading.Event, threading.Event],
    asking: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: Any) -> Any:
        raise make_failure("disk")

    monkeypatch.setattr(DuckDBEngine, "run", fails)
    reached, over = held
    answer = asking.submit(ask, place)
    assert reached.wait(30)
    assert not answer.done()
    over.set()
    assert answer.result(30).status_code == 503


def test_who_cancels_does_not_learn_whether_the_engine_was_done(
    place: Place, held: tuple[threading.Event, threading.Event], asking: ThreadPoolExecutor
) -> None:
    reached, over = held
    answer = asking.submit(ask, place)
    assert reached.wait(30)
    (receipt,) = place.database.receipts()

    def cancel() -> httpx.Response:
        with place.client("ana") as client:
            return client.post(f"/api/v1/receipts/{receipt.id}/cancel")

    cancelled = asking.submit(cancel)
    job = place.app.state.jali.jobs.find_job(receipt.id)
    while not job.cancellation.reason:
        assert not cancelled.done()
    over.set()
    assert (cancelled.result(30).json()["state"], answer.result(30).status_code) == ("open", 503)
    assert place.database.receipts()[0].state == "open"


def test_counts_of_what_was_removed_are_held_too(
    place: Place, held: tuple[threading.Event, threading.Event], asking: ThreadPoolExecutor
) -> None:
    reached, over = held

    def removed() -> httpx.Response:
        with place.client("ana") as client:
            document = {"sql": "SELECT AVG(age) FROM visits", "epsilon": "0.1"}
            return client.post("/api/v1/removed", json=document)

    answer = asking.submit(removed)
    assert reached.wait(30)
    assert {receipt.state for receipt in place.database.receipts()} == {"open"}
    over.set()
    assert answer.result(30).status_code == 200


def test_a_server_paces_what_it_answers(tmp_path: Path) -> None:
    """The time is a multiple: what is above it is what writing and sending take."""
    with served(tmp_path, pace=0.4) as place:
        seconds = [ask(place, sql=f"SELECT COUNT(*) FROM visits WHERE age > {n}").elapsed for n in range(3)]
        again = ask(place, sql="SELECT COUNT(*) FROM visits WHERE age > 0")
    assert all(found.total_seconds() >= 0.4 for found in seconds)
    assert again.json()["cached"]
