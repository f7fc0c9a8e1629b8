"""Cases that are left out are printed, and no move of a file changes which ones they are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.depth import shallow

ROOT = Path(__file__).parents[2]
MANY = """
import pytest
@pytest.mark.parametrize("n", range(40))
def test_many(n): pass
"""


def collect(folder: Path, *options: str) -> str:
    """Return what pytest prints of a folder with one test of forty cases."""
    (folder / "test_many.py").write_text(MANY)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "tests.conftest", "--collect-only", *options, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return done.stdout


def test_cases_that_are_left_out_are_counted_with_the_way_to_run_them(tmp_path: Path) -> None:
    told = collect(tmp_path)
    assert told.count("test_many[") == 4
    assert "depth 1: 36 of 40 cases are left out" in told
    assert "pytest --depth 10" in told


def test_all_cases_run_at_depth_10(tmp_path: Path) -> None:
    told = collect(tmp_path, "--depth", "10")
    assert told.count("test_many[") == 40
    assert "left out" not in told


@dataclass(frozen=True)
class Case:
    """A test as far as `shallow` looks at it."""

    nodeid: str

    def get_closest_marker(self, name: str) -> None:
        return None


def test_the_same_cases_run_after_a_move() -> None:
    found = []
    for file in ("tests/cli/test_many.py", "tests/unit/ledger/test_few.py"):
        cases: list[Any] = [Case(f"{file}::test_many[{number}]") for number in range(40)]
        found.append({case.nodeid.partition("[")[2] for case in shallow(cases)})
    assert found[0] == found[1]
    assert len(found[0]) == 4
