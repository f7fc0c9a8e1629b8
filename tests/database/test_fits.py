"""What would fit: granted indeed, the most there is, from public facts, and free."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.database.clinic import COLUMNS, make_visits
from tests.depth import thinned
from tests.parquet import write_parquet

import jali
from jali.errors import Fit

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
SEVERAL = "SELECT COUNT(*), SUM(cost), MEDIAN(age) FROM visits"
JOINED = "SELECT COUNT(*) FROM visits JOIN patients ON visits.patient_id = patients.id"


def opened(directory: Path, rows: int = 300, delta: Any = "1e-6", epsilon: int = 1) -> jali.Database:
    source, people = directory / "visits.parquet", directory / "patients.parquet"
    make_visits(source, rows)
    write_parquet("SELECT i::INTEGER AS id, 'f' AS sex FROM range(97) t(i)", people)
    db = jali.connect()
    budget = jali.Budget(epsilon=epsilon, delta=delta)
    db.protect("visits", source, unit="patient_id", max_rows=5, columns=COLUMNS, budget=budget, rows=300)
    db.protect("patients", people, unit="id", max_rows=1, budget=jali.Budget(epsilon=2 * epsilon, delta=delta))
    return db


def refused(ask: Callable[[], object]) -> jali.BudgetExceeded:
    with pytest.raises(jali.BudgetExceeded) as caught:
        ask()
    return caught.value


def loss(fit: Fit, amount: Fraction | None = None) -> dict[str, Any]:
    return {fit.kind: fit.amount if amount is None else amount} | ({"delta": fit.delta} if fit.delta else {})


@thinned(4)
@pytest.mark.parametrize("question", [COUNT, BY_WARD, SEVERAL, JOINED])
@pytest.mark.parametrize("before", [{}, {"rho": "0.01"}, {"epsilon": "1/3"}])
@pytest.mark.parametrize("asked", [{"epsilon": 9}, {"rho": 2}])
def test_the_loss_that_fits_is_granted_and_a_little_more_is_not(
    tmp_path: Path, question: str, before: dict[str, Any], asked: dict[str, Any]
) -> None:
    db = opened(tmp_path, epsilon=3)
    if before:
        db.ask("SELECT COUNT(*) FROM visits WHERE age > 3", **before)
    (fit, *_) = refused(lambda: db.ask(question, **asked)).fits
    assert fit.change == ""
    more = refused(lambda: db.ask(question, **loss(fit, fit.amount * Fraction(102, 100))))
    assert more.fits[0].amount <= fit.amount * Fraction(102, 100)
    assert db.ask(question, **loss(fit)).cost.amount <= fit.amount


def test_every_account_that_pays_has_its_say(tmp_path: Path) -> None:
    db = opened(tmp_path)
    db.grant("ana", "visits", jali.Budget(epsilon="1/4"))
    error = refused(lambda: db.session("ana").ask(COUNT, epsilon=2))
    assert (error.account, str(error.remaining)) == ("grant ana on visits", "1/4")
    assert error.fits[0].amount == Fraction(1, 4)
    assert "A question with epsilon 0.25 would still fit." in str(error)
    assert db.session("ana").ask(COUNT, epsilon="1/4").cost.amount == Fraction(1, 4)


def test_a_coarser_question_fits_as_it_says(tmp_path: Path) -> None:
    db = opened(tmp_path)
    fits = {fit.change: fit for fit in refused(lambda: db.ask(BY_WARD, epsilon=2)).fits}
    assert set(fits) == {"", "without ward"}
    assert (fits[""].groups, fits["without ward"].groups) == (3, 1)
    plan = db.explain("SELECT COUNT(*) AS n, AVG(age) AS age FROM visits", **loss(fits["without ward"]))
    (note, _) = plan.estimates
    assert plan.cost.amount == 1
    assert "of a group of 300 rows" in dict(fits["without ward"].forecasts)["COUNT(*)"]
    assert "of a group of 100 rows" in dict(fits[""].forecasts)["COUNT(*)"]
    assert note[0].function == "count"


def test_within_what_fits_is_reached_for_the_loss_that_fits(tmp_path: Path) -> None:
    db = opened(tmp_path)
    (fit,) = refused(lambda: db.ask(COUNT, within=1)).fits
    ((name, width),) = fit.within
    assert name == "n"
    assert db.explain(COUNT, within=width).cost.amount <= fit.amount * Fraction(101, 100)
    assert db.explain(COUNT, within=width * 0.97).cost.amount > fit.amount


def test_a_delta_that_is_too_large_is_lowered_and_without_any_left_coarser_questions_fit(tmp_path: Path) -> None:
    db = opened(tmp_path)
    by_sex = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
    error = refused(lambda: db.ask(by_sex, epsilon="0.1", delta="1e-5"))
    assert error.kind == "delta"
    same, total = error.fits
    assert (same.change, same.amount, same.groups) == ("", Fraction(1, 10), None)
    assert 0 < same.delta <= Fraction(5, 10**7)
    assert (total.change, total.amount, total.delta) == ("without sex", Fraction(1, 10), Fraction(0))
    assert db.ask(by_sex, **loss(same)).cost.delta == same.delta
    found = refused(lambda: opened(tmp_path, delta=0).ask(by_sex, epsilon="0.1", delta="1e-5"))
    assert [(fit.change, fit.delta, fit.groups) for fit in found.fits] == [("without sex", Fraction(0), 1)]
    assert found.remedy == "This question cannot be answered with less; a coarser one can."


def test_where_one_kind_of_loss_is_used_up_the_other_is_offered(tmp_path: Path) -> None:
    db = opened(tmp_path, delta=0)
    error = refused(lambda: db.ask(COUNT, rho=1))
    assert [(fit.change, fit.kind, fit.amount) for fit in error.fits] == [
        ("with Laplace noise", "epsilon", Fraction(1))
    ]
    assert error.remedy == "No rho remains; a question with epsilon 1 would still fit."


def test_where_nothing_is_left_nothing_is_offered(tmp_path: Path) -> None:
    db = opened(tmp_path, delta=0)
    db.ask(COUNT, epsilon=1)
    error = refused(lambda: db.ask(BY_WARD, epsilon="0.1"))
    assert error.fits == ()
    assert "No budget remains for this question" in str(error)


def test_looking_for_what_fits_is_free_and_sees_no_data(tmp_path: Path) -> None:
    said = []
    for rows in (300, 7):
        db = opened(tmp_path, rows=rows)
        before = db.ledger.accounts(), db.receipts()
        said.append(str(refused(lambda: db.ask(BY_WARD, epsilon=2))))  # noqa: B023 - called at once
        assert (db.ledger.accounts(), db.receipts()) == before
    assert said[0] == said[1]
    assert "without ward" in said[0]


@pytest.mark.parametrize("asked", [{"epsilon": "0.3"}, {"rho": "0.003"}])
@pytest.mark.parametrize("before", [{"epsilon": "0.1"}, {"rho": "0.001"}])
def test_what_a_question_leaves_is_what_is_left_after_it(
    tmp_path: Path, before: dict[str, Any], asked: dict[str, Any]
) -> None:
    db = opened(tmp_path, epsilon=5)
    db.grant("ana", "visits", jali.Budget(epsilon=4, delta="1e-6"))
    session = db.session("ana")
    session.ask(COUNT, **before)
    told = dict(session.explain(BY_WARD, **asked).leaves)
    told_curator = dict(db.explain(BY_WARD, **asked).leaves)
    session.ask(BY_WARD, **asked)
    left = {account.name: f"{account.remaining} of {account.budget}" for account in db.ledger.accounts()}
    # What is left of the table would tell an analyst what others have asked.
    assert told == {"grant ana on visits": left["grant ana on visits"]}
    assert told_curator == {"table visits": left["table visits"]}


def test_explaining_says_that_a_question_would_be_refused(tmp_path: Path) -> None:
    db = opened(tmp_path)
    text = str(db.explain(COUNT, epsilon=2))
    assert "the question would be refused: epsilon 1 (or rho 0.0229374), delta 5e-07 remains" in text


def test_a_question_that_was_answered_is_explained_as_free(tmp_path: Path) -> None:
    db = opened(tmp_path)
    db.grant("ana", "visits", jali.Budget(epsilon=1))
    session = db.session("ana")
    session.ask(COUNT, epsilon="1/4")
    before = session.remaining("visits")
    told = dict(session.explain(COUNT, epsilon="1/4").leaves)
    assert all(text.startswith("already released, so it is free") for text in told.values())
    assert str(before) in told["grant ana on visits"]
    # Another analyst has not paid, and is not told what others asked.
    db.grant("ben", "visits", jali.Budget(epsilon=1))
    other = dict(db.session("ben").explain(COUNT, epsilon="1/4").leaves)
    assert not any("already released" in text for text in other.values())
    assert session.remaining("visits") == before
