"""What the ledger needs of a store: transactions that write, and transactions that read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias


class StoreCursor(Protocol):
    """The rows that a statement gave."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def __iter__(self) -> Iterator[Any]: ...


class StoreConnection(Protocol):
    """A transaction that the caller began and will end.

    Statements are in the SQL that SQLite and Postgres share, with question marks for values. Texts are kept as
    they are, whatever letters they have, and compared byte by byte.
    """

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> StoreCursor:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement for each row."""

    def scan(self, statement: str, /) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a statement, few at a time: all together may not fit into memory."""

    def lookup_expression(self, text: str, /) -> str:
        """Return the expression by which a text is looked up where people choose it, who may choose long ones."""

    def version(self) -> str | None:
        """Return the version of the ledger's schema; None if it has none."""

    def tables(self) -> set[str]:
        """Return the names of the ledger's tables that there are."""

    def damage(self) -> Iterator[str]:
        """Return what the store itself finds damaged, one sentence each."""


# What puts rows into the tables of a ledger that is being made, before they are guarded.
Fill: TypeAlias = Callable[[StoreConnection], None]


class LedgerStore(Protocol):
    """Transactions on one ledger.

    Guarantee:
        `writing` is one transaction, alone among all that write to this ledger, wherever they run; it is durable
        when it ends without an exception, and with one, nothing of it remains. But after an interrupt as it ends,
        or an error that says so, the outcome is unknown: it is whole, or nothing. `reading` sees the whole
        transactions of one moment.
    """

    @property
    def name(self) -> str:
        """Where it is, as people write it. No password is in it."""

    @property
    def durable(self) -> bool:
        """Whether it outlives the process."""

    def identity(self) -> str:
        """Return the name of the ledger, which is random and its own for ever."""

    def reading(self) -> AbstractContextManager[StoreConnection]:
        """Give a connection that reads, at one moment."""

    def writing(self) -> AbstractContextManager[StoreConnection]:
        """Give a connection that writes: all of it durably, or nothing."""

    def close(self) -> None:
        """Close it for good."""


class MoveTarget(Protocol):
    """A place that a ledger can be moved to."""

    @property
    def name(self) -> str:
        """Where it is, as people write it. No password is in it."""

    def check(self, source: StoreConnection) -> None:
        """Refuse a place that cannot be reached or written, that holds a ledger, or that cannot keep this one."""

    def take(self, fill: Fill) -> bool:
        """Make a ledger with what `fill` puts into it, whole or not at all; False if there is one already."""
