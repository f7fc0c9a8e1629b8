"""docs/architecture.md lists every package and module at the top of the tree, and the layers as checked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "jali"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
TREE = PAGE[PAGE.index("## The tree") : PAGE.index("## The layers")]
PATH = PAGE[PAGE.index("## The path of one question") : PAGE.index("## Where to look")]


def test_every_package_and_module_has_a_line_in_the_tree() -> None:
    first_cells = re.findall(r"^\| ([^|]+) \|", TREE, re.MULTILINE)
    listed = {name for cell in first_cells for name in re.findall(r"`(\w+(?:/|\.py))`", cell)}
    packages = {f"{path.name}/" for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.name for path in SOURCE.glob("*.py") if not path.name.startswith("__")}
    assert listed == packages | modules


def test_the_layers_are_those_that_import_linter_holds() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert shown.splitlines() == contracts[0]["layers"]


def test_the_path_names_its_files_in_the_order_of_the_calls() -> None:
    steps = re.findall(r"^\d+\. \*\*(\w+)\.\*\*", PATH, re.MULTILINE)
    assert steps == [
        "Call",
        "Parse",
        "Resolve",
        "Plan",
        "Recall",
        "Reserve",
        "Run",
        "Measure",
        "Release",
        "Postprocess",
    ]
    files = re.findall(r"`([a-z_/]+\.py)`", PATH)
    assert len(files) > 15
    assert [name for name in files if not (SOURCE / name).is_file()] == []
