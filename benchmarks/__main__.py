"""`make bench`: ratios of CPU seconds, measured side by side in one run. Absolute times are only reported."""

from __future__ import annotations

import sys

from benchmarks import (
    attacks,
    audit,
    data_dependent,
    engine,
    mechanisms,
    noise,
    pace,
    postgres,
    server,
    spark,
    start,
    streams,
)
from benchmarks.measure import Row

SECTIONS = {
    "Noise": noise,
    "Mechanisms": mechanisms,
    "Data-dependent mechanisms": data_dependent,
    "Streams": streams,
    "Attacks": attacks,
    "Audits": audit,
    "Engine": engine,
    "Postgres": postgres,
    "Spark": spark,
    "Server": server,
    "Time of answers": pace,
    "Start": start,
}


def main() -> int:
    """Print the tables; fail if a target was missed."""
    missed = 0
    for title, module in SECTIONS.items():
        print(f"\n{title}", flush=True)
        rows: list[Row] = module.rows()
        for row in rows:
            print(f"  {row}")
        missed += sum(row.good is False for row in rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
