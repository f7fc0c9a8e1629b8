"""A database whose ledger is in Postgres: everything as with a file, and copies of the machine that made them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.database.clinic import COLUMNS, make_visits, open_clinic
from tests.servers.postgres import Postgres

import jali
from jali.database import Database

COUNT = "SELECT COUNT(*) AS n FROM visits"
Machine = Callable[[str], Database]


@pytest.fixture
def place(postgres: Postgres) -> str:
    return f"{postgres.url}?schema=database_{secrets.token_hex(4)}"


@pytest.fixture
def machine(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """What opens the database on a machine of some name: only what that machine keeps is there."""
    opened: list[Database] = []
    now = tmp_path / "state"

    def on(name: str) -> Database:
        if now.exists():
            now.rename(tmp_path / (now / "name").read_text())
        kept = tmp_path / name
        if kept.exists():
            kept.rename(now)
        now.mkdir(exist_ok=True)
        (now / "name").write_text(name)
        monkeypatch.setenv("XDG_STATE_HOME", str(now))
        opened.append(open_clinic(tmp_path, epsilon=10, place=place))
        return opened[-1]

    yield on
    for database in opened:
        database.close()


def test_a_question_walks_as_it_does_with_a_file(place: str, tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=3, place=place) as db, jali.connect(place) as other:
        assert db.ledger.durable
        assert "on disk" in repr(db)
        db.grant("ana", "visits", jali.Budget(epsilon=1))
        answer = db.session("ana").ask(COUNT, epsilon="1/10")
        again = other.session("ana").ask(COUNT, epsilon="1/10")
        assert (again.rows, again.receipt, again.cached) == (answer.rows, answer.receipt, True)
        assert other.remaining("visits", analyst="ana").epsilon == jali.Budget(epsilon="9/10").epsilon
        with pytest.raises(jali.BudgetExceeded):
            other.session("ana").ask(COUNT, epsilon=1)
        for ward in "AB":
            db.ask(COUNT, epsilon="1/2", part={"ward": ward})
        batch = other.batch(epsilon="1/10")
        batch.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
        assert len(batch.run()) == 1
        stream = db.stream("visitors", unit="patient", horizon=10, budget=jali.Budget(epsilon=1), measure="count")
        stream.append([{"item": "1", "owner": "ana"}])
        stream.publish()
        assert other.streams.list() == ("visitors",)
        assert other.streams.view("visitors").published == 1
        db.refresh("visits")
        assert other.redeem(answer.receipt).rows == answer.rows
        assert other.ask(COUNT, epsilon="1/10").receipt != answer.receipt
        assert db.verify().problems == ()


def test_a_copy_is_read_where_it_was_made_and_missing_elsewhere(machine: Machine) -> None:
    here = machine("one")
    copy = here.prepare("visits").copy
    assert copy is not None
    first = here.ask(COUNT, epsilon="1/10")
    there = machine("other")
    with pytest.raises(jali.errors.EngineError, match=r"copy of table visits is missing\. Nothing was spent"):
        there.ask(COUNT, epsilon="1/5")
    assert there.ask(COUNT, epsilon="1/10").rows == first.rows  # what was answered is in the ledger
    theirs = there.prepare("visits").copy
    assert theirs is not None
    assert theirs.location != copy.location
    there.ask(COUNT, epsilon="1/5")
    # The copy of the first machine is an old one by now: it is there, and it is not read.
    back = machine("one")
    assert Path(copy.location).exists()
    with pytest.raises(jali.errors.EngineError, match="copy of table visits is missing"):
        back.ask(COUNT, epsilon="1/4")
    back.tables.drop_prepared("visits")
    back.ask(COUNT, epsilon="1/4")
    machine("other").ask(COUNT, epsilon="1/3")


def test_a_directory_of_copies_is_found_again_and_for_its_owner_only(machine: Machine) -> None:
    copy = machine("one").prepare("visits").copy
    assert copy is not None
    again = machine("one")
    again.refresh("visits")
    found = again.tables.find("visits").copy
    assert found == copy
    modes = [path.stat().st_mode & 0o777 for path in (Path(copy.location), Path(copy.location).parent)]
    assert modes == [0o600, 0o700]


def test_where_nothing_can_be_kept_no_copy_is_made(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    with open_clinic(tmp_path, epsilon=10, place=place) as db:
        with pytest.raises(jali.errors.CatalogError, match="There is no directory for the copy of"):
            db.prepare("visits")
        assert db.tables.find("visits").copy is None
        db.ask(COUNT, epsilon="1/10")


def test_a_frame_is_in_the_memory_of_one_server(place: str) -> None:
    import pandas as pd

    frame = pd.DataFrame({"patient_id": [1, 2, 3], "age": [30, 40, 50]})
    terms: dict[str, Any] = {"unit": "patient_id", "max_rows": 1, "budget": jali.Budget(epsilon=1)}
    with jali.connect(place) as db, jali.connect(place) as other:
        db.protect("people", frame, **terms)
        db.ask("SELECT COUNT(*) AS n FROM people", epsilon="1/10")
        with pytest.raises(jali.errors.EngineError, match=r"not attached\. Nothing was spent"):
            other.ask("SELECT COUNT(*) AS n FROM people", epsilon="1/5")


def test_a_file_that_another_machine_lacks_is_missing_there(place: str, tmp_path: Path) -> None:
    source = make_visits(tmp_path / "visits.parquet")
    with jali.connect(place) as db, jali.connect(place) as other:
        db.protect("visits", source, unit="patient_id", max_rows=5, columns=COLUMNS, budget=jali.Budget(epsilon=1))
        source.rename(tmp_path / "elsewhere.parquet")
        with pytest.raises(jali.errors.EngineError, match=r"missing\. Nothing was spent"):
            other.ask(COUNT, epsilon="1/10")
        assert other.ledger.accounts()[0].spent.epsilon == 0
