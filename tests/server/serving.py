"""A server over a small clinic, in this process, for tests; with a token for each role."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from tests.database.clinic import open_clinic

import jali
from jali.database import Database
from jali.server.app import make_app
from jali.server.connection_limits import make_connection_class
from jali.server.listen import listen
from jali.server.settings import Settings


@dataclass(frozen=True)
class Place:
    """A running server.

    Attributes:
        address: Where it is.
        database: What it serves.
        app: The application.
        tokens: A token for each role: "ana", "ben" (analysts) and "cara" (curator).
    """

    address: str
    database: Database
    app: FastAPI
    tokens: dict[str, str]

    def client(self, name: str | None = None, **options: Any) -> httpx.Client:
        headers = {} if name is None else {"Authorization": f"Bearer {self.tokens[name]}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60, **options)


def tokens_of(database: Database) -> dict[str, str]:
    """Make a token for each role, and grants for the analysts."""
    for name in ("ana", "ben"):
        database.grant(name, "visits", jali.Budget(epsilon=50))
    made = {name: database.access.create(name, "analyst").text for name in ("ana", "ben")}
    return made | {"cara": database.access.create("cara", "curator").text}


@contextmanager
def served(directory: Path, *, epsilon: Any = 100, memory: str = "own", **options: Any) -> Iterator[Place]:
    """Serve a clinic on a free port until the block ends."""
    with open_clinic(directory, epsilon=epsilon, memory=memory) as database:
        tokens = tokens_of(database)
        usual: dict[str, Any] = {"data": directory, "rate": 10_000, "burst": 10_000, "grace": 5}
        app = make_app(database, Settings(**(usual | options)))
        with running(app) as address:
            yield Place(address, database, app, tokens)


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """Run an application in a thread on a free port."""
    listening = listen(Settings(port=0))
    http = make_connection_class(app.state.jali.settings)
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on", ws="none", http=http)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    for _ in range(500):
        try:
            httpx.get(f"{address}/health", timeout=5)
            break
        except httpx.TransportError:
            continue
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
