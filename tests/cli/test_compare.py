"""`jali compare`: tables for people, JSON for programs, files, pictures, and refusals that name the remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

Runner = Callable[..., Any]
FEW = ("--people", "21", "--draws", "5", "--shape", "normal,constant")


def test_a_comparison_shows_every_mechanism_on_every_shape(jali: Runner) -> None:
    outcome = jali("compare", "median", *FEW)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("median, replace-one: 5 releases each. Measured on the data: not private.\n")
    heads = [line.split() for line in outcome.out.splitlines() if line.startswith(("mean error", "95 % error"))]
    assert [head[-3:] for head in heads] == [["normal", "constant", "spends"]] * 2
    assert outcome.out.count("smooth, PolyPlace") == 2


def test_the_document_has_the_numbers(jali: Runner) -> None:
    document = jali("compare", "mean", *FEW, "--epsilon", "2", "--adjacency", "add-remove", "--json").document
    assert (document["statistic"], document["epsilon"], document["adjacency"]) == ("mean", 2.0, "add-remove")
    row = document["results"][0]
    assert set(row) == {"shape", "mechanism", "loss", "mean", "median", "worst", "declined", "spread"}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_a_file_is_compared(jali: Runner, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    _write(path)
    given = ("--data", str(path), "--low", "0", "--high", "120", "--step", "1", "--draws", "3")
    assert "given" in jali("compare", "median", *given, "--column", "age").out
    slope = jali("compare", "slope", *given[:-4], "--draws", "3", "--column", "age, visits", "--json")
    assert {row["shape"] for row in slope.document["results"]} == {"given"}


def _write(path: Path) -> None:
    rows = "SELECT * FROM (VALUES (30, 1.5), (41, 2), (52, NULL), (67, 4)) AS people(age, visits)"
    duckdb.execute(f"COPY ({rows}) TO '{path}'")


def test_a_picture_is_drawn_into_a_file(jali: Runner, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert jali("compare", "median", *FEW, "--plot", str(tmp_path / "errors.png")).code == 0
    assert (tmp_path / "errors.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("harmonic",), "There is no comparison for 'harmonic'. Choose one of median,"),
        (("median", "--shape", "square"), "There is no shape 'square'. The shapes are normal,"),
        (("median", "--data", "nowhere.csv"), "--column must name the column of --data."),
        (("median", "--data", "nowhere.csv", "--column", "age"), "nowhere.csv has no numeric column age"),
        (("median", "--epsilon", "none"), "epsilon"),
        (("quantile", "--at", "3"), "at must be between 0 and 1"),
        (("median", "--draws", "0"), "--draws"),
        (("median", "--people", "5", "--draws", "2", "--plot", "nowhere/at/all.png"), "cannot be written"),
    ],
)
def test_wrong_use_is_refused_with_a_remedy(jali: Runner, arguments: tuple[str, ...], told: str) -> None:
    outcome = jali("compare", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
