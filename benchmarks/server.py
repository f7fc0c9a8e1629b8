"""Load on the server: 64 clients for a minute, beside 64 threads in process; one client beside one thread."""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import server_timing
from benchmarks.measure import Row, at_least, at_most, reported
from tests.database.clinic import open_clinic
from tests.server.load import Told, elsewhere, questions_of, serving

import jali
from jali.ledger import Receipt

CLIENTS, EPSILON = 64, "0.000001"
# Another loss makes another question: none of one client is recalled for the others.
SMALLER = "0.0000009"
SECONDS = 60.0


def in_process(directory: Path, threads: int, seconds: float) -> list[float]:
    """Return how long each question took that so many threads asked one after the other."""
    took: list[float] = []
    with open_clinic(directory, epsilon=1000) as database:
        ended = time.perf_counter() + seconds

        def work(place: int) -> None:
            session = database.session(f"a{place}")
            for question in questions_of(place):
                began = time.perf_counter()
                if began > ended:
                    return
                session.ask(question, epsilon=EPSILON)
                took.append(time.perf_counter() - began)

        running = [threading.Thread(target=work, args=(place,)) for place in range(threads)]
        for one in running:
            one.start()
        for one in running:
            one.join()
    return took


def made(directory: Path) -> list[str]:
    """Make a clinic with a grant and a token for every client."""
    directory.mkdir(parents=True)
    with open_clinic(directory, epsilon=1000) as database:
        for place in range(CLIENTS):
            database.grant(f"a{place}", "visits", jali.Budget(epsilon=10))
        return [database.access.create(f"a{place}", "analyst").text for place in range(CLIENTS)]


def rows(seconds: float = SECONDS) -> list[Row]:
    """Measure clients, then threads; the machine is the same and nothing else is running."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        tokens = made(root / "served")
        made(root / "threads")
        made(root / "single")
        with serving(root / "served", "--rate", "1000000", "--waiting", "1024") as server:
            alone = elsewhere(server.port, tokens[:1], seconds / 6, SMALLER)
            told = elsewhere(server.port, tokens, seconds, EPSILON)
            server.stop()
        threads = in_process(root / "threads", CLIENTS, seconds / 2)
        single = in_process(root / "single", 1, seconds / 6)
        with open_clinic(root / "served", epsilon=1000) as database:
            receipts, problems = database.receipts(), database.verify().problems
    return [*_sound(alone + told, receipts, problems), *_quick(alone, told, threads, single, seconds)]


def _sound(told: Sequence[Told], receipts: Sequence[Receipt], problems: Sequence[str]) -> list[Row]:
    answered = [one.document["receipt"] for one in told if one.status == 200]
    left_over = len(told) + len(receipts) - 2 * len(set(answered))
    return [
        reported(f"questions asked by {CLIENTS} clients", len(told), digits=6),
        at_most("answers that are no 200", len(told) - len(answered), 0),
        at_most("answers without a receipt of their own, and receipts without an answer", left_over, 0),
        at_most("problems of the ledger, overspending among them", len(problems), 0),
    ]


def _quick(
    alone: Sequence[Told], told: Sequence[Told], threads: Sequence[float], single: Sequence[float], seconds: float
) -> list[Row]:
    took = sorted(one.seconds for one in told)
    median, p99 = statistics.median(took), took[int(0.99 * len(took))]
    rate, own = len(told) / seconds, len(threads) / (seconds / 2)
    one, local = statistics.median(o.seconds for o in alone), statistics.median(single)
    return [
        reported(f"answers a second: {CLIENTS} clients", rate),
        reported(f"answers a second: {CLIENTS} threads in process", own),
        at_least("the first / the second", rate / own, 0.3),
        reported(f"median of {CLIENTS} clients, ms", 1000 * median),
        at_most("p99 / median", p99 / median, 5),
        reported("median ask of one client, ms", 1000 * one),
        at_most("the same / the median ask in process", one / local, 5),
        *server_timing.rows(),
    ]


def main() -> int:
    """Print the rows; fail if a target was missed."""
    found = rows(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
    for row in found:
        print(row)
    return any(row.good is False for row in found)


if __name__ == "__main__":
    sys.exit(main())
