"""Accounting side by side with dp_accounting: the same batches, its default settings, both from above."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, at_most, reported

WORK = Path(__file__).resolve().parent / "peer_work"
ROUNDS = 5
PEER = "dp_accounting 0.6"


def _case(*parts: dict[str, Any], delta: float = 1e-6) -> dict[str, Any]:
    return {"parts": parts, "delta": delta}


def _part(kind: str, noise: float, count: int, rate: float = 1) -> dict[str, Any]:
    return {"kind": kind, "noise": noise, "count": count, "rate": rate}


CASES = {
    "1,000 Gaussian": _case(_part("gaussian", 30, 1_000)),
    "100,000 Gaussian": _case(_part("gaussian", 300, 100_000)),
    "100 Laplace": _case(_part("laplace", 10, 100)),
    "1,000 Laplace": _case(_part("laplace", 30, 1_000)),
    "100,000 Laplace": _case(_part("laplace", 300, 100_000)),
    "500 Laplace and 500 Gaussian": _case(_part("laplace", 30, 500), _part("gaussian", 30, 500)),
    "50,000 Laplace and 50,000 Gaussian": _case(_part("laplace", 300, 50_000), _part("gaussian", 300, 50_000)),
    "10,000 subsampled Gaussian, q=.01": _case(_part("gaussian", 1, 10_000, 0.01)),
}


def rows(peer: Path) -> list[Row]:
    """Return, for each case, epsilon and CPU seconds as parts of the peer's."""
    ours: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    for _ in range(ROUNDS):
        _keep_best(ours, _run(Path(sys.executable), "jali_accounting_work.py"))
        _keep_best(theirs, _run(peer, "dp_accounting_work.py"))
    return [row for name in CASES for row in _compared(name, ours[name], theirs[name])]


def _compared(name: str, ours: tuple[float, float], theirs: tuple[float, float]) -> list[Row]:
    return [
        at_most(f"{name}: epsilon / {PEER}", ours[0] / theirs[0], 1, digits=9),
        at_most(f"{name}: CPU seconds / {PEER}", ours[1] / theirs[1], 1),
        reported("  epsilon: Jali", ours[0], digits=9),
        reported(f"  epsilon: {PEER}", theirs[0], digits=9),
        reported("  milliseconds: Jali", 1e3 * ours[1]),
        reported(f"  milliseconds: {PEER}", 1e3 * theirs[1]),
    ]


def _run(python: Path, script: str) -> dict[str, Any]:
    done = subprocess.run([python, WORK / script, json.dumps(CASES)], check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _keep_best(best: dict[str, Any], now: dict[str, Any]) -> None:
    for name, (epsilon, seconds) in now.items():
        best[name] = epsilon, min(seconds, best.get(name, (0, seconds))[1])
