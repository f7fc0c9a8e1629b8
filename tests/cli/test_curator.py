from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jali.catalog.columns import Keys, Kind, Range
from jali.cli.column_options import read_columns, read_keys, read_range
from jali.errors import CatalogError

Runner = Callable[..., Any]


def test_init_makes_a_file_for_its_owner_only_and_never_overwrites_one(jali: Runner, tmp_path: Path) -> None:
    path = tmp_path / "new.jali"
    assert jali("init", path).code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    again = jali("init", path)
    assert again.code == 2
    assert "never overwritten" in again.err
    assert path.read_bytes() == before
    assert jali("init", tmp_path / "other.jali", "--json").document == {"database": str(tmp_path / "other.jali")}


def test_protect_says_what_was_declared(jali: Runner, tmp_path: Path, visits: Path) -> None:
    path = tmp_path / "new.jali"
    jali("init", path)
    declared = ("--unit", "patient_id", "--max-rows", "3", "--range", "cost=0:10.5", "--keys", "floor=0,1,2,3")
    outcome = jali("protect", path, "visits", visits, *declared, "--epsilon", "2", "--delta", "1e-6")
    assert outcome.code == 0
    assert "patient_id, at most 3 rows each" in outcome.out
    assert "real from 0 to 10.5" in outcome.out
    assert "integer, 4 keys: 0, 1, 2, 3" in outcome.out
    document = jali(
        "protect", path, "visits", visits, *declared, "--epsilon", "2", "--delta", "1e-6", "--json"
    ).document
    assert document["budget"] == {"epsilon": "2", "delta": "1/1000000"}
    assert document["adjacency"] == "add-remove"
    assert {column["name"]: column["kind"] for column in document["columns"]}["seen"] == "date"
    assert (document["unit"], document["via"], document["min_people"], document["version"]) == (
        "patient_id",
        None,
        1,
        1,
    )


def test_protecting_again_says_that_it_is_a_change(jali: Runner, clinic: Path, visits: Path) -> None:
    options = ("--unit", "patient_id", "--max-rows", "4", "--epsilon", "3", "--delta", "1e-6")
    outcome = jali("protect", clinic, "visits", visits, *options)
    assert outcome.out.startswith("Changed visits (version 2). What was spent stays spent.\n")
    assert "Nothing changed." in jali("protect", clinic, "visits", visits, *options).out
    assert jali("protect", clinic, "visits", visits, *options, "--json").document["version"] == 2


def test_protecting_a_csv_file_says_how_it_is_read(jali: Runner, tmp_path: Path) -> None:
    path, source = tmp_path / "new.jali", tmp_path / "visits.csv"
    source.write_text("patient_id,age\n1,20\n2,30\n", encoding="utf-8")
    jali("init", path)
    out = jali("protect", path, "visits", source, "--no-unit", "--range", "age=0:100", "--epsilon", "1").out
    assert out.startswith("Protected visits.\n")
    assert "CSV is read line by line" in out
    assert "Columns are text unless declared." in out


def test_tables_are_listed_as_they_were_declared(jali: Runner, clinic: Path, visits: Path) -> None:
    out = jali("tables", clinic).out
    for fact in (
        "visits\n",
        "patient_id, at most 5 rows each",
        "add-remove",
        "epsilon=3",
        "5,000, a public guess",
        "integer from 0 to 120",
        "text, 3 keys: A, B, C",
        "date",
    ):
        assert fact in out
    (table,) = jali("tables", clinic, "--json").document["tables"]
    columns = {column["name"]: column for column in table["columns"]}
    assert (table["table"], table["max_rows"], table["rows"]) == ("visits", 5, 5000)
    assert columns["age"]["range"] == ["0", "120"]
    assert (columns["ward"]["keys"], columns["ward"]["key_count"]) == (["A", "B", "C"], 3)
    nothing = {"range": None, "range_epsilon": None, "keys": None, "key_count": None}
    assert columns["seen"] == {"name": "seen", "kind": "date"} | nothing


