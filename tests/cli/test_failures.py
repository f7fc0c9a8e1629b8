from __future__ import annotations

import math
import os
import shlex
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from jali.cli.errors import CommandContext, choose_exit_code, draw_caret
from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Face,
    JaliError,
    LedgerError,
    MechanismError,
    Phrase,
    QueryError,
    Unsupported,
)

Runner = Callable[..., Any]
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (QueryError("x"), 2),
        (CatalogError("x"), 2),
        (MechanismError("x"), 2),
        (BudgetExceeded("table t", kind="epsilon", requested=Fraction(1), remaining=Fraction(0)), 3),
        (Unsupported("x"), 4),
        (EngineError("x"), 5),
        (LedgerError("x"), 5),
        (JaliError("x"), 5),
    ],
)
def test_every_error_has_its_exit_code(error: JaliError, code: int) -> None:
    assert choose_exit_code(error) == code


@pytest.mark.parametrize(
    ("sql", "code", "line", "column"),
    [
        ("SELECT foo FROM visits", 2, 1, 8),
        ("SELECT COUNT(*) AS n\nFROM visits\nWHERE nothing > 1", 2, 3, 7),
        ("SELECT COUNT(*) FROM visits GROUP BY floor", 4, 1, 38),
    ],
)
def test_a_caret_stands_under_the_place_that_is_wrong(
    jali: Runner, clinic: Path, sql: str, code: int, line: int, column: int
) -> None:
    for verb in ("ask", "explain"):
        outcome = jali(verb, clinic, sql, "--epsilon", "0.1")
        shown = outcome.err.splitlines()
        assert outcome.code == code
        assert outcome.out == ""
        assert shown[0].startswith(f"jali: line {line}, column {column}: ")
        assert shown[-2] == "  " + sql.splitlines()[line - 1]
        assert shown[-1] == "  " + " " * (column - 1) + "^"


def test_a_program_gets_the_error_as_an_envelope(jali: Runner, clinic: Path) -> None:
    outcome = jali("ask", clinic, "SELECT foo FROM visits", "--epsilon", "0.1", "--json")
    error = outcome.document["error"]
    assert (outcome.code, outcome.err) == (2, "")
    assert (error["type"], error["position"], error["exit_code"]) == ("QueryError", [1, 8], 2)
    assert "foo" in error["message"]
    assert "patient_id" in error["remedy"]


def test_the_budget_refuses_with_requested_remaining_and_difference(jali: Runner, clinic: Path) -> None:
    jali("ask", clinic, COUNT, "--epsilon", "0.9", "--analyst", "ana")
    outcome = jali("ask", clinic, COUNT, "--epsilon", "0.3", "--analyst", "ana")
    assert outcome.code == 3
    block = [line.split() for line in outcome.err.splitlines() if line.startswith("  ")]
    assert block[:3] == [
        ["Requested", "epsilon", "0.3"],
        ["Remaining", "epsilon", "0.1"],
        ["Difference", "epsilon", "0.2"],
    ]
    assert "A question with epsilon 0.1 would still fit." in outcome.err
    # Five rows at epsilon 0.1: Laplace noise of scale 50, whose 95 % quantile is 50 ln 20 = 149.8.
    assert " ".join(block[3]) == "this question epsilon 0.1: COUNT(*) ± 150, 3 % of a group of 5,000 rows"
    error = jali("ask", clinic, COUNT, "--epsilon", "0.3", "--analyst", "ana", "--json").document["error"]
    assert (error["type"], error["account"], error["kind"]) == ("BudgetExceeded", "grant ana on visits", "epsilon")
    assert (error["requested"], error["remaining"], error["difference"]) == ("3/10", "1/10", "1/5")
    assert [(fit["change"], fit["kind"], fit["amount"]) for fit in error["fits"]] == [(None, "epsilon", "1/10")]
    assert abs(error["fits"][0]["within"]["n"] - 50 * math.log(20)) < 1
    assert len(jali("ledger", clinic, "--json").document["receipts"]) == 1


def test_a_refusal_shows_as_many_digits_as_tell_the_numbers_apart() -> None:
    error = BudgetExceeded("table t", kind="epsilon", requested=Fraction("0.10000001"), remaining=Fraction(1, 10))
    shown = dict(error.facts)
    assert shown["Requested"] != shown["Remaining"] == "epsilon 0.1"


