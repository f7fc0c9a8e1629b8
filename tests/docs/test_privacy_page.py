"""docs/privacy.md is true and complete: its blocks run, and every public name of `jali.privacy` is on it."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

from jali import plots, privacy

PAGE = (DOCS / "privacy.md").read_text()


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("privacy.md")) >= 6
    assert failures("privacy.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", privacy.__all__)
def test_every_name_of_the_calculus_is_on_the_page(name: str) -> None:
    assert re.search(rf"`{name}\b", PAGE)
    assert getattr(privacy, name) is not None


def test_what_the_calculus_offers_is_what_it_lists() -> None:
    assert set(dir(privacy)) == set(privacy.__all__)
    with pytest.raises(AttributeError):
        privacy.nothing  # type: ignore[attr-defined]  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", plots.__all__)
def test_every_picture_is_on_its_page(name: str) -> None:
    assert name in (DOCS / "pictures.md").read_text()
