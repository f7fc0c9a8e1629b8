"""`jali ledger move`: from a file to Postgres, or back."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.options import AsJson
from jali.cli.writing import write_json


def move(
    source: Annotated[str, typer.Argument(metavar="DATABASE", help="The database that moves.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A file that is not there yet; or postgresql://USER@HOST/NAME."),
    ],
    as_json: AsJson = False,
) -> None:
    """Move a ledger, with everything in it, to another file or to Postgres. Nothing is spent or lost.

    The old one refuses every debit from the first moment on, and says where it has moved to.
    If the move is cut off, the same command finishes it.

    Example: [bold]jali ledger move clinic.jali postgresql://jali@db.example.org/clinic[/bold]
    """
    from jali.ledger.moving import move_ledger

    moved = move_ledger(source, target)
    if as_json:
        write_json({"source": moved.source, "target": moved.target, "entries": moved.entries, "head": moved.head})
        return
    print(f"Moved to {moved.target}: {moved.entries:,} entries, and the ledger is sound there.")
    print(f"Nothing is charged to {moved.source} any more. Head: {moved.head}")
