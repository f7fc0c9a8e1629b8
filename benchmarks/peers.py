"""`make bench-peers`: the same work on peers, each in a venv of its own under .peers/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
from benchmarks import accounting, medians
from benchmarks.measure import Row, at_least, reported

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".peers"
DP_ACCOUNTING = ["dp-accounting==0.6.0", "numpy==2.4.6", "scipy==1.17.1"]
DIFFPRIVLIB = ["diffprivlib==0.6.6", "numpy==2.4.6", "scikit-learn==1.6.1"]
OPENDP = ["opendp[polars]==0.16.0", "numpy==2.4.6", "pyarrow==26.0.1"]
ROUNDS = 3


def main() -> int:
    """Print Jali's figures beside each peer's; fail if a target was missed."""
    return _print(
        [
            *accounting.rows(installed("dp_accounting", DP_ACCOUNTING)),
            *_opendp_rows(),
            *_mechanism_rows(),
            *_median_rows(),
        ]
    )


def _opendp_rows() -> list[Row]:
    python = installed("opendp", OPENDP)
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "rides.parquet"
        ours = theirs = None
        for _ in range(ROUNDS):
            # Interleaved: each process does the same work, one after the other, several times.
            ours = _best(ours, _run(Path(sys.executable), "jali", source))
            theirs = _best(theirs, _run(python, "opendp", source))
    assert ours is not None
    assert theirs is not None
    return [
        at_least("discrete Laplace, scale 10: rate / OpenDP 0.16", theirs["laplace"] / ours["laplace"], 100),
        at_least("a warm count over 200,000 rows: rate / OpenDP 0.16", theirs["count"] / ours["count"], 50),
        reported("  Jali, microseconds per Laplace draw", 1e6 * ours["laplace"]),
        reported("  OpenDP, microseconds per Laplace draw", 1e6 * theirs["laplace"]),
        reported("  Jali, milliseconds per warm count", 1e3 * ours["count"]),
        reported("  OpenDP, milliseconds per warm count", 1e3 * theirs["count"]),
    ]


def _mechanism_rows() -> list[Row]:
    """Select among 10^5 candidates, and add noise to 10^6 real numbers, on the same inputs."""
    pythons = {
        "jali": Path(sys.executable),
        "OpenDP 0.16": installed("opendp", OPENDP),
        "diffprivlib 0.6.6": installed("diffprivlib", DIFFPRIVLIB),
    }
    best: dict[str, dict[str, float] | None] = dict.fromkeys(pythons)
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "inputs.npz"
        generator = np.random.default_rng(1)
        np.savez(source, scores=generator.integers(0, 1000, 10**5), values=generator.normal(0, 100, 10**6))
        for _ in range(ROUNDS):
            for peer, python in pythons.items():
                work = f"{peer.split()[0].lower()}_mechanisms"
                best[peer] = _best(best[peer], _run(python, work, source))
    seconds = {peer: figures for peer, figures in best.items() if figures}
    return [row for peer in list(seconds)[1:] for row in _against(peer, seconds["jali"], seconds[peer])]


def _median_rows() -> list[Row]:
    pythons = {
        "diffprivlib": installed("diffprivlib", DIFFPRIVLIB),
        "opendp": installed("opendp", OPENDP),
        "tumult": installed("tumult", medians.TUMULT),
    }
    return medians.rows(pythons, _run, Path(sys.executable))


def _against(peer: str, ours: dict[str, float], theirs: dict[str, float]) -> list[Row]:
    titles = {"selection": "selection among 10^5", "vector": "Laplace noise on 10^6 real numbers"}
    return [
        row
        for key, title in titles.items()
        for row in (
            at_least(f"{title}: rate / {peer}", theirs[key] / ours[key], 10),
            reported(f"  milliseconds: Jali {1e3 * ours[key]:.3g}, {peer}", 1e3 * theirs[key]),
        )
    ]


def installed(name: str, packages: list[str]) -> Path:
    """Return the interpreter of a peer's venv, made on first use."""
    home = PEERS / name
    python = home / "bin" / "python"
    if not (home / ".ready").exists():
        print(f"Installing {', '.join(packages)} in .peers/{name} ...", flush=True)
        venv.create(home, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        (home / ".ready").touch()
    return python


def _run(python: Path, peer: str, source: Path, *asked: str) -> dict[str, float]:
    script = ROOT / "benchmarks" / "peer_work" / f"{peer}_work.py"
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([python, script, source, *asked], check=True, capture_output=True, text=True, env=paths)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _best(before: dict[str, float] | None, now: dict[str, float]) -> dict[str, float]:
    return now if before is None else {key: min(value, before[key]) for key, value in now.items()}


def _print(rows: list[Row]) -> int:
    for row in rows:
        print(f"  {row}")
    return int(any(row.good is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
