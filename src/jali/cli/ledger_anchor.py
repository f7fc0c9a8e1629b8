"""`jali ledger anchor`: where the last head is kept outside of the ledger, and a signed head to print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.options import AsJson, DatabasePath
from jali.cli.writing import write_json

if TYPE_CHECKING:
    from jali.ledger import StoredLedger
    from jali.ledger.signing import SignedHead


def anchor(
    database: DatabasePath,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Keep the head there as well from now on: a directory, postgresql://USER@HOST/NAME or "
            "https://HOST/PATH; [bold]none[/bold] for the file beside the database alone.",
        ),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign the head with a private Ed25519 key, a PEM file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the head to a file, as JSON.")] = None,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew",
            help="The anchor is lost or damaged, and this is the latest state of the ledger: begin it anew.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show where the last head of the ledger is kept outside of it, and the head itself.

    A head is written there before an answer leaves. A ledger that lacks an anchored head was rolled back: it is
    refused when it is opened. Keep a second anchor where it is not lost or restored together with the ledger.

    Example: [bold]jali ledger anchor clinic.jali --sign curator.pem --out head.json[/bold]
    """
    from jali.ledger.opening import open_ledger
    from jali.ledger.signing import sign_head

    with open_ledger(database, create=False, checked=not renew) as ledger:
        if renew:
            ledger.renew_anchors()
        if to is not None:
            ledger.anchor_at("" if to == "none" else to)
    with open_ledger(database, create=False) as ledger:
        head = sign_head(ledger.store.identity(), ledger.now(), sign)
        places = _places(ledger)
    if out is not None:
        out.write_text(json.dumps(head.to_json(), indent=1, sort_keys=True) + "\n")
    if as_json:
        write_json({"anchors": places, "head": head.to_json()})
        return
    _print(places, head)


def _places(ledger: StoredLedger) -> list[dict[str, Any]]:
    found = [(anchor.name, anchor.last()) for anchor in ledger.transactions.anchors.all]
    return [{"place": name, "entries": None if last is None else last.head.seq} for name, last in found]


def _print(places: list[dict[str, Any]], head: SignedHead) -> None:
    from jali.display.text import clean, facts

    known = [("Anchor", f"{clean(place['place'])}: {place['entries']:,} entries") for place in places]
    spent = [(clean(name), str(account.spent)) for name, account in head.anchored.accounts.items()]
    signed = [("Signature", head.signature), ("Public key", head.public_key)] if head.signature else []
    print(
        facts(
            [
                *known,
                ("Head", head.anchored.head.digest),
                ("Entries", f"{head.anchored.head.seq:,}"),
                *((f"Spent of {name}", text) for name, text in spent),
                *signed,
            ]
        )
    )
