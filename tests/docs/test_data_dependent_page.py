"""docs/data_dependent.md is true: every block runs and prints what the page shows, and its proofs exist."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

PAGE = (DOCS / "data_dependent.md").read_text()


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("data_dependent.md")) >= 10
    assert failures("data_dependent.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", sorted(set(re.findall(r"proofs/(\w+)\.md", PAGE))))
def test_the_proofs_it_leads_to_exist(page: str) -> None:
    assert (DOCS / "proofs" / f"{page}.md").is_file()
