"""Run a server: who may reach it, what its owner is shown, and how it stops."""

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
from jali.server.auth import RunToken
from jali.server.connection_limits import make_connection_class, raise_file_limit
from jali.server.listen import find_page_address
from jali.server.settings import Settings
from jali.server.state import AppState

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
    run_token = make_run_token(database, settings, named)
    app = make_app(database, settings, run_token)
    config = uvicorn.Config(
        app,
        access_log=False,  # a path may hold a receipt or a name
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=max(1, round(settings.grace)),
        limit_concurrency=None,
        lifespan="on",
        http=make_connection_class(settings, raise_file_limit()),
        ws="none",
        backlog=_AT_ONCE,  # as many connections are taken before those that are too many are closed
    )
    _reduce_garbage_collection()
    tell(describe_address(find_page_address(settings, listening), run_token, has_curator(database), named))
    try:
        UvicornServer(config, app.state.jali, tell).run(sockets=[listening])
    except KeyboardInterrupt:  # told again by uvicorn, once it has stopped
        _exit_process(app.state.jali, _INTERRUPTED)
        raise
    _exit_process(app.state.jali, 0)


def _reduce_garbage_collection() -> None:
    """Have garbage collected without what was loaded: to look through all of it keeps everybody waiting."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)


def _exit_process(state: AppState, code: int) -> None:
    """End the process where threads that still read would keep it alive; their receipts are on disk."""
    sys.stdout.flush()
    sys.stderr.flush()
    if state.jobs.under_way:
        os._exit(code)


class UvicornServer(uvicorn.Server):
    """Ends streams of events when it is told to stop, and says what it waits for.

    Args:
        config: How uvicorn runs.
        state: The state of the server.
        tell: Is told for how many questions it waits.
    """

    def __init__(self, config: uvicorn.Config, state: AppState, tell: Callable[[str], None]) -> None:
        super().__init__(config)
        self._state, self._tell = state, tell

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give questions that are under way some seconds, all in all."""
        jobs, grace = self._state.jobs, self._state.settings.grace
        jobs.close(grace)
        # A request that is cut off now is no mishap, and its trace helps nobody.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        if jobs.under_way:
            self._tell(describe_wait(jobs.under_way, grace))
        await super().shutdown(sockets)


def describe_wait(questions: int, grace: float) -> str:
    """Say for what a server waits that was told to stop.

    Example:
        >>> describe_wait(1, 10.0)
        'Waiting up to 10 s for 1 question ...'
    """
    return f"Waiting up to {grace:g} s for {questions} question{'s' if questions > 1 else ''} ..."


def describe_address(place: str, run_token: RunToken | None, curated: bool, named: Path | str) -> str:
    """Say where to open the page. The token of the run is in the fragment, which no server ever sees."""
    if run_token is not None:
        return f"Open {place}sign-in#{run_token.text}\nStop with Ctrl+C."
    hint = (
        ""
        if curated
        else f"No curator has a valid token. Create one: jali token create {named} NAME --role curator\n"
    )
    return f"Open {place}\n{hint}Stop with Ctrl+C."


def has_curator(database: Database) -> bool:
    """Say whether somebody has a curator's token that is good."""
    return any(token.state == "valid" and token.role is Role.CURATOR for token in database.access.tokens())


def make_run_token(database: Database, settings: Settings, named: Path | str) -> RunToken | None:
    """Return a curator's token for this run, where only this machine can reach the server and no curator has one.

    Whoever starts it can write the ledger, so could make a token as well.

    Raises:
        CatalogError: Other machines could reach it, and there is no token.
    """
    if settings.local:
        return None if has_curator(database) else RunToken()
    if not any(token.state == "valid" for token in database.access.tokens()):
        raise CatalogError("serve-without-tokens", host=settings.host, database=named)
    return None
