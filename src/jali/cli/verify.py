"""`jali verify`: replay the ledger."""

from __future__ import annotations

import typer

from jali.cli.failures import FAILED
from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.writing import write_json


def verify(database: DatabasePath, as_json: AsJson = False) -> None:
    """Replay the ledger from its first entry, independently of the sums it keeps.

    Note the head elsewhere: it shows later whether the end of the ledger was cut off. The exit code is 5 if
    something does not hold.

    Example: [bold]jali verify clinic.jali[/bold]
    """
    with open_database(database) as opened:
        found = opened.verify()
    if as_json:
        write_json(
            {
                "sound": not found.problems,
                "entries": found.entries,
                "receipts": found.receipts,
                "open": found.open,
                "problems": list(found.problems),
                "head": found.head,
            }
        )
    else:
        from jali.display.text import clean, facts

        print("The ledger is sound." if not found.problems else "The ledger is NOT sound.")
        lines = [("Entries", f"{found.entries:,}"), ("Receipts", f"{found.receipts:,}, {found.open:,} open")]
        lines += [("Problem", clean(problem)) for problem in found.problems]
        print(facts([*lines, ("Head", found.head)]))
    if found.problems:
        raise typer.Exit(FAILED)
