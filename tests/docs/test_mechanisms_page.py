"""docs/mechanisms.md is true: every block runs and prints what the page shows, and no public name is left out."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

from jali import mechanisms

PAGE = (DOCS / "mechanisms.md").read_text()


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("mechanisms.md")) >= 14
    assert failures("mechanisms.md") == 0, capsys.readouterr().out


# A mechanism has a page of its own, its proof; the law suite asks for that one.
OTHERS = [name for name in mechanisms.__all__ if getattr(mechanisms, name) not in mechanisms.MECHANISMS]


@pytest.mark.parametrize("name", OTHERS)
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"`{name}\b", PAGE)
    assert getattr(mechanisms, name) is not None


@pytest.mark.parametrize("page", sorted(set(re.findall(r"proofs/(\w+)\.md", PAGE))))
def test_the_proofs_it_leads_to_exist(page: str) -> None:
    assert (DOCS / "proofs" / f"{page}.md").is_file()
