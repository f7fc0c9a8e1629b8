"""Transactions on a ledger: each sees a chain that its anchor is part of, and is anchored before anything leaves.

Statement:
    1. A transaction that writes begins only if the chain contains the last head that was anchored: a ledger that
       was rolled back, or lost its journal, is charged no more.
    2. An answer leaves only when an anchor is durable that covers the entry which released it.
    3. Whatever cannot be read of a stored value is a `LedgerError`.
Proof:
    docs/proofs/ledger.md, "The anchor".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from jali.errors import LedgerError
from jali.ledger.anchors import NO_ANCHORS, AnchoredAccount, AnchoredHead, Anchors
from jali.ledger.chain import ChainHead, EntryKind, detect_damage
from jali.ledger.ledger_schema import VERSION
from jali.ledger.ledger_tables import LedgerAccount, LedgerTables
from jali.ledger.stores.base import LedgerStore

# After these nothing leaves: were their anchor lost with the power, no answer would be without its debit.
_NOTHING_LEAVES = frozenset({EntryKind.RESERVE, EntryKind.ATTEMPT})


class Transactions:
    """Transactions on one store, with its anchors."""

    def __init__(self, store: LedgerStore, anchors: Anchors = NO_ANCHORS) -> None:
        self.store = store
        self.anchors = anchors
        self._epoch: int | None = None
        self._settled = 0

    @contextmanager
    def reading(self) -> Iterator[LedgerTables]:
        """Give the tables as they are at one moment."""
        with detect_damage(), self.store.reading() as connection:
            yield LedgerTables(connection)

    @contextmanager
    def writing(self, *, checked: bool = True, anchored: bool = True) -> Iterator[LedgerTables]:
        """Give the tables to be written: all of it durably and anchored, or nothing.

        Args:
            checked: Whether the chain must contain the last head that was anchored.
            anchored: Whether the head is anchored in the end; otherwise the caller does.
        """
        # Before the transaction begins: what is anchored later may not be in what it sees.
        known = self.anchors.last() if checked else None
        with detect_damage(), self.store.writing() as connection:
            _check_schema(connection.version(), self.store.name)
            tables = LedgerTables(connection)
            if checked:
                self._check(tables, known)
            before = tables.head
            yield tables
            tables.check_complete()
            head, changed, kinds, epoch = tables.head, tables.changes, tables.kinds, self._epoch_of(tables)
        if anchored and head != before:
            self._anchor(_build_anchored(epoch, head, changed), durable=not kinds <= _NOTHING_LEAVES)

    def check(self, *, catch_up: bool = True) -> None:
        """Refuse a ledger that does not contain the last head that was anchored.

        Args:
            catch_up: Whether to anchor the head of a ledger that was cut off before it could be.
        """
        if not self.anchors:
            return
        known = self.anchors.last()
        with self.reading() as tables:
            self._check(tables, known)
            found = self.now(tables)
        if catch_up and (known is None or known.order < found.order):
            self._anchor(found, durable=True)

    def now(self, tables: LedgerTables) -> AnchoredHead:
        """Return the head with the sums of all accounts."""
        accounts = {name: account for name in tables.accounts() if (account := tables.account(name)) is not None}
        return _build_anchored(self._epoch_of(tables), tables.head, accounts)

    def settle(self, seq: int) -> None:
        """Make sure that an anchor covers an entry, before what it released leaves."""
        if seq <= self._settled or not self.anchors:
            return
        with self.reading() as tables:
            head, epoch = tables.head, self._epoch_of(tables)
        self._anchor(AnchoredHead(epoch, head), durable=True)

    def _anchor(self, anchored: AnchoredHead, *, durable: bool) -> None:
        self.anchors.write(anchored, durable=durable)
        if durable:
            self._settled = max(self._settled, anchored.head.seq)

    def _check(self, tables: LedgerTables, known: AnchoredHead | None) -> None:
        if known is None:
            return
        epoch = self._epoch_of(tables)
        if epoch < known.epoch or (epoch == known.epoch and tables.digest(known.head.seq) != known.head.digest):
            raise behind(self.store.name, tables.head.seq, known.head.seq)

    def _epoch_of(self, tables: LedgerTables) -> int:
        """Return how often the ledger was recovered; nobody else can change that while this process uses it."""
        if self._epoch is None or EntryKind.RESTORE in tables.kinds:
            self._epoch = tables.epoch()
        return self._epoch


def _build_anchored(epoch: int, head: ChainHead, accounts: Mapping[str, LedgerAccount]) -> AnchoredHead:
    known = {name: AnchoredAccount(found.budget, found.spent, head.seq) for name, found in accounts.items()}
    return AnchoredHead(epoch, head, known)


def behind(name: str, here: int, anchored: int) -> LedgerError:
    """Build the error of a ledger that lacks entries which were anchored."""
    return LedgerError("ledger-behind", ledger=name, anchored=anchored, here=here)


def _check_schema(found: str | None, name: str) -> None:
    """Refuse to write a ledger that a later version of Jali has upgraded while this one had it open."""
    if found != VERSION:
        raise LedgerError("ledger-schema-upgraded", ledger=name, schema=found)
