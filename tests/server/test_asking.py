"""Questions over HTTP: explained, asked, answered late with a receipt, redeemed; and refused in one envelope."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import Place, served

from jali.engines.duckdb import DuckDBEngine
from jali.errors import EngineError
from jali.execution.ask import QuestionRunner

WARDS = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "0.1"}


def test_a_question_is_answered_with_intervals_cost_and_receipt(place: Place) -> None:
    with place.client("ana") as client:
        told = client.post("/api/v1/ask", json=WARDS).json()
    assert told["columns"] == ["ward", "n"]
    assert [row[0] for row in told["rows"]] == ["A", "B", "C"]
    assert told["cost"] == {"kind": "epsilon", "amount": "1/10", "delta": "0"}
    exact = {"epsilon": "499/10", "rho": "0", "delta": "0"}
    assert told["remaining"] == {"visits": exact | {"decimal": exact | {"epsilon": "49.9"}}}
    (receipt,) = place.database.receipts()
    assert (receipt.id, receipt.analyst, receipt.state) == (told["receipt"], "ana", "released")


def test_the_same_question_again_is_the_same_answer_and_free(place: Place) -> None:
    with place.client("ana") as client:
        once, again = (client.post("/api/v1/ask", json=WARDS).json() for _ in range(2))
    assert (once["rows"], once["receipt"]) == (again["rows"], again["receipt"])
    assert (once["cached"], again["cached"]) == (False, True)
    assert len(place.database.receipts()) == 1


def test_the_same_question_at_once_is_begun_once(place: Place) -> None:
    with place.client("ana") as client, ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda _: client.post("/api/v1/ask", json=WARDS).json(), range(32)))
    assert len({json.dumps(one["rows"]) for one in told}) == 1
    assert len(place.database.receipts()) == 1


def test_where_memory_is_common_what_another_analyst_asked_is_recalled_and_readable(tmp_path: Path) -> None:
    with served(tmp_path, memory="common") as place, place.client("ana") as ana, place.client("ben") as ben:
        first = ana.post("/api/v1/ask", json=WARDS).json()
        assert ben.get(f"/api/v1/receipts/{first['receipt']}/answer").status_code == 404
        second = ben.post("/api/v1/ask", json=WARDS).json()
        assert second["rows"] == first["rows"]
        assert second["remaining"]["visits"]["epsilon"] == "499/10"
        again = ben.get(f"/api/v1/receipts/{first['receipt']}/answer")
        assert again.json()["rows"] == first["rows"]
        assert ben.get(f"/api/v1/receipts/{first['receipt']}").status_code == 404


def test_explaining_is_free_and_says_what_a_question_leaves(place: Place) -> None:
    with place.client("ana") as client:
        told = client.post("/api/v1/explain", json=WARDS).json()
    assert told["exact_loss"] == "1/10"
    assert [name for name, _ in told["leaves"]] == ["grant ana on visits"]
    assert str(place.database.ledger.accounts()[0].spent.amount) == "0"
    assert str(place.app.state.jali.settings.data) not in json.dumps(told)


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (WARDS | {"epsilon": "1000"}, 402, "BudgetExceeded"),
        (WARDS | {"epsilon": "x"}, 400, "CatalogError"),
        (WARDS | {"epsilon": None}, 400, "QueryError"),
        (WARDS | {"rho": "0.1"}, 400, "QueryError"),
        (WARDS | {"sql": "SELECT nothing FROM visits"}, 400, "QueryError"),
        (WARDS | {"sql": "SELECT COUNT(*) FROM nowhere"}, 400, "QueryError"),
        (WARDS | {"sql": "SELECT age FROM visits"}, 422, "Unsupported"),
        (WARDS | {"sql": ""}, 422, "BadRequest"),
        (WARDS | {"epsilom": "1"}, 422, "BadRequest"),
        ({}, 422, "BadRequest"),
        (WARDS | {"max_rows": 0}, 422, "BadRequest"),
        (WARDS | {"part": {"ward": "nowhere"}}, 400, "QueryError"),
        (WARDS | {"sql": "SELECT COUNT(*) FROM visits WHERE age > 1e999999999"}, 400, "QueryError"),
        (WARDS | {"sql": "SELECT COUNT(*) FROM visits WHERE age > 1e-999999999"}, 400, "QueryError"),
    ],
)
def test_wrong_questions_are_refused_in_one_envelope_and_cost_nothing(
    shared: Place, document: dict[str, Any], status: int, kind: str
) -> None:
    with shared.client("ana") as client:
        for path in ("/api/v1/ask", *(("/api/v1/explain",) if status != 402 else ())):
            response = client.post(path, json=document)
            told = response.json()["error"]
            assert (response.status_code, told["type"]) == (status, kind), told
            assert {"type", "message", "remedy", "position"} <= set(told)
            assert told["remedy"]
    assert shared.database.receipts() == ()


def test_a_refusal_by_the_budget_says_what_would_fit(shared: Place) -> None:
    with shared.client("ana") as client:
        told = client.post("/api/v1/ask", json=WARDS | {"epsilon": "60"}).json()["error"]
    assert (told["requested"], told["remaining"], told["difference"]) == ("60", "50", "10")
    assert told["fits"][0]["amount"] == "50"


def test_a_batch_is_charged_once_and_agrees(place: Place) -> None:
    questions = [
        {"sql": "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B', 'C')"},
        {"sql": WARDS["sql"], "weight": 2},
    ]
    with place.client("ana") as client:
        explained = client.post("/api/v1/batch/explain", json={"questions": questions, "epsilon": 1})
        assert explained.status_code == 200
        told = client.post("/api/v1/batch", json={"questions": questions, "epsilon": 1}).json()
        total, wards = (answer["rows"] for answer in told["answers"])
        assert total[0][0] == pytest.approx(sum(n for _, n in wards))
        again = client.get(f"/api/v1/receipts/{told['receipt']}/answer").json()
        assert again["answers"][0]["rows"] == total
        assert client.get(f"/api/v1/receipts/{told['receipt']}/answer?format=csv").status_code == 400
    assert len(place.database.receipts()) == 1


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Hold every reading until the event is set."""
    go, run = threading.Event(), DuckDBEngine.run

    def held(*arguments: Any) -> Any:
        go.wait(30)
        return run(*arguments)

    monkeypatch.setattr(DuckDBEngine, "run", held)
    yield go
    go.set()


