"""docs/errors.md lists every code, and its example says what is raised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.errors.page import PAGE, page

import jali
from jali.errors.templates import load_texts

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_is_written_from_the_catalogue() -> None:
    """`python -m tests.errors.page` writes it anew."""
    assert page() == TEXT


def test_every_code_is_listed_once() -> None:
    assert sorted(re.findall(r"^\| `([a-z0-9-]+)` \|", TEXT, re.MULTILINE)) == sorted(load_texts())


def test_the_example_prints_what_it_says(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame({"patient": [1, 2], "age": [30, 40]})
    with jali.connect(tmp_path / "clinic.jali") as db:
        db.protect("visits", frame, unit="patient", max_rows=1, budget=jali.Budget(1))
        with pytest.raises(jali.JaliError) as caught:
            db.ask("SELECT SUM(age) FROM visits", epsilon=0.1)
    assert f"# {caught.value.code} {dict(caught.value.fields)}" in TEXT
