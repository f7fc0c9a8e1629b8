"""How a server is set up."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

from jali.errors import CatalogError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Settings:
    """How a server is set up; none of it concerns privacy.

    Attributes:
        host: The address to listen on.
        port: The port to listen on; 0 takes any free one.
        data: The directory in which curators may name files to protect.
        hosts: The names by which browsers may call it, besides loopback and `host`.
        secure: Whether it is reached over HTTPS, by a proxy that ends it: cookies are sent over nothing else then.
        workers: How many questions are read for at once.
        waiting: How many questions may be under way at once; further ones are refused before they are paid.
        patience: After so many seconds a question is answered with its receipt, and goes on.
        pace: Answers leave a multiple of so many seconds after their question came, whatever the engine took, so
            that time tells little; 0 for at once.
        grace: How many seconds questions have to finish when the server stops.
        rate: How many requests a second one token may make, for long; and
        burst: at once.
        body: The largest request, in bytes.
        planners: How many processes plan for analysts; one more plans for curators. 0 plans in this process, where
            a plan that takes long keeps everybody waiting.
        plan_seconds: How much CPU time one plan may take.
        plan_memory: How many bytes of memory a process that plans may use.
        connections: How many connections may be open at once; and
        per_address: how many from one address.
        head_seconds: How long a client may take to send the head of a request; and
        body_seconds: its body, or to take what it is sent.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    data: Path = field(default_factory=Path.cwd)
    hosts: tuple[str, ...] = ()
    secure: bool = False
    workers: int = field(default_factory=lambda: max(2, os.cpu_count() or 1))
    waiting: int = 256
    patience: float = 20.0
    pace: float = 0.0
    grace: float = 10.0
    rate: float = 20.0
    burst: int = 100
    body: int = 1_000_000
    planners: int = field(default_factory=lambda: max(2, os.cpu_count() or 1))
    plan_seconds: float = 10.0
    plan_memory: int = 4 << 30
    connections: int = 1000
    per_address: int = 500
    head_seconds: float = 5.0
    body_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in ("workers", "waiting", "burst", "body", "connections", "per_address"):
            _check(name, getattr(self, name), least=1)
        for name in ("patience", "pace", "grace", "rate", "planners"):
            _check(name, getattr(self, name), least=0)
        for name in ("plan_seconds", "head_seconds", "body_seconds"):
            _check(name, getattr(self, name), least=0.01)
        _check("plan_memory", self.plan_memory, least=1 << 28, most=float("inf"))

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def host_names(self) -> frozenset[str]:
        """The names by which it may be called; empty if any will do.

        Without this, a page of another site could call a server on loopback under a name of its own.
        """
        if not self.local and not self.hosts:
            return frozenset()
        return frozenset(name.casefold() for name in (*LOOPBACK, self.host, *self.hosts))


def is_loopback(host: str) -> bool:
    """Say whether an address is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check(name: str, value: float, *, least: float, most: float = 1e9) -> None:
    if not value >= least or value > most:
        raise CatalogError("server-setting-too-small", name=name, least=least, value=value)
