"""Jali and its peers, each run in a venv of its own, and what they answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.medians import TUMULT
from benchmarks.peers import DIFFPRIVLIB, OPENDP, ROOT, installed

SMARTNOISE = ["smartnoise-sql==1.0.10", "opendp==0.14.2", "pandas==2.3.3", "numpy==2.4.6"]
PIPELINEDP = ["pipeline-dp==0.3.1", "python-dp==1.1.5", "numpy==2.4.6", "scipy==1.17.1"]
JALI = "Jali"


@dataclass(frozen=True)
class Setting:
    """Whom the answers protect: a row or a person, by which adjacency."""

    level: str
    adjacency: str


@dataclass(frozen=True)
class Side:
    """One side: its name, the name of its script and of its venv, and its pinned packages."""

    title: str
    script: str
    packages: list[str] = field(default_factory=list)

    @property
    def python(self) -> Path:
        """The interpreter that has it; installed on first use."""
        return installed(self.script, self.packages) if self.packages else Path(sys.executable)


SIDES = (
    Side(JALI, "jali"),
    Side("OpenDP 0.16", "opendp", OPENDP),
    Side("Tumult Core 0.19", "tumult", TUMULT),
    Side("SmartNoise 1.0", "smartnoise", SMARTNOISE),
    Side("PipelineDP 0.3", "pipelinedp", PIPELINEDP),
    Side("diffprivlib 0.6", "diffprivlib", DIFFPRIVLIB),
)


@dataclass(frozen=True)
class Answers:
    """What one side answered, by setting and question; what it refused is not there."""

    by_question: Mapping[tuple[Setting, str], list[list[Any]]] = field(default_factory=dict)
    refusals: Mapping[tuple[Setting, str], str] = field(default_factory=dict)
    problem: str = ""


def ask(side: Side, source: Path, runs: int, names: Iterable[str] = ()) -> Answers:
    """Run a side's script, on some questions or on all; one that cannot be run is left out, with its message."""
    script = ROOT / "benchmarks" / "peer_work" / f"{side.script}_aggregates_work.py"
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        command = [str(side.python), "-W", "ignore", str(script), str(source), str(runs), *names]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=paths)
    except subprocess.CalledProcessError as problem:
        return Answers(problem=((problem.stderr or "").strip().splitlines() or [str(problem)])[-1])
    return _read(json.loads(done.stdout.splitlines()[-1]))


def _read(records: list[dict[str, Any]]) -> Answers:
    keyed = [((Setting(r["level"], r["adjacency"]), r["name"]), r) for r in records]
    return Answers(
        {key: record["answers"] for key, record in keyed if "answers" in record},
        {key: record["refused"] for key, record in keyed if "refused" in record},
    )
