"""docs/streams.md is true and complete: its blocks run, and every public name of `jali.streams` is on it."""

from __future__ import annotations

import inspect
import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

import jali
from jali import streams

PAGE = (DOCS / "streams.md").read_text(encoding="utf-8")


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("streams.md")) >= 7
    assert failures("streams.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", dir(streams))
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*\b{name}\b", PAGE)
    assert getattr(streams, name) is not None


@pytest.mark.parametrize("name", sorted(streams.counters()))
def test_every_counter_is_in_the_table_under_its_name(name: str) -> None:
    kind = streams.counters()[name].__name__
    assert re.search(rf"^\| `{kind}` \| `{name}` \|", PAGE, re.MULTILINE)


def test_every_parameter_of_a_stream_is_on_the_page() -> None:
    taken = set(inspect.signature(jali.Database.stream).parameters) - {"self", "name"}
    assert {name for name in taken if not re.search(rf"`{name}\b", PAGE)} == set()