def test_what_would_still_fit_is_never_more_than_is_left() -> None:
    error = BudgetExceeded("table t", kind="rho", requested=Fraction(1), remaining=Fraction(2, 3))
    assert str(error.remedy) == "A question with rho 0.666666 would still fit."
    empty = BudgetExceeded("table t", kind="rho", requested=Fraction(1), remaining=Fraction(0))
    assert "The budget is spent" in str(empty.remedy)


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("ask", "clinic.jali"),
        ("nonsense",),
        ("ask", "clinic.jali", COUNT, "--epsilom", "1"),
        ("protect", "clinic.jali", "t", "f.parquet"),
        ("protect", "clinic.jali", "t", "f.parquet", "--epsilon", "1", "--no-unit", "--max-rows", "many"),
        ("ask", "no-such.jali", COUNT, "--epsilon", "1"),
    ],
)
def test_wrong_use_is_explained_and_exits_with_2(jali: Runner, arguments: tuple[str, ...]) -> None:
    people, program = jali(*arguments), jali(*arguments, "--json")
    assert (people.code, program.code) == (2, 2)
    assert people.err.startswith("jali: ")
    assert program.document["error"]["exit_code"] == 2


@pytest.mark.parametrize("loss", [(), ("--epsilon", "x"), ("--epsilon", "-1"), ("--epsilon", "1", "--rho", "1")])
def test_a_loss_that_is_none_is_refused(jali: Runner, clinic: Path, loss: tuple[str, ...]) -> None:
    assert jali("ask", clinic, COUNT, *loss).code == 2


@pytest.mark.parametrize("verb", ["ask", "explain"])
def test_sql_without_quotes_is_explained(jali: Runner, verb: str) -> None:
    outcome = jali(verb, "clinic.jali", *COUNT.split(), "--epsilon", "1")
    assert outcome.code == 2
    assert outcome.err == (
        f"jali: The SQL must be a single argument: enclose it in double quotes. See `jali {verb} --help`.\n"
    )


def test_remedies_speak_of_options_and_verbs(jali: Runner, clinic: Path, visits: Path) -> None:
    def said(*arguments: object) -> str:
        outcome = jali(*arguments)
        assert outcome.code in (2, 4)
        assert jali(*arguments, "--json").document["error"]["remedy"] in outcome.err
        return str(outcome.err)

    assert "Give --epsilon 0.1, or --rho 0.005 for Gaussian noise; or --within 20 to let Jali" in said(
        "ask", clinic, COUNT
    )
    loss, protect = ("--epsilon", "1"), ("protect", clinic, "own", visits, "--epsilon", "1")
    name = shlex.quote("o'neil b")
    no_grant = said("ask", clinic, COUNT, *loss, "--analyst", "o'neil b")
    assert f"Ask the curator for it: jali grant {clinic} {name} visits --epsilon NUMBER" in no_grant
    assert "--max-rows is missing." in said(*protect, "--unit", "patient_id")
    assert "--range floor=LOW:HIGH or --range floor=auto, or clamp" in said(
        "ask", clinic, "SELECT SUM(floor) FROM visits", *loss
    )
    assert "--keys floor=A,B,..." in said(
        "ask", clinic, "SELECT floor, COUNT(*) FROM visits GROUP BY floor", *loss
    )
    assert "--kind with one of: integer" in said(*protect, "--no-unit", "--kind", "age=number")
    assert "--max-rows and --rows may change" in said(
        "protect", clinic, "visits", visits, "--epsilon", "9", "--unit", "patient_id", "--max-rows", "5"
    )


def on_command_line(error: JaliError, asked: CommandContext) -> str:
    written = error.write(Face.COMMAND_LINE, asked=asked.words)
    return f"{written.message} {written.remedy}"


def test_commands_name_the_database_where_it_is_known() -> None:
    advice = Phrase("receipt-stays-open", receipt="ab12")
    error = EngineError("engine-failed", advice=advice)
    assert on_command_line(error, CommandContext()).endswith("jali redeem DATABASE ab12")
    asked = CommandContext("my clinic.jali", analyst="ana")
    assert on_command_line(error, asked).endswith("jali redeem 'my clinic.jali' ab12 --analyst ana")


def test_a_path_with_a_blank_is_quoted_in_every_command(jali: Runner, tmp_path: Path) -> None:
    path = tmp_path / "my clinic.jali"
    assert f"jali init '{path}'" in jali("ledger", path).err
    assert f"jali protect '{path}' TABLE" in jali("init", path).out
    path.chmod(0o644)
    assert f"chmod 600 '{path}'" in jali("ledger", path).err


