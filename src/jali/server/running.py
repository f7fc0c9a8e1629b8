"""Running a server: who may reach it, what its owner is shown, and how it stops."""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn

from jali.database import Database
from jali.errors import CatalogError
from jali.ledger import Role
from jali.server.app import make_app
from jali.server.connections import connection_class, raise_file_limit
from jali.server.house import House
from jali.server.listening import address
from jali.server.people.gate import Visit
from jali.server.settings import Settings

_INTERRUPTED = 130
_AT_ONCE = 128
# Less often than usual: most of what a server makes is garbage without cycles.
_GARBAGE = 50_000


def serve(
    database: Database,
    settings: Settings,
    listening: socket.socket,
    tell: Callable[[str], None],
    *,
    named: Path | str,
) -> None:
    """Serve a database until the process is told to stop.

    Args:
        database: What is served.
        settings: How.
        listening: Where.
        tell: Is told what its owner should know: the address to open, and what is waited for at the end.
        named: The database's file, for remedies.
    """
    visit = visit_of(database, settings, named)
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
        http=connection_class(settings, raise_file_limit()),
        ws="none",
        backlog=_AT_ONCE,  # as many connections are taken before those that are too many are closed
    )
    _collect_seldom()
    tell(greeting(address(settings, listening), visit, has_curator(database), named))
    try:
        Server(config, app.state.house, tell).run(sockets=[listening])
    except KeyboardInterrupt:  # told again by uvicorn, once it has stopped
        _leave(app.state.house, _INTERRUPTED)
        raise
    _leave(app.state.house, 0)


def _collect_seldom() -> None:
    """Have garbage collected without what was loaded: to look through all of it keeps everybody waiting."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)


def _leave(house: House, code: int) -> None:
    """End the process where threads that still read would keep it alive; their receipts are on disk."""
    sys.stdout.flush()
    sys.stderr.flush()
    if house.desk.under_way:
        os._exit(code)


class Server(uvicorn.Server):
    """Ends streams of events when it is told to stop, and says what it waits for.

    Args:
        config: How uvicorn runs.
        house: What is served.
        tell: Is told for how many questions it waits.
    """

    def __init__(self, config: uvicorn.Config, house: House, tell: Callable[[str], None]) -> None:
        super().__init__(config)
        self._house, self._tell = house, tell

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give questions that are under way some seconds, all in all."""
        desk, grace = self._house.desk, self._house.settings.grace
        desk.close(grace)
        # A request that is cut off now is no mishap, and its trace helps nobody.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        if desk.under_way:
            self._tell(waiting_for(desk.under_way, grace))
        await super().shutdown(sockets)


def waiting_for(questions: int, grace: float) -> str:
    """Say for what a server waits that was told to stop.

    Example:
        >>> waiting_for(1, 10.0)
        'Waiting up to 10 s for 1 question ...'
    """
    return f"Waiting up to {grace:g} s for {questions} question{'s' if questions > 1 else ''} ..."


def greeting(place: str, visit: Visit | None, curated: bool, named: Path | str) -> str:
    """Say where to open the page. The token of a visit is in the fragment, which no server ever sees."""
    if visit is not None:
        return f"Open {place}sign-in#{visit.text}\nStop with Ctrl+C."
    hint = "" if curated else f"Nobody has a curator's token: jali token create {named} NAME --role curator\n"
    return f"Open {place}\n{hint}Stop with Ctrl+C."


def has_curator(database: Database) -> bool:
    """Say whether somebody has a curator's token that is good."""
    return any(token.state == "valid" and token.role is Role.CURATOR for token in database.access.tokens())


def visit_of(database: Database, settings: Settings, named: Path | str) -> Visit | None:
    """Return a curator's token for this run, where only this machine can reach the server and no curator has one.

    Whoever starts it can write the ledger, so could make a token as well.

    Raises:
        CatalogError: Other machines could reach it, and there is no token.
    """
    if settings.local:
        return None if has_curator(database) else Visit()
    if not any(token.state == "valid" for token in database.access.tokens()):
        raise CatalogError("serve-without-tokens", host=settings.host, database=named)
    return None
