"""Texts that were made to exhaust a server: CPU seconds of each, and the health check while they are sent.

`python -m benchmarks.hostile [COUNT]`: how many texts; 10,000 by default.
"""

from __future__ import annotations

import gc
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from benchmarks.measure import Row, at_most, reported
from tests.database.clinic import open_clinic
from tests.golden.catalog import clinic
from tests.limits.hostile import hostile_texts
from tests.server.load import Server
from tests.server.serving import tokens_of

import jali

COUNT = 10_000
# An answer with more numbers than these is more than a hostile text: it is charged, and takes the time of so many.
MANY = 500
PLAIN = "SELECT ward, COUNT(*), AVG(age) FROM visits WHERE cost > {} GROUP BY ward"
# What takes longest of what is admitted, and what is not planned in time at all.
SUMS = f"SELECT {', '.join(f'SUM(age * {i})' for i in range(1, 46))} FROM visits"
SPREADS = f"SELECT {', '.join(f'VARIANCE(age * {i})' for i in range(1, 15))} FROM visits"
DEEP = f"SELECT COUNT(*) FROM visits WHERE {'(' * 30}age{')' * 30} IN ({', '.join(map(str, range(990)))})"
HOSTILE: tuple[dict[str, Any], ...] = (
    {"sql": SUMS, "epsilon": 1},
    {"sql": SPREADS, "within": "1e-3"},
    {"sql": DEEP, "epsilon": 1},
    {"sql": f"SELECT COUNT(*) FROM visits WHERE {'(' * 20_000}", "epsilon": 1},
)
SECONDS, SOCKETS, FILES = 10.0, 1100, 1024


def taken(action: Callable[[], object]) -> tuple[float, bool]:
    """Return the CPU seconds of an action, and whether it was refused."""
    began, refused = time.process_time(), False
    try:
        action()
    except jali.JaliError:
        refused = True
    return time.process_time() - began, refused


def texts(count: int) -> list[Row]:
    """Explain all texts and ask those that are admitted."""
    with clinic() as place:
        db = place.db

        def explain(text: str) -> None:
            str(db.explain(text, epsilon=1))

        def ask(text: str) -> None:
            told.append(db.ask(text, epsilon="1e-6"))

        explained, asked, told = [], [], list[jali.Answer]()
        for number in range(40):
            explained.append(taken(lambda number=number: explain(PLAIN.format(number)))[0])  # type: ignore[misc]
            asked.append(taken(lambda number=number: ask(PLAIN.format(number)))[0])  # type: ignore[misc]
        plain = statistics.median(explained), statistics.median(asked)
        gc.collect()
        gc.freeze()
        worst: list[tuple[float, str, str]] = []
        each: list[float] = []
        answered = many = 0
        for family, text in hostile_texts(count):
            seconds, refused = taken(lambda text=text: explain(text))  # type: ignore[misc]
            worst.append((seconds, "explain", family))
            if not refused:
                told.clear()
                seconds, refused = taken(lambda text=text: ask(text))  # type: ignore[misc]
                answered += not refused
                numbers = sum(len(answer.rows) * len(answer.columns) for answer in told)
                # What releases thousands of numbers takes as long as these do: it is measured for each of them.
                if numbers > MANY:
                    many += 1
                    each.append(seconds / numbers)
                else:
                    worst.append((seconds, "ask", family))
        gc.unfreeze()
    worst.sort(reverse=True)
    slow = [one for one in worst if one[0] > 0.2]
    return [
        reported(f"plain question of {len(explained)}, explained, ms of CPU", 1000 * plain[0]),
        reported("the same, asked, ms of CPU", 1000 * plain[1]),
        reported(f"of {count:,} hostile texts answered", answered, digits=6),
        reported(f"of these with more than {MANY} numbers", many, digits=6),
        reported("their CPU for each number, median, ms", 1000 * statistics.median(each or [0.0])),
        reported("the same, worst, ms", 1000 * max(each, default=0.0)),
        reported("mean of all others, ms of CPU", 1000 * statistics.fmean(one[0] for one in worst)),
        at_most(f"worst of all others, ms of CPU ({worst[0][1]}, {worst[0][2]})", 1000 * worst[0][0], 200),
        at_most("others above 200 ms of CPU", len(slow), 0),
        at_most("worst / the plain question, explained and asked", worst[0][0] / sum(plain), 10),
    ]


