"""The inspection: the replay of a file's entries, held against everything else in the file."""

from __future__ import annotations

from collections.abc import Iterator

from jali.errors import LedgerError
from jali.ledger.chain import Entry, fingerprint
from jali.ledger.meta import read_fact
from jali.ledger.replay import Replay
from jali.ledger.rows import ROWS
from jali.ledger.stores.store import Connection
from jali.ledger.stream_inspection import stream_findings
from jali.ledger.verification import Verification


def inspect(
    connection: Connection, noted: str | None, *, sealed: bool = True, guarded: bool = True
) -> Verification:
    """Replay all entries, and compare plans, answers and sums with what they say.

    Args:
        connection: The ledger.
        noted: A head that must be in the chain.
        sealed: Whether entries must name all rows: not before an upgrade.
        guarded: Whether the schema must have all its guards: not while it is filled.
    """
    replay = Replay()
    for row in connection.scan("SELECT seq, kind, body, previous, digest, form FROM entries ORDER BY seq"):
        replay.step(Entry(*row))
    found = [
        *(connection.damage() if guarded else ()),
        *_facts(connection, sealed=sealed),
        *replay.problems,
        *_texts(connection, "plans", replay.plans()),
        *_texts(connection, "answers", replay.answers()),
        *_rows(connection, replay, sealed=sealed),
        *stream_findings(connection, replay.ticks()),
    ]
    if noted is not None and noted not in replay.heads:
        found.append("The noted head is not in the chain: the tail was cut off, or this is another ledger.")
    return Verification(replay.entries, replay.receipts, replay.open, replay.spent, tuple(found), replay.head)


def _facts(connection: Connection, *, sealed: bool) -> Iterator[str]:
    """Check the facts that are in no entry."""
    try:
        read_fact(connection, "schema")
    except LedgerError as error:
        if sealed:
            yield error.message


def _texts(connection: Connection, table: str, digests: dict[str, str]) -> Iterator[str]:
    """Compare long texts with their digests, one at a time: they may not fit into memory together."""
    missing = dict(digests)
    for receipt, body in connection.scan(f"SELECT receipt, body FROM {table}"):
        if missing.pop(receipt, None) != fingerprint(str(body)):
            yield f"The text of {receipt} in {table} is not the one in its entry."
    for receipt in missing:
        yield f"The text of {receipt} in {table} is missing."


def _rows(connection: Connection, replay: Replay, *, sealed: bool) -> Iterator[str]:
    known = connection.tables()
    for table, expected in replay.rows().items():
        if table not in known:
            yield f"The table {table} is missing."
            continue
        actual = set(connection.scan(ROWS[table].select))
        if sealed and any(row[-1] == 0 for row in expected) and not replay.moved:
            yield f"Rows of {table} are named by no entry."
        for row in sorted(actual ^ expected, key=repr):
            state = "does not follow from the entries" if row in actual else "is missing"
            yield f"A row of {table} {state}: {row}."
