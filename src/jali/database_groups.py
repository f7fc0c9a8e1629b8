"""The less frequent methods of a database in groups: `db.tables`, `db.streams` and `db.ledger`.

`db.access` is `jali.execution.access_tokens.Access`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.execution.ask import QuestionRunner
from jali.execution.reservation import Stage, ignore_stage
from jali.ledger import Ledger, Receipt

if TYPE_CHECKING:
    from jali.catalog.tables import Catalog, Public, Table
    from jali.catalog.value_domain import Value
    from jali.execution.accounts import Account, Accounts
    from jali.execution.ask_batch import BatchRunner
    from jali.execution.data_guard import DataGuard, DataState
    from jali.execution.declared_tables import DeclaredTables
    from jali.execution.streams.durable_streams import DurableStreams
    from jali.stream import StreamView


@dataclass(frozen=True)
class DatabaseTables:
    """The declared tables, and what is known of their data: `db.tables`."""

    _declared: DeclaredTables
    _guard: DataGuard
    _asking: QuestionRunner

    def __repr__(self) -> str:
        return f"<tables: {', '.join(self._declared.map_by_name()) or 'none'}>"

    def list(self) -> tuple[Table, ...]:
        """Return the protected tables, as declared."""
        return self._declared.list_protected()

    def list_public(self) -> tuple[Public, ...]:
        """Return the public tables, as declared."""
        return self._declared.list_public()

    @property
    def catalog(self) -> Catalog:
        """All declared tables."""
        return self._declared.build_catalog()

    def find(self, name: str) -> Table:
        """Return a protected table, or refuse and name those there are."""
        return self._declared.find_protected(name)

    def version(self, table: str) -> int:
        """Return how many different declarations a table has had; 0 if it has none."""
        return self._declared.find_version(table)

    def partition_keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the keys of the subpopulations of a table by an expression. They are declared, not read."""
        return self._asking.parts.keys(self.find(table).name, by)

    def state(self, table: str) -> DataState:
        """Return what is known of the data of a table: whether it was checked, and whether it is closed."""
        return self._guard.state(self._declared.find_table(table).name)

    def check(self, table: str, *, on_stage: Stage | None = None) -> DataState:
        """Read the data of a table in full, and open it if it was closed; return what was known of it before.

        An engine that fails on a question for a reason that may be the data's closes the table for everybody
        (docs/threat_model.md). If the data was changed since it was last checked, it is new: `refresh` it, or let
        this do so.
        """
        return self._declared.check(table, on_stage or ignore_stage)

    def attach(self, table: str, frame: Any) -> None:
        """Give the in-memory frame of a table, or its Spark session, again, after the database was reopened.

        Its values are copied. Other values than before are new data: questions are answered again.
        """
        self._declared.attach(table, frame)

    def drop_prepared(self, table: str) -> Table:
        """Delete the prepared copy of a table: questions read the source again, and are answered again."""
        return self._declared.drop_copy(table)

    if not TYPE_CHECKING:

        def __call__(self) -> tuple[Table, ...]:
            """Return the protected tables, for callers that still write `db.tables()`."""
            return _list_for_old_spelling(self, "tables()")


@dataclass(frozen=True)
class DatabaseStreams:
    """The streams of a database, to look at: `db.streams`. The curator's are made by `db.stream`."""

    _streams: DurableStreams

    def __repr__(self) -> str:
        return f"<streams: {', '.join(self.list()) or 'none'}>"

    def list(self) -> tuple[str, ...]:
        """Return the names of all streams."""
        return self._streams.names()

    def view(self, name: str) -> StreamView:
        """Return a stream as anybody may see it: what was published, and nothing else."""
        return self._streams.view(name)

    def bodies(self, name: str) -> tuple[str, ...]:
        """Return what a stream has published as the ledger keeps it, for a client that reads it itself."""
        return self._streams.bodies(self.view(name).declaration)

    if not TYPE_CHECKING:

        def __call__(self) -> tuple[str, ...]:
            """Return the names of all streams, for callers that still write `db.streams()`."""
            return _list_for_old_spelling(self, "streams()")


@dataclass(frozen=True)
class DatabaseLedger:
    """The accounts and receipts of a database beyond `db.receipts` and `db.verify`: `db.ledger`."""

    _ledger: Ledger
    _accounts: Accounts
    _asking: QuestionRunner
    _batches: BatchRunner

    def __repr__(self) -> str:
        return f"<ledger: {'on disk' if self.durable else 'in memory'}>"

    @property
    def durable(self) -> bool:
        """Whether what was spent survives the process."""
        return self._ledger.durable

    def accounts(self) -> tuple[Account, ...]:
        """Return every account with its budget, what was spent and what remains."""
        return self._accounts.all()

    def latest_receipts(self, most: int, *, analyst: str | None = None) -> tuple[Receipt, ...]:
        """Return the latest receipts of one analyst, or of all, the latest first."""
        return self._ledger.latest_receipts(analyst, most)

    def is_batch(self, receipt: str) -> bool:
        """Say whether a receipt is one of a batch."""
        return self._batches.holds(receipt, analyst=None)

    def failure(self, receipt: str) -> str | None:
        """Run the question of an open receipt once more, and return the engine's own words where it fails.

        They are for the curator alone: they may quote rows. Nothing is released or counted as an attempt.
        """
        return self._asking.failure(receipt)


def _list_for_old_spelling(group: DatabaseTables | DatabaseStreams, old: str) -> tuple[Any, ...]:
    from jali.deprecated import warn_of_method

    warn_of_method("Database", old, stacklevel=4)
    return group.list()
