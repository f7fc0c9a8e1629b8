"""`jali verify`: replay the ledger, and compare it with a head that was kept elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.errors import FAILED
from jali.cli.options import AsJson, DatabasePath
from jali.cli.output import write_json
from jali.errors import LedgerError

if TYPE_CHECKING:
    from jali.ledger import Ledger, Verification


def verify(
    database: DatabasePath,
    anchor: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A head written by `jali ledger anchor --out`, which the ledger must contain."
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The public key that must have signed the head: a PEM file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify the ledger by replaying all entries, independently of its stored sums.

    A copy can be verified as well, without an anchor. The exit code is 5 if there is a problem.

    Example: [bold]jali verify clinic.jali --anchor head.json --public-key curator.pub[/bold]
    """
    found, notes = _replay_ledger(database, anchor, public_key)
    if as_json:
        write_json(
            {
                "sound": not found.problems,
                "entries": found.entries,
                "receipts": found.receipts,
                "open": found.open,
                "problems": list(found.problems),
                "notes": notes,
                "head": found.head,
            }
        )
    else:
        from jali.display.text import clean, write_facts

        print("The ledger is sound." if not found.problems else "The ledger is NOT sound.")
        lines = [("Entries", f"{found.entries:,}"), ("Receipts", f"{found.receipts:,}, {found.open:,} open")]
        lines += [("Problem", clean(problem)) for problem in found.problems]
        lines += [("Note", clean(note)) for note in notes]
        print(write_facts([*lines, ("Head", found.head)]))
    if found.problems:
        raise typer.Exit(FAILED)


# What does not speak against the ledger itself: a copy has no anchor beside it.
_NOTE_CODES = ("anchor-missing", "anchor-away", "anchor-away-file")


def _replay_ledger(database: str, anchor: Path | None, public_key: Path | None) -> tuple[Verification, list[str]]:
    """Replay the ledger; compare it with a head that was kept elsewhere, and with its own anchor."""
    from jali.ledger.ledger_opening import open_ledger

    with open_ledger(database, create=False, checked=False) as ledger:
        found = ledger.verify()
        problems, notes = list(found.problems), list[str]()
        try:
            ledger.transactions.check(catch_up=False)
        except LedgerError as error:
            (notes if error.code in _NOTE_CODES else problems).append(error.message)
        if anchor is not None:
            problems += _compare_head(ledger, anchor, public_key)
    return replace(found, problems=tuple(problems)), notes


def _compare_head(ledger: Ledger, path: Path, public_key: Path | None) -> Iterator[str]:
    from jali.ledger.signed_heads import read_head, read_public_key

    head = read_head(path)
    if public_key is not None and not head.is_signed_by(read_public_key(public_key)):
        yield f"{path} is not signed by the key in {public_key}."
    if head.ledger != ledger.store.identity():
        yield f"{path} is the head of another ledger."
    elif not ledger.contains(head.anchored):
        yield (
            f"The head in {path}, entry {head.anchored.head.seq:,} of {head.at}, is not in the chain: "
            "the ledger was cut, rewritten or replaced by an older copy."
        )
