"""What the time of an answer tells about one person, with and without `--pace`.

`python -m benchmarks.pace [TRIALS] [PACE]`: how many times each table is asked, 1,000 by default, and the interval
in seconds, 0.5 by default. A busy machine needs a longer one: it must be longer than the engine ever takes.

Two tables differ in Bob, who has as many rows as count for a person. A question is made so that his rows alone
take long: they are joined to each other, and the texts of all pairs are searched. Whoever asks guesses from the
time whether he is there.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.measure import Row, at_least, at_most, reported
from tests.server.load import serving

import jali

TRIALS = 1000
PACE = 0.5
BOB = 300
TEXT = "ab" * 200
# It can be asked with any number, so that no answer is recalled.
SLOW = "SELECT COUNT(*) FROM {t} a JOIN {t} b ON a.uid = b.uid AND REGEXP_MATCHES(a.note || b.note, '(a|b)*c{n}$')"


def made(folder: Path) -> str:
    """Protect a table with Bob and one without him; return a token."""
    people = [(uid, "x") for uid in range(1000)]
    with jali.connect(folder / "clinic.jali") as database:
        for name, rows in (("calm", people), ("busy", [*people, *[(1000, TEXT)] * BOB])):
            uids, notes = zip(*rows, strict=True)
            pq.write_table(pa.table({"uid": uids, "note": notes}), folder / f"{name}.parquet")
            budget = jali.Budget(epsilon=10**9)
            database.protect(name, folder / f"{name}.parquet", unit="uid", max_rows=BOB, budget=budget)
            database.grant("ana", name, budget)
        return database.access.create("ana", "analyst").text


def times(folder: Path, token: str, trials: int, pace: float) -> dict[str, list[float]]:
    """Ask both tables in turn; return the seconds of each answer."""
    found: dict[str, list[float]] = {"calm": [], "busy": []}
    with serving(folder, "--rate", "100000", "--pace", str(pace), "--patience", "600") as server:
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=600) as client:
            for number in range(-3, trials):
                for name, seconds in found.items():
                    sql = SLOW.format(t=name, n=number + 10**6 * round(pace > 0))
                    began = time.perf_counter()
                    client.post("/api/v1/ask", json={"sql": sql, "epsilon": "1e-4"}).raise_for_status()
                    if number >= 0:
                        seconds.append(time.perf_counter() - began)
        server.stop()
    return found


def guessed(calm: Sequence[float], busy: Sequence[float]) -> float:
    """Return the share of right guesses by the best threshold on the time: 0.5 tells nothing."""
    every = sorted({*calm, *busy})
    right = (sum(x <= limit for x in calm) + sum(x > limit for x in busy) for limit in every)
    return max(max(n, len(calm) + len(busy) - n) for n in right) / (len(calm) + len(busy))


def rows(trials: int = 100, pace: float = PACE) -> list[Row]:
    """Measure both, first without a pace."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        token = made(folder)
        plain = times(folder, token, min(trials, 100), 0)
        paced = times(folder, token, trials, pace)
    multiples = {name: [int(seconds // pace) for seconds in found] for name, found in paced.items()}
    usual = statistics.mode(multiples["calm"] + multiples["busy"])
    same = sum(one == other == usual for one, other in zip(multiples["calm"], multiples["busy"], strict=True))
    return [
        *(
            reported(f"{name}, no pace: median, ms", 1000 * statistics.median(found))
            for name, found in plain.items()
        ),
        reported("right guesses by time, no pace", guessed(**plain)),
        *(
            reported(f"{name}, pace {pace:g} s: median, ms", 1000 * statistics.median(found))
            for name, found in paced.items()
        ),
        at_least(f"trials of {trials:,} in which both leave at the same multiple", same, trials),
        at_most(
            "right guesses by multiples", guessed(**{k: [float(x) for x in v] for k, v in multiples.items()}), 0.5
        ),
        reported("right guesses by what is above the multiple", guessed(**paced)),
    ]


def main() -> int:
    """Print the rows; fail if a target was missed."""
    given = sys.argv[1:]
    found = rows(int(given[0]) if given else TRIALS, float(given[1]) if len(given) > 1 else PACE)
    for row in found:
        print(row)
    return any(row.good is False for row in found)


if __name__ == "__main__":
    sys.exit(main())
