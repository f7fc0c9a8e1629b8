"""Ports of this machine for servers of the tests' own."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    """Say whether somebody listens on a port."""
    with socket.socket() as attempt:
        return attempt.connect_ex((HOST, port)) == 0
