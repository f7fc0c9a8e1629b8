"""A server in a process of its own, and clients in another: for load, faults and times; benchmarks use it too."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Server:
    """A `jali serve` that can be killed and started again on the same port."""

    directory: Path
    options: tuple[str, ...] = ()
    port: int = 0
    database: str | None = None
    process: subprocess.Popen[str] = field(init=False)
    greeting: str = field(init=False, default="")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        database = self.database or str(self.directory / "clinic.jali")
        command = [sys.executable, "-m", "jali", "serve", database, "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.greeting = self.process.stdout.readline()
        assert self.greeting.startswith("Open http://"), self.greeting
        self.port = int(self.greeting.split("/")[2].rpartition(":")[2])

    def kill(self) -> None:
        """Kill it without a warning."""
        self.process.send_signal(signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        """Ask it to stop, and wait."""
        self.process.send_signal(signal.SIGTERM)
        self._end()

    def _end(self) -> None:
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def serving(directory: Path, *options: str, database: str | None = None) -> Iterator[Server]:
    """Serve the clinic of a directory, or of a database elsewhere, until the block ends."""
    server = Server(directory, options, database=database)
    server.start()
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


@dataclass
class Told:
    """One answered request: which question, when it was sent and answered, the status and the document."""

    question: str
    began: float
    seconds: float
    status: int
    document: dict[str, Any]


class Caller:
    """One client with one connection, as small as can be: it must not be what is measured."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, document: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Send a document and return the status and the document that comes back."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps(document).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        told = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in told[1:])}
        content = await reader.readexactly(int(headers["content-length"]))
        return int(told[0].split()[1]), json.loads(content)

    def close(self) -> None:
        """Drop the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def questions_of(client: int) -> Iterator[str]:
    """Yield questions that nobody else asks."""
    number = 0
    while True:
        yield f"SELECT COUNT(*) AS n FROM visits WHERE cost > {client}.{number:05d}"
        number += 1


async def clients(
    port: Callable[[], int], tokens: list[str], seconds: float, epsilon: str, *, patient: bool = False
) -> list[Told]:
    """Have a client for each token ask for so many seconds.

    A patient one asks again where nobody answers, for a minute: a server that cannot be started fails a test.
    """
    ended = time.perf_counter() + seconds
    found: list[Told] = []

    async def one(place: int, token: str) -> None:
        caller = Caller(port(), token)
        for question in questions_of(place):
            if time.perf_counter() > ended:
                break
            document = {"sql": question, "epsilon": epsilon}
            while True:
                began = time.perf_counter()
                try:
                    status, told = await caller.post("/api/v1/ask", document)
                except (OSError, EOFError, asyncio.IncompleteReadError):
                    caller.close()
                    if not patient or time.perf_counter() > ended + 60:
                        raise
                    await asyncio.sleep(0.05)
                    caller = Caller(port(), token)
                    continue
                found.append(Told(question, began, time.perf_counter() - began, status, told))
                break
        caller.close()

    await asyncio.gather(*(one(place, token) for place, token in enumerate(tokens)))
    return found


def run(port: int, tokens: list[str], seconds: float, epsilon: str) -> list[Told]:
    """Run clients in this process."""
    return asyncio.run(clients(lambda: port, tokens, seconds, epsilon))


def elsewhere(port: int, tokens: list[str], seconds: float, epsilon: str) -> list[Told]:
    """Run clients in a process of their own."""
    arguments = json.dumps([port, tokens, seconds, epsilon])
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    code = "import json, sys; from tests.server.load import main; main(json.loads(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, arguments], capture_output=True, text=True, check=True, env=environment
    )
    return [Told(**one) for one in json.loads(done.stdout)]


def main(arguments: list[Any]) -> None:
    """Run clients and write what they were told."""
    port, tokens, seconds, epsilon = arguments
    print(json.dumps([vars(told) for told in run(port, tokens, seconds, epsilon)]))
