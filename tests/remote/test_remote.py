"""A session at a server does what a local one does: the same questions, answers, plans, batches and errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.depth import thinned
from tests.server.serving import Place, served

import jali
from jali.client.error_documents import decode_error
from jali.errors import BudgetExceeded, CatalogError, JaliError, LedgerError, QueryError, Unsupported
from jali.session import Session

WARDS = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with served(tmp_path) as made:
        yield made


@pytest.fixture
def here(place: Place) -> Session:
    return place.database.session("ana")


@pytest.fixture
def there(place: Place) -> Session:
    return jali.connect(place.address, token=place.tokens["ana"])


def test_an_answer_is_the_same_here_and_there(here: Session, there: Session) -> None:
    found = there.ask(WARDS, epsilon=1)
    same = here.ask(WARDS, epsilon=1)
    assert (found.cached, same.cached) == (False, True)
    assert (found.rows, found.columns, found.receipt) == (same.rows, same.columns, same.receipt)
    assert found.interval(0.9) == same.interval(0.9)
    assert str(found).splitlines()[:-1] == str(same).splitlines()[:-1]
    assert found.to_pandas().equals(same.to_pandas())
    assert found.plot_data() == same.plot_data()
    assert (found.cost, found.costs, found.remarks) == (same.cost, same.costs, same.remarks)


def test_a_plan_is_the_same_here_and_there_but_for_the_curators_folders(
    place: Place, here: Session, there: Session
) -> None:
    local, remote = here.explain(WARDS, epsilon=1), there.explain(WARDS, epsilon=1)
    assert str(local) == str(remote)
    assert (local.cost, local.leaves) == (remote.cost, remote.leaves)
    folder = str(place.app.state.jali.settings.data)
    assert folder in local.sql
    assert folder not in remote.sql + repr(remote.tables)


@thinned(3)
@pytest.mark.parametrize(
    "build",
    [
        lambda t: t.where("age > 30").group_by("ward").agg(n=jali.count(), cost=jali.sum("cost")),
        lambda t: t.agg(q=jali.quantile("age", 0.25, 0.75)),
        lambda t: t.group_by("ward").agg(n=jali.count()).having("n > 1.0").order_by("n", descending=True).limit(2),
        lambda t: t.rollup("ward").agg(n="COUNT(*)"),
        lambda t: t.agg(n=jali.count(where="ward = 'A' OR NOT (age < 40)"), m=jali.mean("cost")),
    ],
)
def test_built_questions_travel(here: Session, there: Session, build: Any) -> None:
    found = build(there.table("visits")).ask(epsilon=1)
    same = build(here.table("visits")).ask(epsilon=1)
    assert same.cached
    assert (found.rows, found.interval()) == (same.rows, same.interval())
    assert str(build(there.table("visits")).explain(epsilon=1)) == str(
        build(here.table("visits")).explain(epsilon=1)
    )


def test_a_batch_is_the_same_here_and_there(here: Session, there: Session) -> None:
    def asked(session: Session) -> Any:
        with session.batch(epsilon=1) as batch:
            batch.ask("SELECT COUNT(*) AS n FROM visits")
            batch.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", weight="3/2")
            explained = str(batch.explain())
        return batch, explained

    (remote, told), (local, said) = asked(there), asked(here)
    assert [answer.rows for answer in remote.answers] == [answer.rows for answer in local.answers]
    assert (remote.cost, remote.receipt) == (local.cost, local.receipt)
    assert told.splitlines()[:3] == said.splitlines()[:3]
    assert [a.rows for a in there.redeem_batch(remote.receipt)] == [a.rows for a in remote.answers]
    with pytest.raises(QueryError, match="receipt of a batch"):
        there.redeem(remote.receipt)


def test_parts_remaining_receipts_and_removed(here: Session, there: Session) -> None:
    parts = there.table("visits").partition("ward")
    assert tuple(parts) == ("A", "B", "C")
    answer = parts["A"].agg(n=jali.count()).ask(epsilon=1)
    assert len(answer.rows) == 1
    assert there.remaining("visits") == here.remaining("visits")
    assert there.remaining("visits", part={"ward": "B"}) == here.remaining("visits", part={"ward": "B"})
    assert there.receipts() == here.receipts()
    assert there.redeem(answer.receipt).rows == answer.rows
    told = there.removed("SELECT AVG(age) FROM visits", epsilon=1)
    assert str(told) == str(here.removed("SELECT AVG(age) FROM visits", epsilon=1))


def test_an_accuracy_and_exact_numbers_travel(here: Session, there: Session) -> None:
    from decimal import Decimal
    from fractions import Fraction

    assert (
        there.explain("SELECT COUNT(*) FROM visits", within=40).cost
        == here.explain("SELECT COUNT(*) FROM visits", within=40).cost
    )
    for epsilon in (Fraction(1, 3), Decimal("0.1"), "1/7", 0.1, 1):
        assert (
            there.explain("SELECT COUNT(*) FROM visits", epsilon=epsilon).cost
            == here.explain("SELECT COUNT(*) FROM visits", epsilon=epsilon).cost
        )


def test_a_stream_is_the_same_here_and_there(place: Place, here: Session, there: Session) -> None:
    stream = place.database.stream("arrivals", unit="patient", horizon=30, epsilon=2)
    stream.append([{"item": "1", "owner": "p"}])
    stream.publish(3)
    local, remote = here.stream("arrivals"), there.stream("arrivals")
    assert (remote.published, remote.cost, remote.explain()) == (3, local.cost, local.explain())
    assert remote.to_pandas().equals(local.to_pandas())
    assert (str(remote), remote.value(2)) == (str(local), local.value(2))
    with pytest.raises(QueryError, match="Tick 4 is not published"):
        remote.value(4)


def test_errors_are_those_of_the_database(there: Session) -> None:
    with pytest.raises(QueryError, match="no column") as caught:
        there.ask("SELECT nothing FROM visits", epsilon=1)
    assert caught.value.position == (1, 8)
    with pytest.raises(Unsupported):
        there.ask("SELECT age FROM visits", epsilon=1)
    with pytest.raises(CatalogError, match="epsilon"):
        there.ask(WARDS, epsilon="x")
    with pytest.raises(LedgerError, match="There is no receipt"):
        there.redeem("none")
    with pytest.raises(BudgetExceeded, match="would still fit") as refused:
        there.ask(WARDS, epsilon=60)
    assert refused.value.remaining == 50
    assert refused.value.fits[0].amount == 50


def test_a_server_is_opened_by_a_token(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JALI_TOKEN", raising=False)
    with pytest.raises(CatalogError, match="Connecting to a server needs a token"):
        jali.connect(place.address)
    monkeypatch.setenv("JALI_TOKEN", place.tokens["ana"])
    session: Any = jali.connect(place.address)
    assert repr(session) == "Session('ana')"
    with pytest.raises(JaliError, match="The token is invalid") as wrong:
        jali.connect(place.address, token="jali_a_b")
    assert "jali.connect(address, token=" in str(wrong.value)
    assert "Bearer" not in str(wrong.value)
    with pytest.raises(JaliError, match="does not answer"):
        jali.connect("http://127.0.0.1:9", token="jali_a_b")
    with pytest.raises(CatalogError, match="A token is only needed to connect to a server"):
        jali.connect("clinic.jali", token="jali_a_b")


def test_who_waits_longer_than_the_server_gets_the_answer_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    from jali.engines.duckdb import DuckDBEngine

    run = DuckDBEngine.run

    def slow(*arguments: Any) -> Any:
        time.sleep(0.5)
        return run(*arguments)

    with served(tmp_path, patience=0.05) as place:
        monkeypatch.setattr(DuckDBEngine, "run", slow)
        there = jali.connect(place.address, token=place.tokens["ana"])
        assert len(there.ask(WARDS, epsilon=1).rows) == 3


def test_tables_and_streams_are_listed_here_and_there(place: Place, here: Session, there: Session) -> None:
    place.database.stream("admissions", unit="patient", horizon=9, budget=jali.Budget(epsilon=1))
    assert [repr(table) for table in there.tables()] == [repr(table) for table in here.tables()]
    assert there.tables()[0].fields == here.tables()[0].fields
    assert there.streams() == here.streams() == ("admissions",)
    assert str(place.app.state.jali.settings.data) not in repr(there.tables()[0].source)


def test_parts_are_told_as_a_list(place: Place) -> None:
    with place.client("ana") as client:
        assert client.get("/api/v1/tables/visits/parts", params={"by": "ward"}).json()["keys"] == ["A", "B", "C"]


def test_explaining_says_that_there_is_no_grant(place: Place) -> None:
    token = place.database.access.create("eve", "analyst").text
    told = jali.connect(place.address, token=token).explain(WARDS, epsilon=1)
    assert "eve has no grant on visits" in str(told)
    assert "Remaining" in str(told)


def test_a_frame_without_its_package_says_how_to_get_one(there: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    answer = there.ask(WARDS, epsilon=1)
    for package in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(CatalogError, match=f"pip install {package}"):
            {"pandas": answer.to_pandas, "polars": answer.to_polars, "pyarrow": answer.to_arrow}[package]()


@pytest.mark.parametrize(
    "told",
    [
        {"code": "of-a-later-version", "fields": {"column": "age"}},
        {"code": "column-unknown", "fields": {"table": "visits"}},
        {"code": "column-unknown", "fields": {"table": {"of a later version": 1}}},
        {},
    ],
)
def test_an_error_of_a_server_of_another_version_has_the_words_of_the_server(told: dict[str, Any]) -> None:
    words = {"type": "QueryError", "message": "No such age.", "remedy": "Write years.", "position": [1, 8]}
    error = decode_error(words | told)
    assert (type(error), str(error)) == (QueryError, "line 1, column 8: No such age. Write years.")
    assert (error.code, error.fields["server_code"]) == ("server-said", told.get("code", ""))
