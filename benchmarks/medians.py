"""The error of the default median beside that of the peers, on six shapes of data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.measure import Row, at_least, at_most, reported

from jali.lab.compare.measure_errors import SHAPES, generate_column

PEOPLE, SEED = 201, 1
TUMULT = ["tmlt.core==0.19.1"]
# Measured means: two standard errors of their difference are no difference.
_NOISE = 2.0

Run = Callable[..., Any]


@dataclass(frozen=True)
class Peer:
    """A peer, and how Jali is asked the same: the adjacency it protects, and the lattice it answers on."""

    name: str
    adjacency: str
    step: str


PEERS = {
    "diffprivlib": Peer("diffprivlib 0.6.6", "replace-one", "fine"),
    "opendp": Peer("OpenDP 0.16", "add-remove", "1/10"),
    "tumult": Peer("Tumult Core 0.19", "add-remove", "fine"),
}


def rows(pythons: dict[str, Path], run: Run, own: Path) -> list[Row]:
    """Return, for each peer, on how many shapes Jali's median is no worse, and its largest loss."""
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "columns.npz"
        columns: dict[str, Any] = {shape: generate_column(shape, PEOPLE, SEED) for shape in SHAPES}
        np.savez(source, **columns)
        made: list[Row] = []
        for key, peer in PEERS.items():
            theirs = run(pythons[key], f"{key}_medians", source)
            ours = run(own, "jali_medians", source, peer.adjacency, peer.step)
            made += _against(peer, ours, theirs)
    return made


def _against(peer: Peer, ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> list[Row]:
    no_worse = sum(_excess(ours[shape], theirs[shape]) <= 0 for shape in SHAPES)
    largest = max(_excess(ours[shape], theirs[shape]) / max(theirs[shape][0], 1e-9) for shape in SHAPES)
    return [
        at_least(f"median: shapes of 6 on which Jali errs no more than {peer.name}", no_worse, 5),
        at_most(f"median: the largest excess of error over {peer.name}", largest, 0.05),
        *(
            reported(f"  {shape}: mean error, Jali {ours[shape][0]:.4g}, {peer.name}", theirs[shape][0])
            for shape in SHAPES
        ),
    ]


def _excess(ours: list[float], theirs: list[float]) -> float:
    """Return how much more ours is, beyond what sampling explains."""
    return ours[0] - theirs[0] - _NOISE * float(np.hypot(ours[1], theirs[1]))
