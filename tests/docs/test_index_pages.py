"""The indexes of proofs and decisions name every page of their folder once, by its title."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("folder", ["proofs", "decisions"])
def test_an_index_lists_its_folder(folder: str) -> None:
    pages = [page for page in (DOCS / folder).glob("*.md") if page.name != "README.md"]
    titles = {page.name: page.read_text().splitlines()[0] for page in pages}
    index = " ".join((DOCS / folder / "README.md").read_text().split())
    listed = re.findall(r"\[([^]]+)\]\(([^)/]+\.md)\)", index)
    assert sorted(name for _, name in listed) == sorted(titles)
    for title, name in listed:
        assert re.sub(r"^# (\d+\. )?", "", titles[name]) == title


@pytest.mark.parametrize("page", sorted(page.name for page in DOCS.glob("*.md")))
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text()
    for target, anchor in re.findall(r"\]\(([\w./-]+)?(#[\w-]+)?\)", text):
        found = DOCS / (target or page)
        assert found.exists(), f"{page} leads to {target}"
        if anchor and found.suffix == ".md":
            assert anchor[1:] in _anchors(found.read_text()), f"{page} leads to {target}{anchor}"


def _anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_score_of_the_nist_page_adds_up() -> None:
    text = (DOCS / "nist_800_226.md").read_text()
    scores = re.findall(r"^\| (?!\*\*|Hazard|---)[^|]+\| ([^|]+?) \|", text, re.MULTILINE)
    counted = [len(scores), *(scores.count(score) for score in ("Met", "Partly", "Curator", "Out of scope"))]
    assert [int(number) for number in re.findall(r"\d+", text.splitlines()[-1])] == counted
