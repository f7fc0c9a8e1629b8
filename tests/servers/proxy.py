"""A wire that can be cut: it stands between a client and a server, and sees what the client sends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum


class Cut(Enum):
    """When a connection is cut, once, at a message with some bytes in it."""

    BEFORE = "the server never gets the message"
    AFTER = "the server gets the message, and the client never an answer"


@dataclass
class Proxy:
    """A port that leads to another port.

    Attributes:
        port: The port of its own.
        word: The bytes of the message at which a connection is cut.
        cut: When; None lets everything pass.
        cuts: How many connections were cut.
    """

    target: int
    port: int = 0
    word: bytes = b"; COMMIT"
    cut: Cut | None = None
    cuts: int = 0
    _ends: list[socket.socket] = field(default_factory=list)

    def _serve(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                self._ends.append(client)
                self._lead(client)

    def _lead(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            _close(client)
            return
        self._ends.append(server)
        for work in (self._forward, self._back):
            threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        cut = None
        with suppress(OSError):
            while message := client.recv(1 << 16):
                cut = self.cut if self.word in message else None
                if cut is not None:
                    self.cut, self.cuts = None, self.cuts + 1
                    _close(client)
                if cut is not Cut.BEFORE:
                    server.sendall(message)
                if cut is not None:
                    break
        if cut is Cut.AFTER:
            # Only what goes to it has ended: the server does what it was told before it looks.
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
        else:
            _close(server)

    def _back(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while message := server.recv(1 << 16):
                client.sendall(message)
        _close(client)


@contextmanager
def wire_to(port: int) -> Iterator[Proxy]:
    """Lead a free port to another one until the block ends."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        made = Proxy(port, listening.getsockname()[1])
        serving = threading.Thread(target=made._serve, args=(listening,), daemon=True)
        serving.start()
        try:
            yield made
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            serving.join()
            for end in made._ends:
                _close(end)
                end.close()


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
