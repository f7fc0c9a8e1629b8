"""The tests mirror the tree, and tests/README.md says where a test goes."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "jali"
README = (TESTS / "README.md").read_text(encoding="utf-8")


def folders(directory: Path) -> set[str]:
    """Return the folders that hold Python."""
    return {path.name for path in directory.iterdir() if path.is_dir() and any(path.rglob("*.py"))}


def test_every_package_has_its_unit_tests_and_no_folder_is_left_over() -> None:
    assert folders(TESTS / "unit") == folders(SOURCE)
    for name in folders(TESTS / "unit"):
        assert any((TESTS / "unit" / name).rglob("test_*.py")), name


def test_the_page_has_a_row_for_every_folder() -> None:
    rows = "\n".join(line.split("|")[1] for line in README.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`(\w+)(?:/<package>)?`", rows)) == folders(TESTS)
