"""Reads, writes, syncs, locks and opens that fail, and processes that are killed: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest
from tests.depth import DEPTH
from tests.ledger.support import VISITS, ask, clinic, debit

from jali.ledger import SqliteLedger

HERE = Path(__file__).parent
# Of system calls that fail, and of kills.
FAULTS, KILLS = (1500, 1000) if DEPTH > 1 else (40, 15)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("There is no C compiler, or this is not Linux: calls of the system cannot be made to fail.")
    made = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-w", str(HERE / "faults.c"), "-o", str(made), "-ldl"], check=True
    )
    return made


def test_calls_of_the_system_that_fail_lose_nothing_and_raise_errors_of_the_ledger_only(
    library: Path, tmp_path: Path
) -> None:
    struck, reserved, released = 0, 0, 0
    for first in range(0, FAULTS, 100):
        directory = tmp_path / str(first)
        directory.mkdir()
        last = min(first + 100, FAULTS)
        program = [sys.executable, "-m", "tests.ledger.faulty"]
        done = subprocess.run(
            [*program, str(library), str(directory), str(first), str(last)],
            env=os.environ | {"LD_PRELOAD": str(library)},
            cwd=HERE.parents[1],
            capture_output=True,
            text=True,
            check=True,
        )
        told = json.loads(done.stdout)
        assert told["wrong"] == []
        with SqliteLedger(directory / "clinic.jali") as ledger:
            assert ledger.verify().problems == ()
            known = {receipt.id: receipt.state.value for receipt in ledger.receipts()}
            assert set(told["reserved"]) <= set(known)
            for receipt, answer in told["released"].items():
                found = ledger.find_release(receipt, analyst=None)
                assert found is not None
                assert found.answer == answer
            debits = [name for name in known if ledger.receipt(name, analyst=None).debits[0].account == VISITS]
            assert ledger.spent(VISITS).epsilon == Fraction(len(debits), 1000)
            values = ledger.streams.values("admissions") if ledger.streams.find("admissions") else ()
            assert list(values)[: len(told["published"])] == told["published"]
        struck, reserved, released = (
            struck + told["struck"],
            reserved + len(told["reserved"]),
            released + len(told["released"]),
        )
        shutil.rmtree(directory)
    assert struck > FAULTS // 4, struck
    assert released > FAULTS // 2, (reserved, released)


def test_killed_processes_lose_nothing_and_get_nothing_back(path: Path) -> None:
    draw = random.Random(5)
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=100_000)
    kept: dict[str, str] = {}
    for turn in range(KILLS):
        out, into = os.pipe()

        def work(into: int = into, turn: int = turn) -> None:
            with SqliteLedger(path) as mine:
                for number in count():
                    receipt = ask(mine, debit(VISITS, "1/1000"), key=f"{turn} {number}")
                    os.write(into, f"{receipt} \n".encode())
                    answer = mine.release(receipt, f"answer {receipt}")
                    os.write(into, f"{receipt} {answer}\n".encode())

        pid = os.fork()
        if pid == 0:
            try:
                work()
            finally:
                os._exit(1)
        os.close(into)
        with os.fdopen(out) as stream:
            # By then so much was told, however slow the machine is; with nothing awaited, it may still be opening.
            lines = [stream.readline() for _ in range(draw.randrange(8))]
            time.sleep(draw.random() * 0.01)
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            assert os.WIFSIGNALED(status), "a process stopped by itself"
            for line in [*lines, *stream]:
                receipt, _, answer = line.removesuffix("\n").partition(" ")
                kept[receipt] = answer
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()
        states = {receipt.id: receipt.state.value for receipt in ledger.receipts()}
        assert set(kept) <= set(states)
        for receipt, answer in kept.items():
            if answer:
                found = ledger.find_release(receipt, analyst=None)
                assert found is not None
                assert found.answer == answer
        assert ledger.spent(VISITS).epsilon == Fraction(len(states), 1000)
        assert len(states) - len(kept) <= KILLS
    assert len(kept) > KILLS
