"""A shop on the command line: orders of customers, their lines reached through orders, and public parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.parquet import write_parquet

Runner = Callable[..., Any]
ORDERS = """
SELECT i AS o_orderkey, i % 300 AS o_custkey, DATE '2025-01-01' + (i % 365)::INTEGER AS day FROM range(1500) t(i)
"""
LINES = "SELECT i % 1500 AS l_orderkey, i % 50 * 1.5 AS price, 'p' || (i % 4) AS part FROM range(6000) t(i)"
LOSS = ("--epsilon", "1")
BUDGET = ("--epsilon", "20", "--delta", "1e-3")
VIA = ("--unit", "o_custkey", "--via", "orders", "--on", "l_orderkey = o_orderkey")


@pytest.fixture
def shop(jali: Runner, tmp_path: Path) -> Path:
    path = tmp_path / "shop.jali"
    write_parquet(ORDERS, tmp_path / "orders.parquet")
    write_parquet(LINES, tmp_path / "lines.parquet")
    (tmp_path / "parts.csv").write_text("p,colour\np0,red\np1,blue\np2,red\np3,blue\n", encoding="utf-8")
    assert jali("init", path).code == 0
    orders = ("--unit", "o_custkey", "--max-rows", "5", "--range", "day=2025-01-01:2025-12-31")
    assert jali("protect", path, "orders", tmp_path / "orders.parquet", *orders, *BUDGET).code == 0
    lines = (*VIA, "--max-rows", "20", "--range", "price=0:100", "--min-people", "2")
    assert jali("protect", path, "lines", tmp_path / "lines.parquet", *lines, *BUDGET).code == 0
    assert jali("publish", path, "parts", tmp_path / "parts.csv").code == 0
    return path


def test_tables_tell_the_way_to_the_unit_date_ranges_small_groups_and_public_tables(
    jali: Runner, shop: Path
) -> None:
    out = jali("tables", shop).out
    assert "o_custkey, through orders on l_orderkey = o_orderkey, at most 20 rows each" in out
    assert "date from 2025-01-01 to 2025-12-31" in out
    assert "shown from 2 people on" in out
    assert "text, 2 keys: blue, red" in out
    document = jali("tables", shop, "--json").document
    orders, lines = document["tables"]
    assert (orders["via"], orders["min_people"]) == (None, 1)
    assert lines["via"] == {"table": "orders", "here": "l_orderkey", "there": "o_orderkey"}
    assert (lines["unit"], lines["min_people"]) == ("o_custkey", 2)
    assert next(c for c in orders["columns"] if c["name"] == "day")["range"] == ["2025-01-01", "2025-12-31"]
    (parts,) = document["public"]
    assert [(c["name"], c["keys"]) for c in parts["columns"]] == [
        ("p", ["p0", "p1", "p2", "p3"]),
        ("colour", ["blue", "red"]),
    ]


def test_publishing_again_and_publishing_a_secret_say_what_happens(
    jali: Runner, shop: Path, tmp_path: Path
) -> None:
    parts = tmp_path / "parts.csv"
    parts.write_text("p,colour\np0,green\n", encoding="utf-8")
    assert jali("publish", shop, "parts", parts).out.startswith("Published again parts (version 2).")
    assert jali("publish", shop, "parts", parts, "--json").document["version"] == 2
    secret = jali("publish", shop, "open", tmp_path / "orders.parquet")
    assert secret.code == 2
    assert "A protected source cannot be public." in secret.err
    assert jali("protect", shop, "parts", parts, "--no-unit", "--epsilon", "1").code == 2


@pytest.mark.parametrize("missing", ["--unit", "--via", "--on"])
def test_a_unit_through_another_table_needs_three_words(
    jali: Runner, shop: Path, tmp_path: Path, missing: str
) -> None:
    place = VIA.index(missing)
    given = VIA[:place] + VIA[place + 2 :]
    outcome = jali("protect", shop, "more", tmp_path / "lines.parquet", *given, "--max-rows", "3", *BUDGET)
    assert outcome.code == 2
    assert "--on" in outcome.err or "--unit" in outcome.err


def test_a_question_over_two_tables_says_what_each_paid_and_has_left(jali: Runner, shop: Path) -> None:
    sql = "SELECT COUNT(*) AS n FROM lines JOIN orders ON l_orderkey = o_orderkey"
    asked = ("ask", shop, sql, "--epsilon", "1", "--delta", "1e-6")
    lines = jali(*asked).out.splitlines()
    assert [line.split()[:3] for line in lines[-3:-1]] == [
        ["lines", "cost", "epsilon"],
        ["orders", "cost", "epsilon"],
    ]
    assert lines[-1].startswith("receipt ")
    assert "already released: nothing was charged again" in jali(*asked).out
    document = jali(*asked, "--json").document
    assert set(document["remaining"]) == set(document["costs"]) == {"lines", "orders"}


def test_groups_that_nobody_declared_are_chosen_and_explained(jali: Runner, shop: Path) -> None:
    sql = "SELECT part, COUNT(*) AS n FROM lines GROUP BY part"
    refused = jali("ask", shop, sql, *LOSS)
    assert refused.code == 4
    assert "--delta 1e-9" in refused.err
    bounds = ("--delta", "1e-4", "--max-groups", "4", "--min-people", "7", "--max-rows", "10")
    outcome = jali("ask", shop, sql, "--epsilon", "4", *bounds)
    assert outcome.code == 0
    told = " ".join(outcome.out.split())
    assert "Groups were chosen privately: a group of" in told
    assert "one of fewer than 7 never" in told
    document = jali("ask", shop, sql, "--epsilon", "4", *bounds, "--json").document
    assert document["cached"] is True
    assert document["group_sizes"]["least"] == 7
    assert document["group_sizes"]["likely"] >= document["group_sizes"]["even"] >= 7


def test_lists_mappings_dates_and_totals_are_shown_and_written(jali: Runner, shop: Path) -> None:
    sql = (
        "SELECT MONTH(day) AS month, COUNT(*) AS n, MEDIAN(day) AS middle, HISTOGRAM(QUARTER(day)) AS h "
        "FROM orders GROUP BY ROLLUP (MONTH(day))"
    )
    outcome = jali("ask", shop, sql, "--epsilon", "8")
    assert outcome.code == 0
    assert "(all)" in outcome.out
    assert "value" in outcome.out.splitlines()[0]
    document = jali("ask", shop, sql, "--epsilon", "8", "--json").document
    assert document["totals"][-1] == ["month"]
    assert all(names == [] for names in document["totals"][:-1])
    assert document["rows"][-1][0] is None
    low, high = document["intervals"][-1][2]
    assert "2025-01-01" <= low <= document["rows"][-1][2] <= high <= "2025-12-31"
    assert [label for label, _ in document["rows"][-1][3]] == [label for label, _ in document["intervals"][-1][3]]
    json.dumps(document, allow_nan=False)


def test_a_range_that_is_not_known_is_bought_once_and_listed(jali: Runner, shop: Path, tmp_path: Path) -> None:
    write_parquet("SELECT i % 300 AS who, i % 100 AS points FROM range(3000) t(i)", tmp_path / "scores.parquet")
    declared = ("--unit", "who", "--max-rows", "10", "--range", "points=auto:2", "--epsilon", "5")
    protect = ("protect", shop, "scores", tmp_path / "scores.parquet", *declared)
    outcome = jali(*protect)
    assert outcome.code == 0
    assert "estimated with epsilon 2" in outcome.out
    column = next(c for c in jali(*protect, "--json").document["columns"] if c["name"] == "points")
    assert (column["range_epsilon"], len(column["range"])) == ("2", 2)
    spent = {a["account"]: a["spent"]["epsilon"] for a in jali("ledger", shop, "--json").document["accounts"]}
    assert spent["table scores"] == "2"


def test_the_loss_may_stand_in_the_question(jali: Runner, shop: Path) -> None:
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.25) COUNT(*) AS n FROM orders"
    assert "cost epsilon 0.25" in jali("ask", shop, sql).out
    differently = jali("ask", shop, sql, "--epsilon", "0.5")
    assert differently.code == 2
    assert "Give only one of them" in differently.err


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--max-rows", "0", "--max-rows must be a whole number"),
        ("--max-groups", "0", "--max-groups must be a whole number"),
        ("--min-people", "-1", "--min-people must be a whole number"),
        ("--delta", "2", "Give --delta 1e-9"),
        ("--delta", "x", "not a finite number"),
        ("--max-rows", "many", "Invalid value for '--max-rows'"),
    ],
)
def test_terms_that_are_none_are_refused_in_the_words_of_the_command_line(
    jali: Runner, shop: Path, option: str, value: str, said: str
) -> None:
    outcome = jali("ask", shop, "SELECT COUNT(*) AS n FROM orders", *LOSS, option, value)
    assert outcome.code == 2
    assert said in outcome.err
    assert jali("ledger", shop, "--json").document["receipts"] == []
