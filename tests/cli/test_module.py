"""`python -m jali` is `jali`, with its exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_wrong_use_exits_with_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jali", "tables", str(tmp_path / "nothing.jali")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "There is no database" in done.stderr
