"""Streams at a server, as anybody may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jali.database.streams.declaration import read_declaration
from jali.database.streams.streams import published_tick, tick_of
from jali.remote.wire import Wire
from jali.stream import StreamView, Tick

if TYPE_CHECKING:
    from jali.database.streams.declaration import StreamDeclaration


class RemoteStreams:
    """What a view of a stream needs: what was published, fetched each time."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def view(self, name: str) -> StreamView:
        """Return a stream."""
        return StreamView(self, read_declaration(self._fetched(name)["declaration"]))

    def published(self, declaration: StreamDeclaration) -> int:
        """Return how many ticks were published."""
        return len(self._bodies(declaration))

    def value(self, declaration: StreamDeclaration, tick: int | None) -> Tick:
        """Return what was published at a tick; by default at the last."""
        bodies = self._bodies(declaration)
        number = published_tick(tick, len(bodies))
        return tick_of(declaration, number, bodies[number - 1])

    def ticks(self, declaration: StreamDeclaration) -> tuple[Tick, ...]:
        """Return all that was published."""
        return tuple(tick_of(declaration, n, body) for n, body in enumerate(self._bodies(declaration), 1))

    def _bodies(self, declaration: StreamDeclaration) -> list[str]:
        bodies: list[str] = self._fetched(declaration.name)["bodies"]
        return bodies

    def _fetched(self, name: str) -> dict[str, Any]:
        return self._wire.get(f"/streams/{name}", release=True)
