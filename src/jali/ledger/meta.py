"""The facts of a ledger about itself: its schema, its name, and secret keys, under one checksum.

None of them is in the chain: keys are secret, and a ledger keeps its name when its entries are moved elsewhere.
"""

from __future__ import annotations

import secrets

from jali.ledger.chain import canonical, fingerprint
from jali.ledger.damage import damaged, decoding
from jali.ledger.stores.store import Connection

_CHECK = "check"
_DIGITS = 16


def read_fact(connection: Connection, name: str) -> str | None:
    """Return a fact; None if it was never written. A changed byte in any of them is an error."""
    with decoding():
        facts = dict(connection.execute("SELECT name, value FROM meta"))
        sound = facts.pop(_CHECK, None) == _checksum(facts)
    if not sound:
        raise damaged("damage-identity")
    return facts.get(name)


def write_fact(connection: Connection, name: str, value: str) -> None:
    """Write a fact, inside a transaction that writes."""
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
    )
    seal_facts(connection)


def seal_facts(connection: Connection) -> None:
    """Compute the checksum of all facts, inside a transaction that has written some."""
    facts = dict(connection.execute("SELECT name, value FROM meta"))
    facts.pop(_CHECK, None)
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (_CHECK, _checksum(facts)),
    )


def read_key(connection: Connection, name: str) -> bytes | None:
    """Return a secret key of the ledger; None if it was never made."""
    found = read_fact(connection, name)
    return None if found is None else bytes.fromhex(found)


def make_key(connection: Connection, name: str) -> bytes:
    """Make a secret key, inside a transaction that writes."""
    text = secrets.token_hex(32)
    write_fact(connection, name, text)
    return bytes.fromhex(text)


def _checksum(facts: dict[str, str]) -> str:
    return fingerprint(canonical(sorted(facts.items())))[:_DIGITS]