def test_long_lists_of_keys_are_cut_and_counted(jali: Runner, tmp_path: Path, visits: Path) -> None:
    path = tmp_path / "new.jali"
    jali("init", path)
    assert "No table is protected yet." in jali("tables", path).out
    days = ",".join(f"2025-01-{day:02}" for day in range(1, 29))
    assert (
        jali("protect", path, "v", visits, "--no-unit", "--keys", f"seen:date={days}", "--epsilon", "1").code == 0
    )
    assert "date, 28 keys: 2025-01-01, 2025-01-02," in jali("tables", path).out
    assert "2025-01-28" not in jali("tables", path).out
    (table,) = jali("tables", path, "--json").document["tables"]
    assert next(c for c in table["columns"] if c["name"] == "seen")["key_count"] == 28


def test_protect_wants_to_hear_whose_privacy_counts(jali: Runner, clinic: Path, visits: Path) -> None:
    silent = jali("protect", clinic, "more", visits, "--epsilon", "1")
    both = jali("protect", clinic, "more", visits, "--epsilon", "1", "--unit", "patient_id", "--no-unit")
    assert (silent.code, both.code) == (2, 2)
    assert "--no-unit" in silent.err


def test_rows_may_be_people_under_replace_one(jali: Runner, tmp_path: Path, visits: Path) -> None:
    path = tmp_path / "rows.jali"
    jali("init", path)
    options = ("--no-unit", "--epsilon", "1", "--adjacency", "replace-one")
    assert jali("protect", path, "visits", visits, *options).code == 0
    outcome = jali("ask", path, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--json")
    assert isinstance(outcome.document["rows"][0][0], int)


def test_text_keys_that_look_like_integers_need_to_be_told(jali: Runner, tmp_path: Path, visits: Path) -> None:
    path = tmp_path / "codes.jali"
    jali("init", path)
    options = ("--unit", "patient_id", "--max-rows", "3", "--epsilon", "1")
    wrong = jali("protect", path, "visits", visits, *options, "--keys", "code=1,2")
    assert wrong.code == 2
    assert "--keys code:text=" in wrong.err
    assert jali("protect", path, "visits", visits, *options, "--keys", "code:text=1,2").code == 0


def test_grant_names_what_is_left_and_refuses_an_unknown_table(jali: Runner, clinic: Path) -> None:
    assert "epsilon 0.5" in jali("grant", clinic, "bob", "visits", "--epsilon", "0.5").out
    document = jali("grant", clinic, "eve", "visits", "--epsilon", "1/3", "--json").document
    assert document["remaining"]["epsilon"] == "1/3"
    unknown = jali("grant", clinic, "bob", "nothing", "--epsilon", "1")
    assert unknown.code == 2
    assert "Protected tables: visits." in unknown.err


def test_refresh_has_questions_answered_and_paid_anew(jali: Runner, clinic: Path) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits"
    first = jali("ask", clinic, sql, "--epsilon", "0.1", "--json").document
    assert "answered and charged again" in jali("refresh", clinic, "visits").out
    assert jali("refresh", clinic, "visits", "--json").document["refreshed"] is True
    again = jali("ask", clinic, sql, "--epsilon", "0.1", "--json").document
    assert again["cached"] is False
    assert again["receipt"] != first["receipt"]


def test_the_ledger_lists_accounts_and_receipts(jali: Runner, clinic: Path) -> None:
    assert "No question was asked yet." in jali("ledger", clinic).out
    jali("ask", clinic, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--analyst", "ana")
    jali("ask", clinic, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.2")
    text = jali("ledger", clinic).out
    assert "table visits" in text
    assert "grant ana on visits" in text
    assert "released" in text
    document = jali("ledger", clinic, "--json").document
    spent = {account["account"]: account["spent"]["epsilon"] for account in document["accounts"]}
    assert spent == {"table visits": "3/10", "grant ana on visits": "1/10"}
    assert [receipt["analyst"] for receipt in document["receipts"]] == ["ana", "curator"]
    of_ana = jali("ledger", clinic, "--analyst", "ana", "--json").document
    assert len(of_ana["receipts"]) == 1


def test_the_ledger_of_an_analyst_has_their_grants_and_the_tables_of_these(
    jali: Runner, clinic: Path, tmp_path: Path, visits: Path
) -> None:
    other = tmp_path / "other.parquet"
    other.write_bytes(visits.read_bytes())
    assert jali("protect", clinic, "other", other, "--no-unit", "--epsilon", "1").code == 0
    jali("grant", clinic, "bob", "other", "--epsilon", "1")
    named = [a["account"] for a in jali("ledger", clinic, "--analyst", "ana", "--json").document["accounts"]]
    assert named == ["table visits", "grant ana on visits"]
    assert jali("ledger", clinic, "--analyst", "eve").out == "eve has no grant.\n"
    assert jali("ledger", clinic, "--analyst", "eve", "--json").document == {"accounts": [], "receipts": []}


def test_an_empty_ledger_says_so(jali: Runner, tmp_path: Path) -> None:
    jali("init", tmp_path / "new.jali")
    assert "No table is protected yet." in jali("ledger", tmp_path / "new.jali").out


def test_what_is_left_is_never_rounded_up(jali: Runner, clinic: Path) -> None:
    jali("ask", clinic, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1/3", "--analyst", "ana")
    assert "0.666666" in jali("ledger", clinic).out
    assert "0.666667" not in jali("ledger", clinic).out


def test_verify_replays_a_sound_ledger(jali: Runner, clinic: Path) -> None:
    jali("ask", clinic, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1")
    outcome = jali("verify", clinic)
    assert outcome.code == 0
    assert "The ledger is sound." in outcome.out
    document = jali("verify", clinic, "--json").document
    assert document["sound"] is True
    assert document["receipts"] == 1


def test_verify_finds_a_ledger_whose_entries_were_touched(jali: Runner, clinic: Path) -> None:
    jali("ask", clinic, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1")
    with closing(sqlite3.connect(clinic)) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{trigger}"')
        connection.execute("UPDATE entries SET body = replace(body, '1/10', '1/99') WHERE body LIKE '%1/10%'")
        connection.commit()
    outcome = jali("verify", clinic)
    assert outcome.code == 5
    assert jali("verify", clinic, "--json").code == 5


def test_ranges_and_keys_are_read_as_they_are_written(tmp_path: Path) -> None:
    listed = tmp_path / "cities.txt"
    listed.write_text("Paris, TX\nRome\n", encoding="utf-8")
    assert read_range("t=-5:1/3") == ("t", Range(-5, "1/3"))
    assert read_range("t=auto") == ("t", Range(auto=True))
    assert read_range("t=auto:1/4") == ("t", Range(auto=True, epsilon="0.25"))
    assert read_range("t=0..1.5") == ("t", Range(0, "1.5"))
    first, last = datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)
    assert read_range("day=2025-01-01:2025-12-31") == read_range("day=2025-01-01..2025-12-31")
    assert read_range("day=2025-01-01:2025-12-31") == ("day", Range(first, last))
    eight, nine = (datetime.datetime(2025, 1, 1, hour) for hour in (8, 9))  # noqa: DTZ001 - as columns are read
    assert read_range("at=2025-01-01T08:00..2025-01-01 09:00:00") == ("at", Range(eight, nine))
    assert read_keys("ward=A,B") == ("ward", Keys(["A", "B"]))
    assert read_keys("floor=0,1,-1") == ("floor", Keys([0, 1, -1]))
    assert read_keys("code=01,02") == ("code", Keys(["01", "02"]))
    assert read_keys('city="Paris, TX",Rome') == ("city", Keys(["Paris, TX", "Rome"]))
    assert read_keys(f"city=@{listed}") == ("city", Keys(["Paris, TX", "Rome"]))
    assert read_keys("open:boolean=true,false") == ("open", Keys([True, False]))
    assert read_keys("day:date=2025-01-01")[1].kind is Kind.DATE
    assert read_columns([], [], ["seen=date"]) == {"seen": "date"}


@pytest.mark.parametrize(
    ("ranges", "keys", "kinds"),
    [
        (["age"], [], []),
        (["age=5"], [], []),
        (["age=9:5"], [], []),
        (["age=a:b"], [], []),
        (["age=auto:none"], [], []),
        (["day=2025-01-01:5"], [], []),
        (["day=2025-02-30:2025-03-01"], [], []),
        (["day=2025-12-31:2025-01-01"], [], []),
        (["at=2025-01-01T08:00:2025-01-01T09:00"], [], []),
        ([], ["ward="], []),
        ([], ["ward=A,A"], []),
        ([], ["ward=@/no/such/file"], []),
        ([], ["day:date=yesterday"], []),
        ([], [], ["=date"]),
        (["age=0:1"], [], ["age=integer"]),
    ],
)
def test_a_malformed_declaration_is_refused(ranges: list[str], keys: list[str], kinds: list[str]) -> None:
    with pytest.raises(CatalogError):
        read_columns(ranges, keys, kinds)
