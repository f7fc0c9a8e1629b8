"""What an engine must do. An engine never adds noise and never decides anything about privacy."""

from __future__ import annotations

from typing import Any, Protocol

from jali.query.aggregation import Aggregation
from jali.query.catalog import Field, Source


class Engine(Protocol):
    """Runs exact integer aggregates over one kind of store.

    Every engine passes the same suite (`tests/exact`): with the noise off, every question equals plain SQL on
    the clamped and weighted data, and nothing in the data can make it raise.
    """

    def fields(self, source: Source, declared: dict[str, str]) -> tuple[Field, ...]:
        """Read the schema of a source: the names and kinds of its columns, nothing about its rows."""

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in the engine's own SQL. Needs no connection and no data."""

    def run(self, sql: str, source: Source) -> list[tuple[int, ...]]:
        """Run emitted SQL and return one row of integers per group, in the order of the declared keys.

        Raises:
            EngineError: with a text that does not depend on the data.
        """

    def attach(self, name: str, frame: Any) -> None:
        """Make an in-memory frame readable under a name."""

    def close(self) -> None:
        """Let go of everything."""
