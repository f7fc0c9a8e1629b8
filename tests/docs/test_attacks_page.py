"""docs/attacks.md is true and complete: its blocks run, and every public name of `jali.lab.attacks` is on it."""

from __future__ import annotations

import re

import pytest
from tests.docs.sessions import DOCS, blocks, failures

from jali.lab import attacks
from jali.lab.attacks.noise_models import KINDS

PAGE = (DOCS / "attacks.md").read_text(encoding="utf-8")


def test_every_block_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("attacks.md")) >= 10
    assert failures("attacks.md") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", dir(attacks))
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*\b{name}\b", PAGE)
    assert getattr(attacks, name) is not None


@pytest.mark.parametrize("name", sorted(attacks.attacks()))
def test_every_attack_is_in_the_table_under_its_name(name: str) -> None:
    kind = attacks.attacks()[name].__name__
    assert re.search(rf"^\| `{name}` \| `{kind}` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_noise_is_on_the_page(kind: str) -> None:
    assert re.search(rf"^\| .*`{kind}[:`]", PAGE, re.MULTILINE)


@pytest.mark.parametrize("shown", re.findall(r"\]\((pictures/[\w.]+)\)", PAGE))
def test_every_picture_is_there(shown: str) -> None:
    assert (DOCS / shown).exists()