def test_a_question_that_takes_longer_is_answered_by_its_receipt_and_goes_on(
    place: Place, slow: threading.Event
) -> None:
    with place.client("ana") as client:
        response = client.post("/api/v1/ask", json=WARDS | {"wait": 0.05})
        told = response.json()
        assert (response.status_code, told["state"], told["stage"]) == (202, "open", "reading")
        assert response.headers["location"] == f"/api/v1/receipts/{told['receipt']}"
        shown = client.get(f"/api/v1/receipts/{told['receipt']}").json()
        assert (shown["state"], shown["working"], shown["stage"]) == ("open", True, "reading")
        assert client.get(told["answer"]).status_code == 202
        slow.set()
        for _ in range(200):
            found = client.get(told["answer"])
            if found.status_code == 200:
                break
            time.sleep(0.02)
        assert [row[0] for row in found.json()["rows"]] == ["A", "B", "C"]
        assert client.post("/api/v1/ask", json=WARDS).json()["receipt"] == told["receipt"]


def test_a_question_that_is_being_answered_is_not_paid_again_however_often_it_is_asked(
    tmp_path: Path, slow: threading.Event
) -> None:
    spellings = ("", " ", "\n", "  ", " \n", "\n ", "   ", "\n\n", " \n ", "    ")
    with served(tmp_path, patience=0.02) as place, place.client("ana") as client:
        for space in spellings:
            response = client.post("/api/v1/ask", json=WARDS | {"sql": WARDS["sql"] + space})
            assert response.status_code == 202
        (receipt,) = place.database.receipts()
        slow.set()
        for _ in range(200):
            if place.database.receipts()[0].state == "released":
                break
            time.sleep(0.02)
        told = [client.post("/api/v1/ask", json=WARDS | {"sql": WARDS["sql"] + space}) for space in spellings]
        assert {one.json()["receipt"] for one in told} == {receipt.id}
        assert len(place.database.receipts()) == 1
        assert place.database.verify().problems == ()


