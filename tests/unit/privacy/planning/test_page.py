"""docs/planning.md is true: its examples run, and its tables are what `jali plan` prints."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from jali.cli import main
from jali.privacy.planning import calibrate

PAGE = (Path(__file__).parents[4] / "docs" / "planning.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CONSOLE = [text.split("\n", 1) for kind, text in BLOCKS if kind == "console"]
PYTHON = [text for kind, text in BLOCKS if kind == "python"]


def test_the_python_examples_run() -> None:
    assert len(PYTHON) >= 4
    parsed = doctest.DocTestParser().get_doctest("\n".join(PYTHON), {}, "planning", "planning.md", 0)
    assert doctest.DocTestRunner().run(parsed).failed == 0


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_a_table_is_what_a_reader_sees(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "jali")
    assert main(arguments) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    "name",
    [name for name in vars(calibrate) if getattr(vars(calibrate)[name], "__module__", "") == calibrate.__name__],
)
def test_every_calibration_is_on_the_page(name: str) -> None:
    assert name.startswith("_") or f"`{name}(" in PAGE
