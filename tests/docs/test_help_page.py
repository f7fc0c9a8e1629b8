"""The examples of docs/help.md run as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.sessions import blocks, failures


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(blocks("help.md")) == 4
    assert failures("help.md") == 0
