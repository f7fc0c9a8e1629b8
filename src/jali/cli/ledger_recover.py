"""`jali ledger recover`: go on from an older copy, with everything charged that the anchor knows of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.options import AsJson, DatabasePath
from jali.cli.writing import write_json

if TYPE_CHECKING:
    from jali.ledger.recover import Recovery

_QUESTION = (
    "The latest state of this ledger is lost for good? Open receipts can no longer be redeemed then, streams end, "
    "and all tokens are revoked."
)


def recover(
    database: DatabasePath,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: the latest state is lost for good.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a ledger go on from an older copy. Everything that its anchor knows was spent is charged to it.

    First try to put the latest state back, with its journal (the file ending in -wal): then nothing is lost.

    Example: [bold]jali ledger recover clinic.jali[/bold]
    """
    from jali.ledger.opening import open_ledger
    from jali.ledger.recover import recover as recover_ledger

    if not yes and not as_json and not typer.confirm(_QUESTION):
        raise typer.Abort
    with open_ledger(database, create=False, checked=False) as ledger:
        found = recover_ledger(ledger)
    if as_json:
        charged = {name: str(event) for name, event in found.charged.items()}
        write_json(
            {
                "lost_entries": found.lost,
                "charged": charged,
                "closed_receipts": found.receipts,
                "ended_streams": found.streams,
                "revoked_tokens": found.tokens,
            }
        )
        return
    _print(found)


def _print(found: Recovery) -> None:
    from jali.display.text import clean, facts

    print("The ledger goes on.")
    print(
        facts(
            [
                ("Lost", f"{found.lost:,} entries"),
                *((f"Charged to {clean(name)}", str(event)) for name, event in found.charged.items()),
                ("Closed", f"{found.receipts:,} receipts, {found.streams:,} streams, {found.tokens:,} tokens"),
            ]
        )
    )
