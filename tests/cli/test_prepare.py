"""`jali prepare`, and `jali protect --unique`."""

from __future__ import annotations

from pathlib import Path

import duckdb
from tests.cli.conftest import Runner

SQL = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


def explained(jali: Runner, clinic: Path, sql: str) -> str:
    """Return an explanation on one line, however it is wrapped."""
    return " ".join(jali("explain", clinic, sql, "--epsilon", "0.1").out.split())


def test_prepare_writes_a_private_copy_that_questions_are_answered_from(clinic: Path, jali: Runner) -> None:
    done = jali("prepare", clinic, "visits")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Prepared visits.")
    assert "asked before are answered and charged again" in done.out
    copy = clinic.with_name("clinic.jali.prepared") / "visits.duckdb"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert "in the prepared copy count 1 each" in explained(jali, clinic, SQL)
    assert "answered from a copy" in jali("tables", clinic).out
    assert jali("ask", clinic, SQL, "--epsilon", "0.1").code == 0
    assert jali("refresh", clinic, "visits").code == 0
    dropped = jali("prepare", clinic, "visits", "--drop", "--json")
    assert dropped.document == {"table": "visits", "prepared": False}
    assert not copy.exists()
    assert "in the prepared copy count 1 each" not in explained(jali, clinic, SQL)


def test_prepare_answers_in_json_and_tells_nothing_of_the_rows(clinic: Path, jali: Runner) -> None:
    assert jali("prepare", clinic, "visits", "--json").document == {"table": "visits", "prepared": True}
    tables = jali("tables", clinic, "--json").document["tables"]
    assert (tables[0]["prepared"], tables[0]["unique"]) == (True, False)


def test_a_copy_that_is_dropped_or_missing_is_told_from_none(clinic: Path, jali: Runner) -> None:
    none = jali("prepare", clinic, "visits", "--drop")
    assert (none.code, none.out) == (0, "visits has no copy: questions read the source, as before.\n")
    directory = clinic.with_name("clinic.jali.prepared")
    assert not directory.exists()
    assert jali("prepare", clinic, "visits").code == 0
    (directory / "visits.duckdb").unlink()
    missing = jali("ask", clinic, SQL, "--epsilon", "0.1")
    assert missing.code == 5
    assert f"Write it again: jali prepare {clinic} visits" in missing.err
    dropped = jali("prepare", clinic, "visits", "--drop")
    assert dropped.out.startswith("Questions on visits read the source again.")
    assert "charged again" in dropped.out
    assert jali("ask", clinic, SQL, "--epsilon", "0.1").code == 0


def test_a_table_that_is_not_there_is_named(clinic: Path, jali: Runner) -> None:
    failed = jali("prepare", clinic, "visit")
    assert failed.code != 0
    assert "There is no protected table visit." in failed.err


def test_protect_takes_a_key_that_the_source_enforces(clinic: Path, jali: Runner) -> None:
    path = clinic.with_name("people.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, age INTEGER)")
    declared = ["--unit", "id", "--unique", "--range", "age=0:120", "--epsilon", "1"]
    done = jali("protect", clinic, "people", path, *declared)
    assert done.code == 0
    assert "id, one row each by a key of the source" in done.out
    said = explained(jali, clinic, "SELECT COUNT(*) FROM people")
    assert "each id has one row, which a key of the source enforces" in said
