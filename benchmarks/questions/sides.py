"""Jali and its peers, each asked in processes of their own, and what was measured."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.aggregates.score import Score
from benchmarks.aggregates.sides import JALI, PIPELINEDP, SMARTNOISE, Side
from benchmarks.peers import OPENDP, ROOT
from benchmarks.questions.table import Column

TUMULT = ["tmlt.analytics==0.21.0", "pyarrow==18.1.0"]
# Jali once more, where Tumult computes.
ON_SPARK = "Spark with Jali"
SIDES = (
    Side(JALI, "jali"),
    Side(ON_SPARK, "jali_spark"),
    Side("OpenDP 0.16", "opendp", OPENDP),
    Side("Tumult Analytics 0.21", "analytics", TUMULT),
    Side("SmartNoise 1.0", "smartnoise", SMARTNOISE),
    Side("PipelineDP 0.3", "pipelinedp", PIPELINEDP),
)
# Spark takes half a minute to start: all questions share one process.
SHARED = {"analytics", "jali_spark"}
SECONDS = 1.0  # warm questions are asked again until they took so long, or often enough


@dataclass(frozen=True)
class Question:
    """One line of the table: whom it protects, and what is asked."""

    level: str
    name: str
    title: str

    @property
    def argument(self) -> str:
        """How a side's script is told."""
        return f"{self.level}/{self.name}"


@dataclass(frozen=True)
class Measured:
    """One side's figures on one question: CPU seconds, bytes, and its answers; or why there are none."""

    warm: float = 0.0
    first: float | None = None
    peak: float = 0.0
    answers: tuple[dict[str, float], ...] = ()
    refused: str = ""

    def error(self, truth: Column) -> Score:
        """Return the mean absolute error over groups and answers, those not shown read as empty."""
        told = np.array([[answer.get(str(i), 0.0) for i in range(len(truth))] for answer in self.answers])
        errors = np.abs(told - truth)
        # The groups of one answer have noise of their own; how large the truth is they share between answers.
        spread = errors.std() / errors.size**0.5
        return Score(float(errors.mean()), float(spread))


def ask(side: Side, source: Path, questions: list[Question]) -> dict[Question, Measured]:
    """Run a side's script, one process for each question, or one for all."""
    batches = [questions] if side.script in SHARED else [[question] for question in questions]
    return {question: found for batch in batches for question, found in _run(side, source, batch).items()}


def _run(side: Side, source: Path, questions: list[Question]) -> dict[Question, Measured]:
    script = ROOT / "benchmarks" / "peer_work" / f"{side.script}_questions_work.py"
    asked = [question.argument for question in questions]
    command = [str(side.python), "-W", "ignore", str(script), str(source), str(SECONDS), *asked]
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=paths)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {f"{record.pop('level')}/{record.pop('name')}": record for record in records}
    problem = {"refused": (done.stderr.strip().splitlines() or ["it ended early"])[-1]}
    return {question: _read(found.get(question.argument, problem)) for question in questions}


def _read(record: dict[str, Any]) -> Measured:
    return Measured(**{**record, "answers": tuple(record.get("answers", ()))})