def test_stages_arrive_as_events_and_nothing_of_the_engine(place: Place, slow: threading.Event) -> None:
    with place.client("ana") as client:
        receipt = client.post("/api/v1/ask", json=WARDS | {"wait": 0}).json()["receipt"]
        threading.Timer(0.6, slow.set).start()
        with client.stream("GET", f"/api/v1/receipts/{receipt}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = [line for line in stream.iter_lines() if line]
    kinds = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    documents = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert kinds[-1] == "end"
    assert set(kinds[:-1]) == {"stage"}
    assert {tuple(document) for document in documents[:-1]} == {("stage", "elapsed")}
    assert documents[-1] == {"receipt": receipt}


def test_a_full_desk_refuses_before_it_is_paid(tmp_path: Path, slow: threading.Event) -> None:
    with served(tmp_path, waiting=2, workers=1) as place, place.client("ana") as client:
        for age in (1, 2):
            sql = f"SELECT COUNT(*) FROM visits WHERE age > {age}"
            assert client.post("/api/v1/ask", json={"sql": sql, "epsilon": 1, "wait": 0}).status_code == 202
        response = client.post("/api/v1/ask", json=WARDS)
        assert (response.status_code, response.json()["error"]["type"]) == (503, "Busy")
        assert response.headers["retry-after"] == "1"
        assert len(place.database.receipts()) == 2
        slow.set()
        for _ in range(200):
            response = client.post("/api/v1/ask", json=WARDS)
            if response.status_code == 200:
                break
            time.sleep(0.02)
        assert response.status_code == 200


def test_a_failed_reading_leaves_a_receipt_that_is_redeemed_for_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise EngineError("engine-disk")

    with place.client("ana") as client:
        with monkeypatch.context() as patched:
            patched.setattr(DuckDBEngine, "run", broken)
            response = client.post("/api/v1/ask", json=WARDS)
            assert (response.status_code, response.json()["error"]["type"]) == (503, "EngineError")
        (receipt,) = client.get("/api/v1/receipts").json()["receipts"]
        assert receipt["state"] == "open"
        owed = client.get(f"/api/v1/receipts/{receipt['receipt']}/answer")
        assert (owed.status_code, owed.json()["error"]["type"]) == (409, "Open")
        spent = place.database.ledger.accounts()[0].spent
        told = client.post(f"/api/v1/receipts/{receipt['receipt']}/redeem").json()
        assert len(told["rows"]) == 3
        assert place.database.ledger.accounts()[0].spent == spent
        again = client.post(f"/api/v1/receipts/{receipt['receipt']}/redeem").json()
        assert again["rows"] == told["rows"]


def test_an_answer_is_downloaded_as_csv_and_parquet(shared: Place) -> None:
    import io

    import pyarrow.parquet

    with shared.client("cara") as client:
        told = client.post("/api/v1/ask", json=WARDS).json()
        path = f"/api/v1/receipts/{told['receipt']}/answer"
        csv = client.get(path, params={"format": "csv"})
        assert csv.text.splitlines()[0] == "ward,n,n_low,n_high"
        assert csv.headers["content-disposition"].endswith('.csv"')
        table = pyarrow.parquet.read_table(io.BytesIO(client.get(path, params={"format": "parquet"}).content))
        assert table["n"].to_pylist() == [n for _, n in told["rows"]]
        narrow, wide = (
            client.get(path, params={"confidence": confidence}).json()["intervals"][0][1]
            for confidence in (0.5, 0.99)
        )
        assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_stopping_finishes_what_is_under_way(tmp_path: Path, slow: threading.Event) -> None:
    with served(tmp_path, grace=20) as place, place.client("ana") as client:
        receipt = client.post("/api/v1/ask", json=WARDS | {"wait": 0}).json()["receipt"]
        threading.Timer(0.3, slow.set).start()
    from tests.database.clinic import open_clinic

    with open_clinic(tmp_path, epsilon=100) as database:
        (found,) = database.receipts()
        assert (found.id, found.state) == (receipt, "released")


def test_what_is_not_finished_in_time_stays_redeemable(tmp_path: Path, slow: threading.Event) -> None:
    with served(tmp_path, grace=0) as place, place.client("ana") as client:
        receipt = client.post("/api/v1/ask", json=WARDS | {"wait": 0}).json()["receipt"]
        database = place.database
        assert [(one.id, one.state) for one in database.receipts()] == [(receipt, "open")]
    slow.set()
    from tests.database.clinic import open_clinic

    with open_clinic(tmp_path, epsilon=100) as database:
        assert database.redeem(receipt, analyst="ana").receipt == receipt


def test_removed_takes_no_terms_that_it_would_not_heed(shared: Place) -> None:
    with shared.client("cara") as client:
        asked = {"sql": "SELECT AVG(age) FROM visits", "epsilon": 1}
        for more in ({"part": {"ward": "A"}}, {"delta": "0.5"}, {"min_people": 9}, {"within": 3}):
            assert client.post("/api/v1/removed", json=asked | more).status_code == 422
        assert client.post("/api/v1/removed", json=asked).status_code == 200


def test_dear_plans_of_one_analyst_keep_nobody_else_waiting(
    shared: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, explained = threading.Event(), QuestionRunner.explain

    def held(self: QuestionRunner, question: Any, given: Any, *, analyst: str | None = None) -> Any:
        if analyst == "ana":
            go.wait(20)
        return explained(self, question, given, analyst=analyst)

    monkeypatch.setattr(QuestionRunner, "explain", held)
    with shared.client("ana") as ana, shared.client("ben") as ben, ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(ana.post, "/api/v1/explain", json=WARDS) for _ in range(8)]
        time.sleep(0.2)
        assert ben.post("/api/v1/explain", json=WARDS, timeout=10).status_code == 200
        assert ben.get("/api/v1/tables", timeout=10).status_code == 200
        go.set()
        assert {one.result().status_code for one in waiting} == {200}


def test_parquet_needs_no_package_but_duckdb(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    import duckdb

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS age, HISTOGRAM(ward) AS h FROM visits GROUP BY ward"
    with place.client("ana") as client:
        told = client.post("/api/v1/ask", json={"sql": sql, "epsilon": "1"}).json()
        got = client.get(f"/api/v1/receipts/{told['receipt']}/answer", params={"format": "parquet"})
    assert got.headers["content-type"] == "application/vnd.apache.parquet"
    file = tmp_path / "answer.parquet"
    file.write_bytes(got.content)
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT ward, n, n_low, n_high, age, h FROM '{file}'").fetchall()
        kinds = dict(row[:2] for row in connection.execute(f"DESCRIBE SELECT * FROM '{file}'").fetchall())
    assert [list(row[:2]) for row in found] == [row[:2] for row in told["rows"]]
    assert (kinds["ward"], kinds["n"], kinds["age"], kinds["h"][:3]) == ("VARCHAR", "DOUBLE", "DOUBLE", "MAP")
