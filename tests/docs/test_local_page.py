"""docs/local.md is true and complete: its blocks run, and every public name of `jali.local` is on it."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

from jali import local

PAGE = (DOCS / "local.md").read_text(encoding="utf-8")


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("local.md")) >= 7
    assert failures("local.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", dir(local))
def test_every_name_of_the_local_model_is_on_the_page(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE)
    assert getattr(local, name) is not None


def test_every_option_of_the_survey_is_on_the_page() -> None:
    import inspect

    from jali.cli.verbs.survey import METHODS, survey

    options = {f"--{name.replace('as_', '')}" for name in inspect.signature(survey).parameters}
    assert all(f"`{option}" in PAGE for option in options)
    assert all(f"`{method}`" in PAGE for method in METHODS)
