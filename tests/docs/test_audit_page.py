"""docs/audit.md is true and complete: its blocks run, and every public name and every pattern is on it."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

from jali.lab import audit
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.neighbours import build_pairs
from jali.lab.audit.runner import STAGES

PAGE = (DOCS / "audit.md").read_text(encoding="utf-8")
PATTERNS = re.findall(r"^\| (`[^|]*(?:\\\|[^|]*)*) \|", PAGE.split("### Patterns of data")[1], re.MULTILINE)


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("audit.md")) >= 3
    assert failures("audit.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", dir(audit))
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE)
    assert getattr(audit, name) is not None


def test_stages_are_listed_in_their_order() -> None:
    listed = re.findall(r"^\| (exact|properties|shape|reachability|pairwise|one run) \|", PAGE, re.MULTILINE)
    assert listed == [tester.name for tester in STAGES]


@pytest.mark.parametrize("pattern", [one for cell in PATTERNS for one in re.findall(r"`([^`]+)`", cell)])
def test_every_pattern_of_the_page_makes_neighbours(pattern: str) -> None:
    read = Pattern.read(pattern.replace("\\|", "|"))
    assert build_pairs(read, "replace-one")


@pytest.mark.parametrize("shown", re.findall(r"\]\((pictures/[\w.]+)\)", PAGE))
def test_every_picture_is_there(shown: str) -> None:
    assert (DOCS / shown).exists()


def test_nothing_is_called_private() -> None:
    assert not re.search(r"\bis private\b|\bare private\b", PAGE)
