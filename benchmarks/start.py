"""Cold starts: CPU seconds of a whole command in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.engine import make_rides
from benchmarks.measure import Row, at_most

_JALI = Path(sys.executable).parent / "jali"


def rows() -> list[Row]:
    """Measure `jali explain` and `import jali` from a cold shell."""
    with tempfile.TemporaryDirectory() as directory:
        database = _prepared(Path(directory))
        explain = [
            str(_JALI),
            "explain",
            database,
            "SELECT city, COUNT(*) FROM rides GROUP BY city",
            "--epsilon",
            "0.1",
        ]
        return [
            at_most("jali explain from a cold shell, CPU seconds", _cpu(explain), 0.8),
            at_most("import jali, CPU seconds", _cpu([sys.executable, "-c", "import jali"]), 0.3),
        ]


def _prepared(directory: Path) -> str:
    source, database = make_rides(directory / "rides.parquet", 1000), str(directory / "rides.jali")
    subprocess.run([_JALI, "init", database], check=True, stdout=subprocess.DEVNULL)
    options = ["--unit", "user_id", "--max-rows", "5", "--keys", "city=1,2,3", "--epsilon", "1"]
    protect = [str(_JALI), "protect", database, "rides", str(source), *options]
    subprocess.run(protect, check=True, stdout=subprocess.DEVNULL)
    return database


def _cpu(command: list[str], rounds: int = 7) -> float:
    """Return the least CPU seconds of a command over several runs."""
    best = float("inf")
    for _ in range(rounds):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, used)
    return best
