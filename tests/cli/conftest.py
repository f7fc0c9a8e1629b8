"""A small clinic, protected once and copied for each test; and a runner that calls the program in-process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from jali.cli import main

ROWS = """
SELECT i % 500 AS patient_id, (i * 7) % 100 AS age, ['A', 'B', 'C'][1 + i % 3] AS ward, i % 4 AS floor,
  ['1', '2'][1 + i % 2] AS code, i % 50 * 1.5 AS cost, DATE '2025-01-01' + (i % 3)::INTEGER AS seen
FROM range(5000) AS numbers(i)
"""


@dataclass(frozen=True)
class Outcome:
    """What one run of the program left."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


Runner = Callable[..., Outcome]


@pytest.fixture
def jali(capsys: pytest.CaptureFixture[str]) -> Runner:
    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clinic") / "visits.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.fixture(scope="session")
def made_clinic(visits: Path) -> Path:
    clinic = visits.parent / "clinic.jali"
    declared = ["--unit", "patient_id", "--max-rows", "5", "--range", "age=0:120", "--range", "cost=0:1000"]
    declared += ["--keys", "ward=A,B,C", "--epsilon", "3", "--delta", "1e-6", "--rows", "5000"]
    assert main(["init", str(clinic)]) == 0
    assert main(["protect", str(clinic), "visits", str(visits), *declared]) == 0
    assert main(["grant", str(clinic), "ana", "visits", "--epsilon", "1"]) == 0
    return clinic


@pytest.fixture
def clinic(made_clinic: Path, tmp_path: Path) -> Path:
    return copied(made_clinic, tmp_path / "clinic.jali")


def copied(database: Path, place: Path) -> Path:
    """Copy a database with its anchor, as a backup of a whole directory does."""
    shutil.copy(f"{database}.anchor", f"{place}.anchor")
    return Path(shutil.copy(database, place))