class Health:
    """Asks after the health of a server, again and again, on a new connection each time."""

    def __init__(self, port: int) -> None:
        self.port, self.seconds, self.failed = port, list[float](), 0

    def look(self) -> None:
        """Ask once, and keep how long it took."""
        began = time.perf_counter()
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as one:
                one.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                good = one.recv(12).endswith(b"200")
        except OSError:
            good = False
        self.seconds.append(time.perf_counter() - began)
        self.failed += not good

    def watch(self, seconds: float) -> None:
        """Ask every 20 ms for so long."""
        ended = time.perf_counter() + seconds
        while time.perf_counter() < ended:
            self.look()
            time.sleep(0.02)

    def rows(self, title: str) -> list[Row]:
        """Report the median and the worst."""
        ordered = sorted(self.seconds)
        return [
            reported(f"health check {title}, median, ms", 1000 * statistics.median(ordered)),
            at_most(f"health check {title}, worst of {len(ordered)}, ms", 1000 * ordered[-1], 100),
            at_most(f"health checks {title} that failed", self.failed, 0),
        ]


@contextmanager
def hostile_clients(port: int, tokens: list[str]) -> Iterator[list[int]]:
    """Have a client for each token explain what takes longest, without a pause."""
    over, told = threading.Event(), list[int]()

    def work(token: str, document: dict[str, Any]) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            while not over.is_set():
                with suppress(httpx.TransportError):
                    told.append(client.post("/api/v1/explain", json=document).status_code)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(tokens, HOSTILE, strict=True)]
    for one in threads:
        one.start()
    try:
        yield told
    finally:
        over.set()
        for one in threads:
            one.join()


def made(directory: Path) -> tuple[list[str], str]:
    """Make a clinic with four analysts and a curator."""
    with open_clinic(directory, epsilon=1000) as database:
        curator = tokens_of(database)["cara"]
        for name in ("a", "b", "c", "d"):
            database.grant(name, "visits", jali.Budget(epsilon=10))
        return [database.access.create(name, "analyst").text for name in ("a", "b", "c", "d")], curator


def served() -> list[Row]:
    """Measure the health check of a server that may open 1,024 files, and a curator's question meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        analysts, curator = made(Path(name))
        limited = (min(FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2
        server = Server(Path(name), ("--rate", "100000"))
        with _few_files(limited):
            server.start()
        try:
            for _ in range(20):
                Health(server.port).look()
            return [*_under_explains(server.port, analysts, curator), *_under_sockets(server.port)]
        finally:
            server.stop()


@contextmanager
def _few_files(limited: tuple[int, int]) -> Iterator[None]:
    """Start processes with a limit on open files, without one of our own."""
    started = subprocess.Popen

    def start(*arguments: Any, **named: Any) -> Any:
        named["preexec_fn"] = partial(resource.setrlimit, resource.RLIMIT_NOFILE, limited)
        return started(*arguments, **named)

    subprocess.Popen = start  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        subprocess.Popen = started  # type: ignore[misc]


def _under_explains(port: int, analysts: list[str], curator: str) -> list[Row]:
    health, own = Health(port), list[float]()
    headers = {"Authorization": f"Bearer {curator}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:

        def explain() -> None:
            began = time.perf_counter()
            assert client.post("/api/v1/explain", json={"sql": PLAIN.format(1), "epsilon": 1}).status_code == 200
            own.append(time.perf_counter() - began)

        explain()
        with hostile_clients(port, analysts) as told:
            watching = threading.Thread(target=health.watch, args=(SECONDS,))
            watching.start()
            while watching.is_alive():
                explain()
                time.sleep(0.05)
    wrong = sum(status not in (200, 400) for status in told)
    return [
        *health.rows("under four hostile explains"),
        reported("a curator explains meanwhile, median, ms", 1000 * statistics.median(own[1:])),
        at_most("answers to hostile explains that are neither 200 nor 400", wrong, 0),
    ]


def _under_sockets(port: int) -> list[Row]:
    wanted = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, 8192), wanted))
    health, silent = Health(port), list[socket.socket]()
    watching = threading.Thread(target=health.watch, args=(SECONDS,))
    watching.start()
    for _ in range(SOCKETS):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"GET /health HTTP/1.1\r\n")
        silent.append(one)
    watching.join()
    for one in silent:
        one.close()
    return health.rows(f"under {SOCKETS:,} silent sockets")


def rows(count: int = COUNT) -> list[Row]:
    """Measure the texts, then the server."""
    return [*texts(count), *served()]


def main() -> int:
    """Print the rows; fail if a target was missed."""
    found = rows(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
    for row in found:
        print(row)
    return any(row.good is False for row in found)


if __name__ == "__main__":
    sys.exit(main())
