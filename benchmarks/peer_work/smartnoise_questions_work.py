"""SmartNoise SQL's side of the question benchmark: its SQL over a pandas frame, which it hands to SQLite.

Its epsilon is per noisy column: it is scaled so that the whole question costs what the others pay, by its own
`get_privacy_cost`. DuckDB is not among its engines. The frame is made once, and does not count in a warm question.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from benchmarks.peer_work.questioned import PERSON, ROW, NotOfferedError, Numbers, Release, measure
from benchmarks.questions.table import DELTA, EPSILON, HIGH, LOW, MAX_ROWS, SHORT, arrays
from snsql import Privacy, from_df  # type: ignore[import-not-found]

QUESTIONS = {
    "count": "SELECT city, COUNT(*) AS n FROM s.rides GROUP BY city",
    "sum": "SELECT city, SUM(fare) AS n FROM s.rides GROUP BY city",
    "avg": "SELECT city, AVG(fare) AS n FROM s.rides GROUP BY city",
    "people": "SELECT city, COUNT(DISTINCT user_id) AS n FROM s.rides GROUP BY city",
    "short": f"SELECT city, COUNT(*) AS n FROM s.rides WHERE km < {SHORT} GROUP BY city",
}
ZONES = {
    ROW: "SELECT zone, COUNT(*) AS n FROM s.rides GROUP BY zone",
    PERSON: "SELECT zone, COUNT(DISTINCT user_id) AS n FROM s.rides GROUP BY zone",
}


def prepare(source: str, level: str, name: str) -> Release:
    """Return what asks a question once."""
    if name == "median":
        raise NotOfferedError("no quantiles")
    frame = pd.DataFrame(arrays(source))
    sql = ZONES[level] if name == "zones" else QUESTIONS[name]
    metadata = _described(level, censor=name == "zones")

    def reader(epsilon: float) -> Any:
        return from_df(frame, privacy=Privacy(epsilon=epsilon, delta=DELTA), metadata=metadata)

    calibrated = reader(EPSILON**2 / reader(EPSILON).get_privacy_cost(sql)[0])
    assert calibrated.get_privacy_cost(sql)[0] <= EPSILON * (1 + 1e-9)

    def release() -> Numbers:
        return dict(calibrated.execute(sql)[1:])

    return release


def _described(level: str, *, censor: bool) -> dict[str, Any]:
    whole = {"type": "int"}
    table = {
        "row_privacy": level == ROW,
        "max_ids": MAX_ROWS if level == PERSON else 1,
        "censor_dims": censor,
        "clamp_counts": False,
        "user_id": {**whole, "private_id": True} if level == PERSON else whole,
        "fare": {"type": "float", "lower": float(LOW), "upper": float(HIGH)},
        "city": whole,
        "zone": whole,
        "km": whole,
    }
    return {"": {"s": {"rides": table}}}


if __name__ == "__main__":
    measure(prepare)
