"""The ledger in one SQLite file, or in memory."""

from __future__ import annotations

from pathlib import Path

from jali.ledger.anchor_places import anchors_of
from jali.ledger.stored import StoredLedger
from jali.ledger.stores.sqlite.file import anchor_of
from jali.ledger.stores.sqlite.store import SqliteStore


class SqliteLedger(StoredLedger):
    """The ledger of one file, for any number of threads and processes on one machine.

    Args:
        path: The file; it is made, readable by its owner only, if there is none. None keeps everything in
            memory: nothing survives the process then, and `durable` is False.
        patience: How many seconds to wait for others before giving up.
        checked: Whether the ledger must contain the last head that was anchored: not to look at a copy.

    Guarantee:
        As `Ledger`: at every moment, also after a crash, an account's sum covers all answers given.
        Every write is on disk when its method returns. Nothing is ever refunded.
    Proof:
        docs/proofs/ledger.md.

    Example:
        >>> from jali.ledger import Debit
        >>> from jali.privacy import Budget, Pure
        >>> ledger = SqliteLedger(None)
        >>> ledger.open_account("table visits", Budget(1))
        >>> debits = (Debit("table visits", Pure(0.1).event),)
        >>> receipt = ledger.reserve(analyst="ana", question="?", key="k", plan="{}", debits=debits)
        >>> ledger.release(receipt, "42"), ledger.release(receipt, "43")
        ('42', '42')
        >>> str(ledger.spent("table visits"))
        'epsilon 0.1'
    """

    def __init__(self, path: Path | None, *, patience: float = 60.0, checked: bool = True) -> None:
        store = SqliteStore(path, patience)
        own = None if path is None else anchor_of(path.resolve())
        super().__init__(store, lambda: anchors_of(store, own), checked=checked)
