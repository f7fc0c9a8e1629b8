"""The commands of the README run one after the other, on the database that its Python examples leave."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.parquet import write_parquet

from jali.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text()
VISITS = "SELECT i % 9 AS patient_id, 20 + i % 60 AS age, 'A' AS ward, 'flu' AS diagnosis FROM range(99) t(i)"


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language, in order; commands have none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def test_the_commands_of_the_readme_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_parquet(VISITS, Path("visits.parquet"))
    write_parquet("SELECT i AS id, 'f' AS sex FROM range(9) t(i)", Path("patients.parquet"))
    Path("orders.csv").write_text("customer,country,price\n1,AT,20.5\n2,DE,7\n")
    space: dict[str, object] = {}
    for block in (text for text in blocks("python") if not text.startswith(">>>")):
        exec(compile(block, "README.md", "exec"), space)
    text = "\n".join(blocks("")).replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.startswith("jali ")]
    # A server runs until it is stopped: tests/cli/test_serve.py starts it.
    commands = [line for line in lines if not line.startswith("jali serve")]
    assert len(commands) >= 7
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    said = capsys.readouterr()
    assert "sales" in said.out
    assert said.err.count("\n") == 1
    assert "It is shown only once" in said.err
