"""Registers a measurement before Jali is used, asks questions that use it, and prints what came of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.unit.planner.two_sided_geometric import TwoSidedGeometric

from jali.mechanisms import planner_registry

planner_registry.NOISES = (TwoSidedGeometric, *planner_registry.NOISES)  # the registration

import jali  # noqa: E402 - what is stored is read off the registry


def main() -> None:
    folder = Path(sys.argv[1])
    with jali.connect(folder / "clinic.jali") as db:
        db.protect(
            "visits",
            folder / "visits.parquet",
            unit="uid",
            max_rows=2,
            columns={"ward": jali.Keys(["A", "B"]), "age": jali.Range(0, 100)},
            budget=jali.Budget(epsilon=10**6),
        )
        plan = db.explain("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=100)
        answer = db.ask("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=100)
        running = db.ask("SELECT HISTOGRAM(age, 4) FROM visits", epsilon=100)
    with jali.connect(folder / "clinic.jali") as db:
        again = db.ask("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=100)
        problems = [str(problem) for problem in db.verify().problems]
    print(
        json.dumps(
            {
                "kinds": sorted({type(m).__name__ for part in plan.parts for m in part.mechanisms}),
                "explained": str(plan),
                "cost": str(plan.cost),
                "rows": [[ward, float(count)] for ward, count in answer.rows],
                "interval": [float(end) for end in answer.interval()[0][1] or ()],
                "shown": str(answer) + str(running),
                "again": [[ward, float(count)] for ward, count in again.rows],
                "cached": again.cached,
                "problems": problems,
            }
        )
    )


main()
