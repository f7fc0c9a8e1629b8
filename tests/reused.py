"""What one test hands on to the next, as it takes long to make; and one thread for each worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from unittest.mock import patch

import httpx
import typer.main

from jali.engines.base import Resources
from jali.engines.duckdb.connections import Instance


@contextmanager
def one_thread() -> Iterator[None]:
    """Let DuckDB compute with one thread, as each worker has one core."""
    limit = Instance.limit

    def limited(instance: Instance, resources: Resources) -> None:
        limit(instance, replace(resources, threads=1))

    with patch.object(Instance, "limit", limited):
        yield


@contextmanager
def reused_verbs() -> Iterator[None]:
    """Make the command line's tree of verbs once: typer makes it for every run, and programs run once."""
    with patch.object(typer.main, "get_command", cache(typer.main.get_command)):
        yield


@contextmanager
def reused_certificates() -> Iterator[None]:
    """Let all HTTP clients share the certificates that they trust; no test has a server with one."""
    once = cache(httpx.create_ssl_context)
    with patch("httpx._transports.default.create_ssl_context", once):
        yield