def test_a_name_with_quotes_is_quoted_for_the_shell() -> None:
    name = 'o\'hara "x"'
    said = on_command_line(CatalogError("grant-missing", analyst=name, table="visits"), CommandContext("c.jali"))
    assert said.endswith(f"jali grant c.jali {shlex.quote(name)} visits --epsilon NUMBER")


def test_a_file_that_is_no_ledger_is_a_failure_of_the_ledger(jali: Runner, tmp_path: Path) -> None:
    path = tmp_path / "letter.jali"
    path.write_text("Dear database, " * 500)
    outcome = jali("ledger", path)
    assert outcome.code == 5
    assert outcome.err.startswith("jali: ")


def test_an_unknown_receipt_is_a_failure_of_the_ledger(jali: Runner, clinic: Path) -> None:
    outcome = jali("redeem", clinic, "0" * 32)
    assert outcome.code == 5
    assert f"jali ledger {clinic}" in outcome.err


def test_an_analyst_without_a_grant_is_refused(jali: Runner, clinic: Path) -> None:
    outcome = jali("ask", clinic, COUNT, "--epsilon", "0.1", "--analyst", "eve")
    assert outcome.code == 2
    assert "no grant" in outcome.err


def test_a_missing_source_says_nothing_of_the_data(
    jali: Runner, clinic: Path, visits: Path, tmp_path: Path
) -> None:
    source = tmp_path / "own.parquet"
    shutil.copy(visits, source)
    jali("protect", clinic, "own", source, "--unit", "patient_id", "--max-rows", "1", "--epsilon", "1")
    os.truncate(source, 100)
    error = jali("ask", clinic, "SELECT COUNT(*) FROM own", "--epsilon", "0.1", "--json").document["error"]
    told = "The data of table own has changed since it was last checked. Nothing was spent."
    assert (error["type"], error["message"]) == ("EngineError", told)


def test_an_unforeseen_error_shows_no_traceback_and_no_values(
    jali: Runner, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("secret 4711")

    monkeypatch.setattr("jali.database.Database.ask", explode)
    outcome = jali("ask", clinic, COUNT, "--epsilon", "0.1")
    assert outcome.code == 5
    assert "4711" not in outcome.err + outcome.out
    assert "RuntimeError" not in outcome.err + outcome.out


def test_an_interrupt_says_where_the_receipt_is(
    jali: Runner, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("jali.database.Database.ask", interrupt)
    outcome = jali("ask", clinic, COUNT, "--epsilon", "0.1")
    assert outcome.code == 130
    assert "jali ledger" in outcome.err


def test_the_caret_finds_its_place_in_long_and_wide_lines() -> None:
    long = "SELECT " + "a, " * 100 + "oops FROM visits"
    line, mark = draw_caret(long, (1, long.index("oops") + 1)).splitlines()
    assert line[len(mark) - 1 :].startswith("oops")
    line, mark = draw_caret("SELECT 病, oops", (1, 11)).splitlines()
    assert len(mark) - 1 == len("  SELECT 病, ") + 1
    assert "\x1b" not in draw_caret("SELECT '\x1b[2J', oops", (1, 17))


@pytest.mark.parametrize(
    ("error", "meant"),
    [
        (QueryError("within-not-positive"), "--within must be above 0. Give --within 20, for example."),
        (
            QueryError("within-and-loss"),
            "Give either --within or --epsilon/--rho, not both. With --noise gaussian, --within finds a rho.",
        ),
        (QueryError("within-names-nothing"), "Give --within 20, or --within n=20 for single outputs."),
        (EngineError("source-missing-copy", table="visits"), "Write it again: jali prepare c.jali visits"),
        (QueryError("several-statements"), "Ask them one by one, or together: jali batch c.jali FILE."),
        (
            Unsupported("part-keys-undeclared", column="v.diagnosis", name="v.diagnosis"),
            "Ask the curator to declare them: jali protect ... --keys diagnosis=A,B,...; or partition by another"
            " column.",
        ),
    ],
)
def test_newer_remedies_speak_of_options_too(error: JaliError, meant: str) -> None:
    assert on_command_line(error, CommandContext("c.jali")).endswith(meant)


def test_a_file_of_data_is_told_from_a_ledger_before_its_rights_are(jali: Runner, tmp_path: Path) -> None:
    data = tmp_path / "visits.csv"
    data.write_text("a,b\n1,2\n")
    data.chmod(0o644)
    outcome = jali("ask", data, COUNT, "--epsilon", "1")
    assert outcome.code == 5
    assert "is not a Jali ledger" in outcome.err
    assert "chmod" not in outcome.err
