"""The ledger in a Postgres database."""

from __future__ import annotations

from jali.ledger.anchor_places import anchors_of
from jali.ledger.stored import StoredLedger
from jali.ledger.stores.postgres.address import Address
from jali.ledger.stores.postgres.store import PostgresStore, exists


class PostgresLedger(StoredLedger):
    """The ledger of one schema of a database, for any number of servers on any number of machines.

    Args:
        address: The URL of the database, without a password; `?schema=` names a schema other than `jali`.
        patience: How many seconds to wait for others before giving up.
        create: Whether a ledger is made where there is none.
        checked: Whether the ledger must contain the last head that was anchored: not to look at a copy.

    Guarantee:
        As `Ledger`: at every moment, also after a crash, an account's sum covers all answers given.
        Every write is durable when its method returns. Nothing is ever refunded.
    Proof:
        docs/proofs/ledger.md, "In Postgres".
    """

    def __init__(
        self, address: str | Address, *, patience: float = 60.0, create: bool = True, checked: bool = True
    ) -> None:
        place = Address.of(address) if isinstance(address, str) else address
        store = PostgresStore(place, patience, create=create)
        super().__init__(store, lambda: anchors_of(store, None), checked=checked)


def has_ledger(address: str) -> bool:
    """Say whether there is a ledger at an address. None is made."""
    return exists(Address.of(address))
