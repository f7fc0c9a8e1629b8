from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from jali.cli.app import VERBS
from jali.cli.errors import EXIT_CODES

Runner = Callable[..., Any]
NAMES = sorted(verb.__name__ for _, verb in VERBS)
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_program_alone_lists_its_verbs(jali: Runner) -> None:
    outcome = jali()
    assert outcome.code == 0
    assert all(name in outcome.out for name in NAMES)


def test_the_version_is_that_of_the_package(jali: Runner) -> None:
    outcome = jali("--version")
    assert (outcome.code, outcome.out) == (0, f"jali {version('jali')}\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_has_help_with_an_example(jali: Runner, name: str) -> None:
    outcome = jali(name, "--help")
    assert outcome.code == 0
    assert f"Example: jali {name}" in outcome.out


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_and_every_option_is_documented(jali: Runner, name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    section = next(part for part in parts if part.startswith(f"jali {name}"))
    options = set(re.findall(r"--[a-z-]+", jali(name, "--help").out)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z-]+", section))


def test_every_exit_code_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for kind, code in EXIT_CODES:
        assert re.search(rf"^\| {code} \|.*{kind.__name__}", page, flags=re.MULTILINE), kind
