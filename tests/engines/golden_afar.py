"""Golden questions on a Spark elsewhere, in a process of its own: do they find the same integers as DuckDB?"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.engines.golden import Both, check_same
from tests.engines.tables import TABLES, moved
from tests.golden.catalog import clinic
from tests.golden.test_golden import CASES
from tests.servers.spark import hasten, written

from jali.engines.spark import SparkEngine


def check(address: str, folder: Path, every: int) -> None:
    """Compare every so many-th question."""
    engine = SparkEngine()
    hasten(engine._session(address))
    with clinic() as opened:
        tables = opened.db.tables.catalog
        both = Both((opened.db._engine, tables), (engine, moved(tables, engine, written(folder, TABLES, address))))
        for _, case in CASES[::every]:
            check_same(case, both)
    engine.close()


if __name__ == "__main__":
    check(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
