"""Limit connections: how many there may be, and how long a client may take to send its request.

A client that opens many connections and sends nothing, or a byte now and then, would use up the files that the
server may open. So there is a limit on all connections and on those of one address. When one is reached, the
connection that has waited longest for a request is closed in favour of the new one: whoever asks is answered.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from jali.server.settings import Settings

# Files that the server opens besides connections: the ledger, sources, pipes and what engines spill.
_OTHER_FILES = 256


class ConnectionLimiter:
    """The open connections of a server.

    Guarantee:
        There are never more than `most`, nor more than `per_address` from one address. A connection on which a
        request is being answered is never closed for another one.

    Args:
        most: How many there may be.
        per_address: How many from one address.
    """

    def __init__(self, most: int, per_address: int) -> None:
        self._most, self._per_address = most, per_address
        self._addresses: dict[LimitedConnection, str] = {}
        self._each: Counter[str] = Counter()
        # Those without a request, the one that has waited longest first.
        self._waiting: OrderedDict[LimitedConnection, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._addresses)

    def admit(self, connection: LimitedConnection, address: str) -> bool:
        """Count a new connection, or say that there is no room for it."""
        if self._each[address] >= self._per_address and not self._make_room(address):
            return False
        if len(self._addresses) >= self._most and not self._make_room(None):
            return False
        self._addresses[connection] = address
        self._each[address] += 1
        self._waiting[connection] = None
        return True

    def is_waiting(self, connection: LimitedConnection, waiting: bool) -> None:
        """Take note whether a connection waits for a request."""
        if not waiting:
            self._waiting.pop(connection, None)
        elif connection in self._addresses and connection not in self._waiting:
            self._waiting[connection] = None

    def remove(self, connection: LimitedConnection) -> None:
        """Count a connection no more."""
        address = self._addresses.pop(connection, None)
        self._waiting.pop(connection, None)
        if address is not None:
            self._each[address] -= 1
            if not self._each[address]:
                del self._each[address]

    def _make_room(self, address: str | None) -> bool:
        found = next((c for c in self._waiting if address is None or self._addresses[c] == address), None)
        if found is None:
            return False
        self.remove(found)
        found.drop()
        return True


class LimitedConnection(H11Protocol):
    """One connection, which is closed when its client is slow."""

    every: ClassVar[ConnectionLimiter]
    head_seconds: ClassVar[float]
    body_seconds: ClassVar[float]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._phase = ""
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Take a connection, or close it where there are too many."""
        super().connection_made(transport)
        if self.every.admit(self, "" if self.client is None else self.client[0]):
            self._enter("head", self.head_seconds)
        else:
            self.drop()

    def data_received(self, data: bytes) -> None:
        """Read what came, and see that what is missing comes in time. Bytes that trickle in win no time."""
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.IDLE:
            self._enter("head", self.head_seconds)
        elif state is h11.SEND_BODY:
            self._enter("body", self.body_seconds)
        else:
            self._enter("", None)

    def on_response_complete(self) -> None:
        """Wait for the next request, for as long as uvicorn keeps a connection alive."""
        self._enter("", None)
        self.every.is_waiting(self, True)
        super().on_response_complete()
        if not self.cycle.response_complete:  # another request had come already
            self.every.is_waiting(self, False)
        if self.conn.their_state is h11.SEND_BODY:
            self._enter("body", self.body_seconds)

    def pause_writing(self) -> None:
        """Close a connection whose client does not take what it is sent."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.body_seconds, self.drop)

    def resume_writing(self) -> None:
        """Go on writing: the client has read."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._enter("", None)
        self.every.remove(self)
        super().connection_lost(exc)
        if self._unread is not None:
            self._unread.cancel()

    def drop(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def _enter(self, phase: str, seconds: float | None) -> None:
        """Begin a phase; its time is not prolonged while it lasts."""
        self.every.is_waiting(self, phase == "head")
        if phase == self._phase:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._phase = phase
        self._timer = None if seconds is None else self.loop.call_later(seconds, self.drop)


def make_connection_class(settings: Settings, files: int | None = None) -> type[LimitedConnection]:
    """Return the class of the connections of one server.

    Args:
        settings: The limits.
        files: How many files the process may open; there are fewer connections than that.
    """
    room = settings.connections if files is None else max(16, files - _OTHER_FILES)
    held = {
        "every": ConnectionLimiter(min(settings.connections, room), settings.per_address),
        "head_seconds": settings.head_seconds,
        "body_seconds": settings.body_seconds,
    }
    return type("LimitedConnection", (LimitedConnection,), held)


def raise_file_limit() -> int | None:
    """Let this process open as many files as it may; return how many, where that is known."""
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else max(soft, 65_536)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (ValueError, OSError):
        return soft
    return wanted
