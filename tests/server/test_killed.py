"""Killed under load and started again: nothing is lost, nothing is answered twice with different noise."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from pathlib import Path

from tests.database.clinic import open_clinic
from tests.depth import DEPTH, deep
from tests.server.load import Server, Told, clients, serving

import jali

CLIENTS, EPSILON = 16, "0.001"
KILLS = 1 if DEPTH == 1 else 2 * DEPTH


def test_a_killed_server_loses_nothing_and_answers_nothing_twice(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=1000) as database:
        for place in range(CLIENTS):
            database.grant(f"a{place}", "visits", jali.Budget(epsilon=10))
        tokens = [database.access.create(f"a{place}", "analyst").text for place in range(CLIENTS)]
    with serving(tmp_path, "--rate", "1000000") as server:
        port = server.port
        ended = threading.Event()
        killer = threading.Thread(target=_kill, args=(server, ended))
        killer.start()
        try:
            seconds = 2.5 * KILLS
            told = asyncio.run(clients(lambda: port, tokens, seconds, EPSILON, patient=True))
        finally:
            ended.set()
            killer.join()
        # Every question once more: whatever was told is told again, from the ledger.
        again = asyncio.run(_again(port, tokens, told))
        server.stop()
    assert {one.status for one in told} == {200}
    first = {one.question: one.document for one in told}
    assert all(first[question]["rows"] == document["rows"] for question, document in again.items())
    assert all(first[question]["receipt"] == document["receipt"] for question, document in again.items())
    with open_clinic(tmp_path, epsilon=1000) as database:
        assert database.verify().problems == ()
        receipts = database.receipts()
        released = {receipt.id: receipt.question for receipt in receipts if receipt.state == "released"}
        assert {one.document["receipt"] for one in told} <= set(released)
        # One receipt for each question: what a killed server had paid was taken up, not paid again.
        assert len({receipt.question for receipt in receipts}) == len(receipts)
        spent = database.ledger.accounts()[0].spent
        assert spent.epsilon == len(receipts) * jali.Budget(epsilon=EPSILON).epsilon
        for receipt in receipts:
            if receipt.state == "open":
                assert database.redeem(receipt.id).receipt == receipt.id


def _kill(server: Server, ended: threading.Event) -> None:
    """Kill the server at random times, and start it again."""
    chance = random.Random(KILLS)
    for _ in range(KILLS):
        if ended.wait(0.3 + chance.random()):
            return
        server.kill()
        server.start()


async def _again(port: int, tokens: list[str], told: list[Told]) -> dict[str, dict[str, object]]:
    """Ask everything once more, each by who asked it."""
    from tests.server.load import Caller

    found: dict[str, dict[str, object]] = {}
    callers = [Caller(port, token) for token in tokens]
    for one in told:
        place = int(one.question.rpartition("> ")[2].partition(".")[0])
        _, found[one.question] = await callers[place].post(
            "/api/v1/ask", {"sql": one.question, "epsilon": EPSILON}
        )
    for caller in callers:
        caller.close()
    return found


@deep
def test_a_server_that_is_told_to_stop_finishes_and_can_be_started_again(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=1000) as database:
        token = database.access.create("cara", "curator").text
    with serving(tmp_path) as server:
        began = time.perf_counter()
        told = asyncio.run(clients(lambda: server.port, [token], 0.5, EPSILON))
        server.stop()
        assert server.process.returncode in (0, -15)
        server.start()
        more = asyncio.run(clients(lambda: server.port, [token], 0.2, "0.002"))
        server.stop()
    assert time.perf_counter() - began < 60
    assert {one.status for one in told + more} == {200}
    assert json.dumps(told[0].document["rows"])
