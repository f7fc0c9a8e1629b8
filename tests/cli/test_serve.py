"""`jali serve` and `jali token`: who may come in, and what is printed."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.database.clinic import open_clinic
from tests.depth import deep
from tests.server.load import Server, serving

import jali as package
from jali.cli.verbs.token import VERBS

Runner = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    with open_clinic(tmp_path):
        return tmp_path / "clinic.jali"


def section(name: str) -> str:
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith(f"jali {name}"))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_every_verb_of_tokens_has_help_with_an_example_and_is_on_the_page(jali: Runner, verb: Any) -> None:
    name = verb.__name__.rstrip("_")
    outcome = jali("token", name, "--help")
    assert outcome.code == 0
    assert f"Example: jali token {name}" in outcome.out
    assert f"jali token {name}" in section("token")
    options = set(re.findall(r"--[a-z-]+", outcome.out)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z-]+", section("token")))


def test_a_token_is_shown_once_listed_without_its_secret_and_revoked(jali: Runner, clinic: Path) -> None:
    made = jali("token", "create", clinic, "ana", "--days", 3)
    assert made.code == 0
    text = made.out.strip()
    assert re.fullmatch(r"jali_[0-9a-f]{12}_[\w-]{40,}", text)
    assert "It is shown only once" in made.err
    _, id_, secret = text.split("_", 2)
    listed = jali("token", "list", clinic)
    assert (id_ in listed.out, "valid" in listed.out, secret in listed.out) == (True, True, False)
    assert jali("token", "revoke", clinic, id_).out == f"Revoked {id_}, of analyst ana.\n"
    assert "revoked" in jali("token", "list", clinic).out
    (document,) = jali("token", "list", clinic, "--json").document["tokens"]
    assert (document["token"], document["state"]) == (id_, "revoked")
    assert set(document) <= set(re.findall(r"`(\w+)`", section("token")))


def test_a_curators_token_and_a_document(jali: Runner, clinic: Path) -> None:
    document = jali("token", "create", clinic, "cara", "--role", "curator", "--json").document
    assert (document["role"], document["name"], document["state"]) == ("curator", "cara", "valid")
    with package.connect(clinic) as database:
        assert database.access.check(document["text"]).role == "curator"
    assert jali("token", "list", clinic).code == 0


def test_no_token_is_said_so(jali: Runner, clinic: Path) -> None:
    assert jali("token", "list", clinic).out == "There is no token yet.\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("token", "create", "DB", "ana", "--role", "king"), "'king' is not a role."),
        (
            ("token", "create", "DB", "ana", "--days", "0"),
            "3650, not 0. Write --days 90.",
        ),
        (("token", "create", "DB", "curator"), "'curator' cannot be the name of an analyst."),
        (("token", "revoke", "DB", "none"), "There is no token with this id."),
        (("token", "list", "nowhere.jali"), "There is no database nowhere.jali."),
        (("serve", "nowhere.jali"), "There is no database nowhere.jali."),
        (
            ("serve", "DB", "--host", "0.0.0.0", "--port", "0"),
            "can reach 0.0.0.0, but no token exists.",
        ),
        (
            ("serve", "DB", "--host", "no.such.host.invalid", "--port", "0"),
            "The address does not belong to this machine",
        ),
        (("serve", "DB", "--host", "1.2.3.4"), "choose one with --host"),
        (("serve", "DB", "--data", "/nonexist"), "There is no directory /nonexist."),
        (("serve", "DB", "--port", "99999"), "--port"),
    ],
)
def test_wrong_use_is_refused_with_a_remedy(
    jali: Runner, clinic: Path, arguments: tuple[str, ...], told: str
) -> None:
    outcome = jali(*(clinic if word == "DB" else word for word in arguments))
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err


def test_a_port_that_is_taken_is_said_so(jali: Runner, clinic: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = jali("serve", clinic, "--port", taken.getsockname()[1])
    assert outcome.code == 2
    assert "The server cannot listen on 127.0.0.1" in outcome.err
    assert "choose another with --port" in outcome.err


def test_without_tokens_a_link_lets_its_owner_in_for_one_run(clinic: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "jali", "serve", str(clinic), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = process.stdout.readline().removeprefix("Open ").strip()
        try:
            address, _, token = link.partition("sign-in#")
            told = httpx.get(f"{address}api/v1/me", headers={"Authorization": f"Bearer {token}"})
            assert told.json()["role"] == "curator"
            assert httpx.get(f"{address}api/v1/me").status_code == 401
        finally:
            process.terminate()


@deep
def test_with_tokens_no_link_is_made(clinic: Path, tmp_path: Path) -> None:
    with package.connect(clinic) as database:
        token = database.access.create("cara", "curator").text
    with serving(tmp_path) as server:
        assert isinstance(server, Server)
        told = httpx.get(f"http://127.0.0.1:{server.port}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
        assert told.json()["name"] == "cara"
        server.stop()


@deep
def test_while_no_curator_has_a_token_the_link_lets_one_in(clinic: Path, tmp_path: Path) -> None:
    with package.connect(clinic) as database:
        database.access.create("ana", "analyst")
    with serving(tmp_path) as server:
        assert "/sign-in#jali_visit" in server.greeting
        server.stop()


@deep
def test_on_all_addresses_the_machines_name_is_printed_and_how_to_make_a_curator(
    clinic: Path, tmp_path: Path
) -> None:
    with package.connect(clinic) as database:
        database.access.create("ana", "analyst")
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        assert "0.0.0.0" not in server.greeting
        assert server.greeting.startswith(f"Open http://{socket.gethostname()}:")
        assert server.process.stdout is not None
        assert "--role curator" in server.process.stdout.readline()
        server.stop()


SLOW = """
import os, sys, time
from jali.cli import main
from jali.engines.duckdb import DuckDBEngine

run = DuckDBEngine.run

def slow(*arguments, **named):
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.05)
    return run(*arguments, **named)

DuckDBEngine.run = slow
sys.exit(main(["serve", sys.argv[1], "--port", "0"]))
"""


def test_ctrl_c_ends_streams_of_events_and_waits_for_questions_without_a_trace(
    clinic: Path, tmp_path: Path
) -> None:
    import signal
    import subprocess
    import sys

    with package.connect(clinic) as database:
        token = database.access.create("cara", "curator").text
    headers, go = {"Authorization": f"Bearer {token}"}, tmp_path / "go"
    command = [sys.executable, "-c", SLOW, str(clinic), str(go)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        httpx.Client(headers=headers, timeout=60) as client,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("Open ").strip() + "api/v1"
        assert process.stdout.readline() == "Stop with Ctrl+C.\n"
        question = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1", "wait": 0}
        asked = client.post(f"{address}/ask", json=question)
        assert asked.status_code == 202
        receipt = asked.json()["receipt"]
        with client.stream("GET", f"{address}/receipts/{receipt}/events") as events:
            lines = events.iter_lines()
            assert "event: stage" in lines or next(lines)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "Waiting up to 10 s for 1 question ...\n"
            assert "event: stop" in list(lines)
        go.touch()
        _, problems = process.communicate(timeout=60)
    assert "Traceback" not in problems
    assert "not finished" not in problems
    with package.connect(clinic) as database:
        assert [one.state for one in database.receipts()] == ["released"]
