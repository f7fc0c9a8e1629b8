"""The inspection: the replay of a file's entries, held against everything else in the file."""

from __future__ import annotations

from collections.abc import Iterator

from jali.ledger.chain import Entry, fingerprint
from jali.ledger.replay import Replay
from jali.ledger.stores.store import Connection
from jali.ledger.stream_inspection import stream_findings
from jali.ledger.verification import Verification


def inspect(connection: Connection, noted: str | None) -> Verification:
    """Replay all entries, and compare plans, answers and sums with what they say."""
    replay = Replay()
    for row in connection.scan("SELECT seq, kind, body, previous, digest FROM entries ORDER BY seq"):
        replay.step(Entry(*row))
    found = [
        *connection.damage(),
        *replay.problems,
        *_texts(connection, "plans", replay.plans()),
        *_texts(connection, "answers", replay.answers()),
        *_rows(connection, replay),
        *stream_findings(connection, replay.ticks()),
    ]
    if noted is not None and noted not in replay.heads:
        found.append("The noted head is not in the chain: the tail was cut off, or this is another ledger.")
    return Verification(replay.entries, replay.receipts, replay.open, replay.spent, tuple(found), replay.head)


def _texts(connection: Connection, table: str, digests: dict[str, str]) -> Iterator[str]:
    """Compare long texts with their digests, one at a time: they may not fit into memory together."""
    missing = dict(digests)
    for receipt, body in connection.scan(f"SELECT receipt, body FROM {table}"):
        if missing.pop(receipt, None) != fingerprint(str(body)):
            yield f"The text of {receipt} in {table} is not the one in its entry."
    for receipt in missing:
        yield f"The text of {receipt} in {table} is missing."


def _rows(connection: Connection, replay: Replay) -> Iterator[str]:
    known = connection.tables()
    for table, expected in replay.rows().items():
        # A ledger of schema 1 has no tables of parts, one of schema 2 none of streams.
        actual = set(connection.scan(f"SELECT * FROM {table}")) if table in known else set()
        for row in sorted(actual ^ expected, key=repr):
            state = "does not follow from the entries" if row in actual else "is missing"
            yield f"A row of {table} {state}: {row}."
