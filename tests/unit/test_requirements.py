"""What is installed is pinned, by version and by hash."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_pinned_package_has_hashes_and_no_other_has() -> None:
    spec = importlib.util.spec_from_file_location("write_hashes", ROOT / "requirements" / "write_hashes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (ROOT / "requirements" / "hashes.txt").read_text()
    found = dict(re.findall(r"^(\S+)==(\S+) \\$", text, re.MULTILINE))
    assert found == module.pinned()
    each = re.split(r"^\S+==\S+ \\$", text, flags=re.MULTILINE)[1:]
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", hashes) for hashes in each)


def test_nothing_says_where_packages_come_from() -> None:
    files = [*(ROOT / "requirements").iterdir(), ROOT / "pyproject.toml", ROOT / "Makefile"]
    assert not any(
        re.search(r"https?://|--index|--find-links", file.read_text()) for file in files if file.is_file()
    )
