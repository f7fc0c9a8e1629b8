"""docs/glossary.md has every term of the word list and every public class of the library, and is linked."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from jali import mechanisms, privacy

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text()
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| (?!Term|-)", line)]
# What is said of each idea, after section 4 of the design.
TERMS = (
    "privacy unit",
    "contribution bound",
    "clamping bounds",
    "group keys",
    "partition selection",
    "threshold",
    "confidence interval",
    "margin of error",
    "clamped value",
    "privacy loss",
    "privacy budget",
    "spent",
    "remaining",
    "mechanism",
    "noise scale",
    "sensitivity",
    "subpopulation",
    "release",
    "receipt",
    "ledger",
    "reserve",
    "broken mechanism",
    "app state",
    "middleware",
    "authentication",
    "job queue",
    "response schema",
    "CSRF token",
)
CLASSES = sorted(
    {
        name
        for package in (privacy, mechanisms)
        for name in package.__all__
        if inspect.isclass(getattr(package, name))
    }
)


@pytest.mark.parametrize("term", TERMS)
def test_every_term_has_an_entry(term: str) -> None:
    assert [row for row in ROWS if f"**{term}**" in row.split("|")[1]]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_class_of_the_library_has_an_entry(name: str) -> None:
    assert [row for row in ROWS if re.search(rf"`{name}[`.]", row)]


def test_every_entry_has_a_definition_and_all_columns() -> None:
    for row in ROWS:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) in (2, 6), row
        assert all(cells), row
        assert len(cells[1]) > 10, row


def test_the_glossary_is_linked_from_the_pages_that_use_it() -> None:
    assert "(docs/glossary.md)" in (ROOT / "README.md").read_text()
    for page in ("privacy.md", "mechanisms.md", "questions.md", "python.md"):
        assert "(glossary.md)" in (ROOT / "docs" / page).read_text(), page
