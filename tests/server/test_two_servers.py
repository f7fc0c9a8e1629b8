"""Two servers over one ledger in Postgres, of which one is killed and started again: as if there were one."""

from __future__ import annotations

import asyncio
import random
import secrets
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.database.clinic import open_clinic
from tests.depth import DEPTH, deep
from tests.server.load import Caller, Server, Told, questions_of, serving
from tests.servers.postgres import Postgres

import jali

CLIENTS, EPSILON, KILLS = 64, "0.001", DEPTH
# Some hundreds of questions: it may be used up while the clients ask, and then they are refused.
BUDGET = "0.4"
OPTIONS = ("--rate", "1000000", "--waiting", "1024", "--patience", "300")


@pytest.fixture
def place(postgres: Postgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return f"{postgres.url}?schema=servers_{secrets.token_hex(4)}"


def test_two_servers_of_which_one_is_killed_never_overspend_nor_answer_differently(
    tmp_path: Path, place: str
) -> None:
    with open_clinic(tmp_path, epsilon=BUDGET, place=place) as database:
        for number in range(CLIENTS // 2):
            database.grant(f"a{number}", "visits", jali.Budget(epsilon=1))
        # Two clients of each analyst, who ask the same: they meet at both servers.
        tokens = [database.access.create(f"a{number // 2}", "analyst").text for number in range(CLIENTS)]
    options = (*OPTIONS, "--data", str(tmp_path))
    with serving(tmp_path, *options, database=place) as one, serving(tmp_path, *options, database=place) as other:
        servers, ended = (one, other), threading.Event()
        killer = threading.Thread(target=_kill, args=(servers, ended))
        killer.start()
        try:
            told = asyncio.run(_clients(servers, tokens))
        finally:
            ended.set()
            killer.join()
        # Everything once more, at the server that did not say it.
        again = asyncio.run(_again(servers, tokens, told))
        for server in servers:
            server.stop()
    assert {one.status for one in told} <= {200, 402}
    answered = [one for one in told if one.status == 200]
    assert len(answered) >= CLIENTS
    answers = {one.question: one.document for one in answered}
    assert all(one.document["rows"] == answers[one.question]["rows"] for one in answered + again)
    assert all(one.document["receipt"] == answers[one.question]["receipt"] for one in answered + again)
    with open_clinic(tmp_path, epsilon=BUDGET, place=place) as database:
        assert database.verify().problems == ()
        receipts = database.receipts()
        assert {document["receipt"] for document in answers.values()} <= {receipt.id for receipt in receipts}
        # One receipt for each question: what a killed server had paid was taken up, not paid again.
        assert len({receipt.question for receipt in receipts}) == len(receipts)
        spent = database.ledger.accounts()[0].spent.epsilon
        assert spent == len(receipts) * jali.Budget(epsilon=EPSILON).epsilon
        assert spent <= jali.Budget(epsilon=BUDGET).epsilon
        for receipt in receipts:
            if receipt.state == "open":
                assert database.redeem(receipt.id).receipt == receipt.id


def _kill(servers: tuple[Server, Server], ended: threading.Event) -> None:
    """Kill one of the servers at random times, and start it again."""
    chance = random.Random(KILLS)
    for _ in range(KILLS):
        if ended.wait(0.5 + chance.random()):
            return
        server = chance.choice(servers)
        server.kill()
        server.start()


async def _clients(servers: tuple[Server, Server], tokens: list[str]) -> list[Told]:
    """Have a client for each token ask, half of them at each server; at the other one where nobody answers."""
    end = time.perf_counter() + 3.0 * KILLS
    found: list[Told] = []

    async def one(number: int, token: str) -> None:
        for question in questions_of(number // 2):
            if time.perf_counter() > end:
                return
            document = {"sql": question, "epsilon": EPSILON}
            for turn in range(number, number + 1000):
                caller = Caller(servers[turn % 2].port, token)
                try:
                    began = time.perf_counter()
                    status, told = await caller.post("/api/v1/ask", document)
                    told["server"] = turn % 2
                    found.append(Told(question, began, time.perf_counter() - began, status, told))
                    break
                except (OSError, EOFError, asyncio.IncompleteReadError):
                    await asyncio.sleep(0.05)
                finally:
                    caller.close()

    await asyncio.gather(*(one(number, token) for number, token in enumerate(tokens)))
    return found


async def _again(servers: tuple[Server, Server], tokens: list[str], told: list[Told]) -> list[Told]:
    """Ask everything that was answered once more, by who asked it, at the other server."""
    found: list[Told] = []
    for one in {one.question: one for one in told if one.status == 200}.values():
        analyst = int(one.question.rpartition("> ")[2].partition(".")[0])
        caller = Caller(servers[1 - one.document["server"]].port, tokens[2 * analyst])
        status, document = await caller.post("/api/v1/ask", {"sql": one.question, "epsilon": EPSILON})
        caller.close()
        found.append(Told(one.question, 0, 0, status, document))
    assert {one.status for one in found} == {200}
    return found


@deep
def test_a_session_of_one_server_is_one_of_the_other_and_ends_with_its_token(tmp_path: Path, place: str) -> None:
    with open_clinic(tmp_path, place=place) as database:
        token = database.access.create("cara", "curator")
        with (
            serving(tmp_path, *OPTIONS, database=place) as one,
            serving(tmp_path, *OPTIONS, database=place) as other,
        ):
            with httpx.Client(base_url=f"http://127.0.0.1:{one.port}") as client:
                client.post("/sign-in", data={"token": token.text}, headers={"Origin": str(client.base_url)})
                cookie = client.cookies["jali_session"]
            with httpx.Client(
                base_url=f"http://127.0.0.1:{other.port}", cookies={"jali_session": cookie}
            ) as client:
                assert client.get("/api/v1/me").json()["name"] == "cara"
                database.access.revoke(token.token.id)
                assert client.get("/api/v1/me").status_code == 401


@deep
def test_a_server_says_when_postgres_is_away_and_goes_on_when_it_is_back(
    tmp_path: Path, place: str, postgres: Postgres
) -> None:
    with open_clinic(tmp_path, place=place) as database:
        token = database.access.create("cara", "curator").text
    with serving(tmp_path, *OPTIONS, database=place) as server:
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}/api/v1", headers=headers, timeout=60
        ) as client:
            question = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}
            postgres.stop()
            try:
                away = client.post("/ask", json=question)
            finally:
                postgres.start()
            assert away.status_code >= 500
            error = away.json()["error"]
            assert error["type"] == "LedgerError"
            assert "cannot be reached" in error["message"]
            back = client.post("/ask", json=question)
            assert back.status_code == 200
            postgres.restart(crash=True)
            assert client.post("/ask", json=question).json()["rows"] == back.json()["rows"]
