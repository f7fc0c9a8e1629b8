"""Running a server: who may reach it, what its owner is shown, and how it stops."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn

from jali.database import Database
from jali.errors import CatalogError
from jali.server.app import make_app
from jali.server.people.gate import Visit
from jali.server.settings import Settings


def serve(database: Database, settings: Settings, started: Callable[[str], None], *, named: Path) -> None:
    """Serve a database until the process is told to stop.

    Args:
        database: What is served.
        settings: How.
        started: Is told, once, the address to open.
        named: The database's file, for remedies.
    """
    visit = visit_of(database, settings, named)
    listening = listen(settings)
    app = make_app(database, settings, visit)
    config = uvicorn.Config(
        app,
        access_log=False,  # a path may hold a receipt or a name
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=max(1, round(settings.grace)),
        limit_concurrency=None,
        lifespan="on",
    )
    started(address(settings, listening, visit))
    uvicorn.Server(config).run(sockets=[listening])
    sys.stdout.flush()
    if app.state.house.desk.under_way:
        # Threads that still read would keep the process alive; their receipts are on disk.
        os._exit(0)


def visit_of(database: Database, settings: Settings, named: Path) -> Visit | None:
    """Return a token for this run, where only this machine can reach the server and nobody has a good one.

    Raises:
        CatalogError: Other machines could reach it, and there is no token.
    """
    if any(token.state == "valid" for token in database.access.tokens()):
        return None
    if not settings.local:
        raise CatalogError(
            f"Other machines can reach {settings.host}, and nobody has a token.",
            remedy=f"Make one first: jali token create {named} NAME --role curator",
        )
    return Visit()


def listen(settings: Settings) -> socket.socket:
    """Return the socket to listen on, so that its port is known before anything is served."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named: asyncio lets small packets go at once only where it knows that it is TCP.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
        made.listen(1024)  # whoever follows the link at once waits a moment, and is not turned away
    except (OSError, OverflowError):
        made.close()
        raise CatalogError(
            f"Nobody can listen on {settings.host}, port {settings.port}.", remedy="Take another with --port."
        ) from None
    return made


def address(settings: Settings, listening: socket.socket, visit: Visit | None) -> str:
    """Return where to open the page. The token of a visit is in the fragment, which no server ever sees."""
    port = listening.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    way = "https" if settings.secure else "http"
    return f"{way}://{host}:{port}/" + ("" if visit is None else f"sign-in#{visit.text}")
