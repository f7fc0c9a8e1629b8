"""Whether another analyst has asked is not visible, unless the curator has made the memory of the table common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.database.clinic import open_clinic
from tests.server.serving import served

import jali

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def granted(db: jali.Database) -> jali.Database:
    for name in ("ana", "ben"):
        db.grant(name, "visits", jali.Budget(epsilon=2))
    return db


@pytest.fixture
def db(tmp_path: Path) -> Iterator[jali.Database]:
    with open_clinic(tmp_path, epsilon=10) as opened:
        yield granted(opened)


def spent(db: jali.Database) -> Any:
    return next(account.spent.epsilon for account in db.ledger.accounts() if account.name == "table visits")


def seen(session: jali.Session) -> list[str]:
    """Everything that an analyst can see of questions before asking them."""
    told = [str(session.explain(sql, epsilon=1)) for sql in (COUNT, BY_WARD)]
    batch = session.batch(epsilon=1)
    batch.ask(COUNT)
    told.append(str(batch.explain()))
    told.append(str(session.explain(COUNT, epsilon=1, part={"ward": "A"})))
    return [*told, str(session.remaining("visits")), str(session.receipts())]


def test_nothing_that_an_analyst_sees_changes_when_another_asks(db: jali.Database) -> None:
    ben = db.session("ben")
    before = seen(ben)
    for asking in (db, db.session("ana")):
        asking.ask(COUNT, epsilon=1)
        asking.ask(BY_WARD, epsilon="1/2")
    db.session("ana").ask(COUNT, epsilon="1/10", part={"ward": "A"})
    assert seen(ben) == before


def test_the_question_of_another_is_answered_and_paid_anew(db: jali.Database) -> None:
    first = db.session("ana").ask(BY_WARD, epsilon=1)
    second = db.session("ben").ask(BY_WARD, epsilon=1)
    assert (second.cached, second.receipt == first.receipt, second.rows == first.rows) == (False, False, False)
    assert spent(db) == 2
    assert db.session("ben").ask(BY_WARD, epsilon=1).receipt == second.receipt


def test_so_is_a_batch(db: jali.Database) -> None:
    found = []
    for name in ("ana", "ben", "ben"):
        with db.session(name).batch(epsilon=1) as batch:
            batch.ask(COUNT)
            batch.ask(BY_WARD)
        found.append(batch.result)
    assert [one.cached for one in found] == [False, False, True]
    assert spent(db) == 2


def test_curators_see_all_receipts_and_recall_all_answers(db: jali.Database) -> None:
    first = db.session("ana").ask(COUNT, epsilon=1)
    assert db.ask(COUNT, epsilon=1).receipt == first.receipt
    assert spent(db) == 1


def test_memory_is_made_common_and_own_again_without_losing_answers(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=10) as db:
        first = granted(db).session("ana").ask(COUNT, epsilon=1)
        open_clinic(tmp_path, epsilon=10, memory="common").close()
        assert db.tables.list()[0].memory == "common"
        assert db.session("ben").ask(COUNT, epsilon=1).receipt == first.receipt
        assert "table visits" in str(db.session("ben").explain(BY_WARD, epsilon=1))
        open_clinic(tmp_path, epsilon=10).close()
        assert db.tables.list()[0].memory == "own"
        # What was seen once was paid for: it stays in the analyst's own memory.
        assert db.session("ben").ask(COUNT, epsilon=1).receipt == first.receipt
        assert spent(db) == 1


def test_a_table_that_would_refuse_says_so_to_everybody(db: jali.Database) -> None:
    """What cannot be paid is refused: that alone must be told."""
    db.ask(COUNT, epsilon=9)
    told = str(db.session("ben").explain(BY_WARD, epsilon="3/2"))
    assert re.search(r"table visits: the question would be refused", told)


def test_only_two_words_say_whose_answers_are_recalled(tmp_path: Path) -> None:
    with pytest.raises(jali.errors.CatalogError, match="memory must be"):
        open_clinic(tmp_path, memory="all")


def test_over_http_an_analyst_sees_no_account_of_a_table(tmp_path: Path) -> None:
    with served(tmp_path) as place, place.client("ben") as ben, place.client("cara") as cara:
        pages = ("/budget", "/api/v1/budgets", "/api/v1/tables", "/api/v1/budgets/visits", "/api/v1/receipts")

        def shown() -> list[str]:
            return [re.sub(r'csrf[^>]*"|jali_\w+', "", ben.get(page).text) for page in pages]

        before = shown()
        place.database.session("ana").ask(COUNT, epsilon=1)
        assert shown() == before
        assert [one["account"] for one in ben.get("/api/v1/budgets").json()["accounts"]] == ["grant ben on visits"]
        names = [one["account"] for one in cara.get("/api/v1/budgets").json()["accounts"]]
        assert names == ["table visits", "grant ana on visits", "grant ben on visits"]
