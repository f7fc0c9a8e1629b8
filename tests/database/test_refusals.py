"""A refused, malformed or unsupported question costs nothing, reads nothing, and names the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.depth import whole
from tests.harness import noise_off
from tests.unit.sql.test_refused_sql import CASES, WRONG

import jali
from jali.engines.duckdb import DuckDBEngine

COLUMNS: dict[str, Any] = {
    "age": jali.Range(0, 120),
    "cost": jali.Range(0, 100),
    "ward": jali.Keys(["A", "B"]),
    "day": "date",
}
ROWS = pa.table(
    {
        "uid": [1, 2, 2],
        "age": [30, 40, 50],
        "cost": [1.0, 2.0, 3.0],
        "free": [1.0, 2.0, 3.0],
        "ward": ["A", "B", "A"],
        "note": ["x", None, ""],
        "paid": [True, False, None],
        "day": pa.array([0, 1, 2], pa.date32()),
        "at": pa.array([0, 1, 2], pa.timestamp("us")),
        "tags": [[1], [2], [3]],
    }
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[jali.Database]:
    """A database on disk, with a grant, that has answered one question."""
    with jali.connect(tmp_path_factory.mktemp("ledger") / "clinic.jali") as db:
        db.protect("visits", ROWS, unit="uid", max_rows=5, columns=COLUMNS, budget=jali.Budget(1, 1e-6))
        db.grant("ana", "visits", jali.Budget("1/2", 1e-7))
        db.session("ana").ask("SELECT COUNT(*) FROM visits", epsilon="1/10")
        yield db


@pytest.fixture
def clinic(shared: jali.Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[jali.Database]:
    """The same database, whose engine must not be asked and whose ledger must not change."""

    def run(*_: Any) -> Any:
        raise AssertionError("data was read")

    before = state(shared)
    monkeypatch.setattr(DuckDBEngine, "run", run)
    yield shared
    assert state(shared) == before


def state(db: jali.Database) -> tuple[Any, ...]:
    found = db.verify()
    assert found.problems == ()
    left = db.remaining("visits"), db.remaining("visits", analyst="ana")
    return found, db.receipts(), [str(account) for account in db.ledger.accounts()], left


def refusal(ask: Callable[[], Any], kind: type[jali.JaliError]) -> jali.JaliError:
    with pytest.raises(jali.JaliError) as refused:
        ask()
    assert type(refused.value) is kind
    return refused.value


@whole
@pytest.mark.parametrize("sql", [sql for sql, _ in CASES + WRONG])
def test_a_question_that_is_not_understood_or_not_supported_costs_nothing(clinic: jali.Database, sql: str) -> None:
    with pytest.raises(jali.errors.QueryError):
        clinic.session("ana").ask(sql, epsilon="1/100")


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        ({}, jali.errors.QueryError),
        ({"epsilon": None, "rho": None}, jali.errors.QueryError),
        ({"epsilon": 0.1, "rho": 0.1}, jali.errors.QueryError),
        ({"epsilon": 0}, jali.errors.CatalogError),
        ({"epsilon": -0.1}, jali.errors.CatalogError),
        ({"epsilon": math.nan}, jali.errors.CatalogError),
        ({"epsilon": math.inf}, jali.errors.CatalogError),
        ({"epsilon": "lots"}, jali.errors.CatalogError),
        ({"epsilon": True}, jali.errors.CatalogError),
        ({"epsilon": "1/0"}, jali.errors.CatalogError),
        ({"epsilon": "1e999999"}, jali.errors.CatalogError),
        ({"rho": 0}, jali.errors.CatalogError),
        ({"rho": -1}, jali.errors.CatalogError),
        ({"rho": math.nan}, jali.errors.CatalogError),
    ],
)
def test_a_question_needs_exactly_one_positive_loss(
    clinic: jali.Database, loss: dict[str, Any], kind: type[jali.JaliError]
) -> None:
    ask = clinic.session("ana").ask
    error = refusal(lambda: ask("SELECT COUNT(*) FROM visits WHERE paid", **loss), kind)
    assert str(error)
    explain = clinic.explain
    refusal(lambda: explain("SELECT COUNT(*) FROM visits WHERE paid", **loss), kind)


@pytest.mark.parametrize("loss", [{"epsilon": "1e-30"}, {"rho": "1e-60"}])
def test_a_loss_too_small_to_give_any_answer_is_refused_before_it_is_paid(
    clinic: jali.Database, loss: dict[str, Any]
) -> None:
    error = refusal(lambda: clinic.ask("SELECT COUNT(*) FROM visits WHERE paid", **loss), jali.errors.QueryError)
    assert "larger" in (error.remedy or "")


@pytest.mark.parametrize("name", ["nowhere", "visits2", "sqlite_master", '"frame visits"', "information_schema"])
def test_an_unknown_table_is_refused_with_the_tables_there_are(clinic: jali.Database, name: str) -> None:
    ask = clinic.session("ana").ask
    error = refusal(lambda: ask(f"SELECT COUNT(*) FROM {name}", epsilon=0.1), jali.errors.QueryError)
    assert "visits" in (error.remedy or "")


@pytest.mark.parametrize("analyst", ["bob", "Ana", "ana "])
def test_without_a_grant_an_analyst_asks_nothing(clinic: jali.Database, analyst: str) -> None:
    session = clinic.session(analyst)
    error = refusal(lambda: session.ask("SELECT COUNT(*) FROM visits", epsilon=0.1), jali.errors.CatalogError)
    assert "grant" in (error.remedy or "")
    refusal(lambda: session.remaining("visits"), jali.errors.CatalogError)


@pytest.mark.parametrize("name", ["", "curator"])
def test_nobody_becomes_the_curator_by_name(shared: jali.Database, name: str) -> None:
    before = state(shared)
    with pytest.raises(jali.JaliError):
        shared.session(name).ask("SELECT COUNT(*) FROM visits WHERE paid", epsilon="1/100")
    assert state(shared) == before


def test_an_analyst_cannot_be_granted_the_name_of_the_curator(clinic: jali.Database) -> None:
    refusal(lambda: clinic.grant("curator", "visits", jali.Budget(1)), jali.errors.CatalogError)
    refusal(lambda: clinic.grant("", "visits", jali.Budget(1)), jali.errors.CatalogError)
    refusal(lambda: clinic.grant("eve", "nowhere", jali.Budget(1)), jali.errors.QueryError)


def test_a_grant_is_never_reset(clinic: jali.Database) -> None:
    with pytest.raises(jali.JaliError):
        clinic.grant("ana", "visits", jali.Budget(100))


def test_the_budget_refuses_with_requested_remaining_and_difference(clinic: jali.Database) -> None:
    with pytest.raises(jali.BudgetExceeded) as refused:
        clinic.session("ana").ask("SELECT COUNT(*) FROM visits WHERE paid", epsilon="1/2")
    error = refused.value
    assert (error.kind, str(error.requested), str(error.remaining), str(error.difference)) == (
        "epsilon",
        "1/2",
        "2/5",
        "1/10",
    )
    for word in ("Requested", "Remaining", "Difference", "0.5", "0.4", "0.1"):
        assert word in str(error)
    assert "0.4" in (error.remedy or "")
    assert "ana" in error.account


def test_the_table_refuses_what_the_grant_would_allow() -> None:
    with jali.connect() as db:
        db.protect("visits", ROWS, unit="uid", max_rows=5, columns=COLUMNS, budget=jali.Budget(1))
        db.grant("ana", "visits", jali.Budget(10))
        with pytest.raises(jali.BudgetExceeded, match="visits") as refused:
            db.session("ana").ask("SELECT COUNT(*) FROM visits", epsilon=2)
        assert refused.value.remaining == 1
        assert db.receipts() == ()


def test_gaussian_noise_needs_a_delta_in_the_budget() -> None:
    with jali.connect() as db:
        db.protect("visits", ROWS, unit="uid", max_rows=5, columns=COLUMNS, budget=jali.Budget(1))
        with pytest.raises(jali.BudgetExceeded) as refused:
            db.ask("SELECT COUNT(*) FROM visits", rho="1/1000")
        assert refused.value.kind == "rho"
        assert refused.value.remaining == 0
        assert db.receipts() == ()


def test_after_the_last_of_the_budget_the_refusal_says_what_is_still_free() -> None:
    with jali.connect() as db, noise_off():
        db.protect("visits", ROWS, unit="uid", max_rows=5, columns=COLUMNS, budget=jali.Budget(1))
        first = db.ask("SELECT COUNT(*) FROM visits", epsilon=1)
        with pytest.raises(jali.BudgetExceeded, match="again for free"):
            db.ask("SELECT COUNT(*) FROM visits WHERE paid", epsilon="1e-6")
        again = db.ask("SELECT COUNT(*) FROM visits", epsilon=1)
        assert (again.rows, again.receipt, again.cached) == (first.rows, first.receipt, True)


@pytest.mark.parametrize("receipt", ["", "nonsense", "0" * 32, "' OR 1=1 --"])
def test_a_receipt_that_does_not_exist_gives_nothing(clinic: jali.Database, receipt: str) -> None:
    error = refusal(lambda: clinic.redeem(receipt), jali.errors.LedgerError)
    assert str(error)


def test_a_receipt_of_somebody_else_gives_nothing(shared: jali.Database) -> None:
    shared.grant("eve", "visits", jali.Budget("1/10"))
    (receipt,) = shared.session("ana").receipts()
    refusal(lambda: shared.session("eve").redeem(receipt.id), jali.errors.LedgerError)
    assert shared.session("eve").receipts() == ()


def test_explaining_is_free_and_reads_nothing(clinic: jali.Database) -> None:
    plan = clinic.session("ana").explain("SELECT ward, AVG(age) FROM visits GROUP BY ward", epsilon=1000)
    assert "cost epsilon 1000" in str(plan).replace(",", "")
    assert plan.sql.startswith("WITH")


def test_every_error_is_a_jali_error_with_a_sentence() -> None:
    kinds = [
        jali.errors.QueryError,
        jali.errors.Unsupported,
        jali.BudgetExceeded,
        jali.errors.CatalogError,
        jali.errors.EngineError,
    ]
    for kind in [*kinds, jali.errors.LedgerError, jali.errors.MechanismError]:
        assert issubclass(kind, jali.JaliError)
    assert issubclass(jali.errors.Unsupported, jali.errors.QueryError)


def test_a_question_that_is_not_text_in_unicode_is_refused_as_a_question(clinic: jali.Database) -> None:
    with pytest.raises(jali.errors.QueryError):
        clinic.ask("SELECT COUNT(*) FROM visits WHERE note = '\ud800'", epsilon="1/100")


def test_refusals_survive_reopening(tmp_path: Path) -> None:
    path = tmp_path / "clinic.jali"
    with jali.connect(path) as db:
        db.protect("visits", ROWS, unit="uid", max_rows=5, columns=COLUMNS, budget=jali.Budget(1))
        db.ask("SELECT COUNT(*) FROM visits", epsilon="9/10")
    with jali.connect(path) as db:
        db.tables.attach("visits", ROWS)
        with pytest.raises(jali.BudgetExceeded) as refused:
            db.ask("SELECT COUNT(*) FROM visits WHERE paid", epsilon="1/5")
        assert refused.value.remaining == jali.Budget("1/10").epsilon
        assert len(db.receipts()) == 1
