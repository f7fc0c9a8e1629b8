"""One analyst cannot exhaust the server: plans, running questions, and connections that say nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.database.clinic import open_clinic
from tests.depth import DEPTH
from tests.limits.hostile import hostile_texts
from tests.server.load import serving
from tests.server.serving import Place, served, tokens_of

from jali.engines.base import Cancellation, make_failure
from jali.engines.duckdb import DuckDBEngine

ENDLESS = {"sql": "SELECT COUNT(*) FROM visits WHERE age > 77", "epsilon": "0.1"}
SHORT = {"sql": "SELECT COUNT(*) FROM visits WHERE age > 33", "epsilon": "0.1"}
HUGE = f"SELECT {', '.join(f'SUM(age * {i})' for i in range(500))} FROM visits"


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Have the engine work on one question until it is cancelled; the event is set once it works."""
    began, run = threading.Event(), DuckDBEngine.run

    def running(engine: DuckDBEngine, sql: str, tables: Any, cancellation: Cancellation | None = None) -> Any:
        if "77" not in sql:
            return run(engine, sql, tables, cancellation)
        assert cancellation is not None
        stopped = threading.Event()
        with cancellation.interrupting(stopped.set, 60):
            began.set()
            stopped.wait(60)
        raise make_failure(cancellation.reason)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", running)
        yield began


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for a while."""
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError


def leave(place: Place, began: threading.Event, **options: Any) -> None:
    """Ask the endless question and close the connection once the engine works."""
    address = httpx.URL(place.address)
    body = httpx.Request("POST", f"{place.address}/api/v1/ask", json=ENDLESS | options).read()
    head = (
        f"POST /api/v1/ask HTTP/1.1\r\nHost: {address.host}\r\nAuthorization: Bearer {place.tokens['ana']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((address.host, address.port)) as sent:
        sent.sendall(head.encode() + body)
        assert began.wait(30)


# Running questions.


def test_when_its_client_leaves_the_engine_stops_and_the_receipt_stays_open(
    place: Place, endless: threading.Event
) -> None:
    jobs = place.app.state.jali.jobs
    leave(place, endless)
    until(lambda: jobs.under_way == 0)
    (receipt,) = place.database.receipts()
    assert receipt.state == "open"
    assert not place.database.tables.state("visits").closed


def test_what_was_cancelled_is_redeemed_later(place: Place, endless: threading.Event) -> None:
    leave(place, endless)
    until(lambda: place.app.state.jali.jobs.under_way == 0)
    (receipt,) = place.database.receipts()
    with place.client("ana") as ana, pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", lambda *_: [(17 << 20,)])
        assert ana.post(f"/api/v1/receipts/{receipt.id}/redeem").status_code == 200
    assert place.database.remaining("visits", analyst="ana") is not None
    assert len(place.database.receipts()) == 1


def test_whoever_was_told_the_receipt_may_leave_and_come_back(place: Place, endless: threading.Event) -> None:
    with place.client("ana") as ana:
        assert ana.post("/api/v1/ask", json=ENDLESS | {"wait": 0}).status_code == 202
    leave(place, endless)
    jobs = place.app.state.jali.jobs
    (receipt,) = place.database.receipts()
    assert jobs.under_way == 1
    with place.client("ana") as ana:
        assert ana.get(f"/api/v1/receipts/{receipt.id}").json()["working"]
        assert ana.post(f"/api/v1/receipts/{receipt.id}/cancel").status_code == 200


def test_a_question_is_cancelled_by_whose_it_is_or_by_a_curator(place: Place, endless: threading.Event) -> None:
    with place.client("ana") as ana, place.client("ben") as ben, place.client("cara") as cara:
        told = ana.post("/api/v1/ask", json=ENDLESS | {"wait": 0}).json()
        path = f"/api/v1/receipts/{told['receipt']}/cancel"
        assert ben.post(path).status_code == 404
        stopped = ana.post(path)
        assert (stopped.status_code, stopped.json()["state"], stopped.json()["working"]) == (200, "open", False)
        assert (again := ana.post(path)).status_code == 409, again.text
        assert ana.post("/api/v1/ask", json=ENDLESS | {"wait": 0}).json()["receipt"] == told["receipt"]
        assert cara.post(path).status_code == 200


def test_those_who_still_wait_are_told_that_it_was_cancelled(place: Place, endless: threading.Event) -> None:
    found: list[httpx.Response] = []

    def wait() -> None:
        with place.client("ana") as waiting:
            found.append(waiting.post("/api/v1/ask", json=ENDLESS))

    thread = threading.Thread(target=wait)
    thread.start()
    assert endless.wait(30)
    until(lambda: any(job.waiting for job in place.app.state.jali.jobs._jobs.values()))
    (receipt,) = place.database.receipts()
    with place.client("ana") as ana:
        assert ana.post(f"/api/v1/receipts/{receipt.id}/cancel").status_code == 200
    thread.join(30)
    error = found[0].json()["error"]
    assert (found[0].status_code, error["message"]) == (503, "The question was cancelled.")
    assert receipt.id in error["remedy"]


def test_curators_keep_their_threads_when_analysts_fill_all_of_theirs(
    tmp_path: Path, endless: threading.Event
) -> None:
    with served(tmp_path, waiting=1, workers=1) as place, place.client("ana") as ana, place.client("cara") as cara:
        receipt = ana.post("/api/v1/ask", json=ENDLESS | {"wait": 0}).json()["receipt"]
        assert ana.post("/api/v1/ask", json=SHORT).status_code == 503
        assert cara.post("/api/v1/ask", json=SHORT).status_code == 200
        assert cara.post("/api/v1/explain", json=SHORT).status_code == 200
        assert cara.get("/api/v1/receipts").status_code == 200
        assert cara.post(f"/api/v1/receipts/{receipt}/cancel").status_code == 200


# Plans.


def test_a_plan_that_takes_too_long_is_refused_and_the_next_one_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JALI_LIMITS", "aggregates=9999,releases=9999,tokens=99999,size=99999")
    with served(tmp_path, plan_seconds=0.5, planners=1) as place, place.client("ana") as ana:
        refused = ana.post("/api/v1/explain", json={"sql": HUGE, "epsilon": 1})
        assert (refused.status_code, refused.json()["error"]["type"]) == (400, "QueryError")
        assert "of CPU time" in refused.json()["error"]["message"]
        assert ana.post("/api/v1/explain", json=SHORT).status_code == 200
        assert ana.post("/api/v1/ask", json=SHORT).status_code == 200
        assert len(place.database.receipts()) == 1


def test_plans_of_other_processes_are_those_of_this_one(shared: Place) -> None:
    questions = [
        SHORT | {"epsilon": "0.5"},
        {"sql": "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward", "rho": "1e-3"},
    ]
    with shared.client("ana") as ana:
        for question in questions:
            told = ana.post("/api/v1/explain", json=question, params={"plan": True}).json()
            given: Any = {name: value for name, value in question.items() if name != "sql"}
            here = shared.database.explain(question["sql"], analyst="ana", **given)
            assert told["sql"] == here.sql.replace(str(Path(here.table.source.location).parent) + "/", "")
            assert told["loss"] == str(here.cost)


def test_hostile_texts_over_http_are_answered_or_refused(shared: Place) -> None:
    with shared.client("ana") as ana:
        for place, (_, text) in enumerate(hostile_texts(1000 if DEPTH >= 10 else 40 * DEPTH, seed=7)):
            sent = {"sql": text.encode("utf-8", "replace").decode(), "epsilon": "1e-6"}
            for path in ("explain", "ask") if place % 4 == 0 else ("explain",):
                response = ana.post(f"/api/v1/{path}", json=sent)
                assert response.status_code in (200, 400, 402, 413, 422), (text, response.text)


# Connections.


def opened(address: str, count: int) -> list[socket.socket]:
    host, port = httpx.URL(address).host, httpx.URL(address).port
    return [socket.create_connection((host, port)) for _ in range(count)]


def is_closed(one: socket.socket) -> bool:
    one.settimeout(30)
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


def test_heads_and_bodies_that_trickle_in_are_cut_off(tmp_path: Path) -> None:
    with served(tmp_path, head_seconds=0.3, body_seconds=0.3) as place:
        silent, head, body = opened(place.address, 3)
        head.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        body.sendall(b"POST /api/v1/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{")
        assert httpx.get(f"{place.address}/health").status_code == 200
        assert is_closed(silent)
        assert is_closed(head)
        # A refusal may come before it is closed.
        body.settimeout(30)
        while body.recv(4096):
            pass
        for one in (silent, head, body):
            one.close()


def test_when_there_are_too_many_connections_the_silent_ones_go(tmp_path: Path) -> None:
    with served(tmp_path, connections=8, head_seconds=60) as place:
        silent = opened(place.address, 20)
        assert httpx.get(f"{place.address}/health").status_code == 200
        assert is_closed(silent[0])
        for one in silent:
            one.close()


def test_connections_of_one_address_do_not_push_out_those_of_others() -> None:
    from jali.server.connection_limits import ConnectionLimiter

    class Fake:
        dropped = False

        def drop(self) -> None:
            self.dropped = True

    every = ConnectionLimiter(5, 3)
    many: list[Any] = [Fake() for _ in range(4)]
    assert all(every.admit(one, "a") for one in many[:3])
    other: Any = Fake()
    assert every.admit(other, "b")
    assert every.admit(many[3], "a")
    assert [one.dropped for one in many] == [True, False, False, False]
    for one in (*many[1:], other):
        every.is_waiting(one, False)
    assert not every.admit(Fake(), "a")  # type: ignore[arg-type] # as much of a connection as is looked at
    assert every.admit(Fake(), "c")  # type: ignore[arg-type]
    every.remove(other)
    assert len(every) == 4


def test_a_server_of_its_own_answers_among_silent_connections(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=10) as database:
        token = tokens_of(database)["ana"]
    with serving(tmp_path, "--connections", "30") as server:
        address = f"http://127.0.0.1:{server.port}"
        silent = opened(address, 90)
        assert httpx.get(f"{address}/health").status_code == 200
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.post(f"{address}/api/v1/ask", json=SHORT, headers=headers, timeout=60).status_code == 200
        assert sum(is_closed(one) for one in silent[:50]) == 50
        for one in silent:
            one.close()
        server.stop()
