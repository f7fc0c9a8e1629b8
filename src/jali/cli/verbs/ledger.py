"""`jali ledger`: show accounts and receipts; anchor, move and recover a ledger."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from jali.cli.options import AsJson, DatabasePath, open_database
from jali.cli.output import choose_ink, write_json
from jali.client.account_documents import encode_account, encode_receipt
from jali.display.text import Ink, TextColumn, clean, write_table

if TYPE_CHECKING:
    from jali.database import Account, Database
    from jali.ledger import Ledger, Receipt
    from jali.ledger.recover import Recovery
    from jali.ledger.signed_heads import SignedHead
    from jali.privacy import Event


_QUESTION_WIDTH = 34
_HAS_SUBVERB = "jali ledger: a second word"


class LedgerGroup(TyperGroup):
    """The verb `jali ledger DATABASE`, and what else is done with ledgers: move, anchor, recover."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read a database, with options before and after it; none before the word that says what else is done."""
        ctx.meta[_HAS_SUBVERB] = bool(args) and args[0] in self.commands
        ctx.allow_interspersed_args = not ctx.meta[_HAS_SUBVERB]
        rest = super().parse_args(ctx, args)
        ctx.params.setdefault("database", "")
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        """Return what is read, and shown in the usage."""
        found = super().get_params(ctx)
        return [param for param in found if param.name != "database"] if ctx.meta.get(_HAS_SUBVERB) else found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find what is to be done; any other word is one too many, as it is for every verb."""
        if not ctx.meta[_HAS_SUBVERB]:
            ctx.fail(f"Got unexpected extra argument(s) ({' '.join(args)})")
        return super().resolve_command(ctx, args)


def ledger(
    context: typer.Context,
    database: DatabasePath,
    analyst: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the grants and receipts of one analyst.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show budget, spent and remaining loss of every account, and every receipt with its state.

    `jali ledger move` moves a ledger between a file and Postgres, `jali ledger anchor` shows where its last head
    is kept, and `jali ledger recover` continues from an older copy.

    Example: [bold]jali ledger clinic.jali --analyst ana[/bold]
    """
    if context.invoked_subcommand is not None:
        return
    with open_database(database) as opened:
        accounts = opened.ledger.accounts() if analyst is None else _find_accounts(analyst, opened)
        receipts = opened.receipts(analyst=analyst)
    if as_json:
        write_json(
            {"accounts": [encode_account(a) for a in accounts], "receipts": [encode_receipt(r) for r in receipts]}
        )
        return
    if not accounts:
        print("No table is protected yet." if analyst is None else f"{clean(analyst)} has no grant.")
    if accounts or receipts:
        _write_ledger(accounts, receipts, choose_ink(sys.stdout))
    if any(r.state == "open" for r in receipts):
        print(f"\nOpen receipts are reserved and not answered: jali redeem {shlex.quote(database)} RECEIPT")


def _find_accounts(analyst: str, database: Database) -> tuple[Account, ...]:
    """Return the grants of an analyst and the tables they are on."""
    from jali.ledger.charge import grant_account, table_account

    known = {account.name: account for account in database.ledger.accounts()}
    granted = [table.name for table in database.tables.list() if grant_account(analyst, table.name) in known]
    names = {name for table in granted for name in (table_account(table), grant_account(analyst, table))}
    return tuple(account for name, account in known.items() if name in names)


def _write_ledger(accounts: Sequence[Account], receipts: Sequence[Receipt], ink: Ink) -> None:
    if accounts:
        print(_format_accounts(accounts, ink))
        print(ink.faint("\nRemaining is the largest loss of either kind that one further question could have."))
        if any(a.budget.delta for a in accounts):
            print(ink.faint("Delta is for choosing groups; the rest of a budget's delta pays for adding up."))
    if any(a.parts for a in accounts):
        print(f"\n{_format_parts(accounts, ink)}")
        print(
            ink.faint(
                "\nOf the subpopulations of one table and column, an account counts the largest, or largest pair."
            )
        )
    print()
    print(_format_receipts(receipts, ink) if receipts else "No question was asked yet.")


def _format_accounts(accounts: Sequence[Account], ink: Ink) -> str:
    from jali.privacy import decimal

    return write_table(
        [
            TextColumn("account", tuple(clean(a.name) for a in accounts)),
            TextColumn("budget", tuple(str(a.budget) for a in accounts)),
            TextColumn("spent", tuple(_format_loss(a.spent) for a in accounts)),
            TextColumn("left: epsilon", tuple(decimal(a.remaining.epsilon) for a in accounts), right=True),
            TextColumn("or rho", tuple(decimal(a.remaining.rho) for a in accounts), right=True),
            *([] if all(a.budget.delta == 0 for a in accounts) else [_build_delta_column(accounts)]),
        ],
        ink=ink,
    )


def _format_parts(accounts: Sequence[Account], ink: Ink) -> str:
    lines = [(account.name, line) for account in accounts for line in account.parts]
    return write_table(
        [
            TextColumn("account", tuple(clean(name) for name, _ in lines)),
            TextColumn(
                "part", tuple(clean(f"{line.key} of {line.scheme.rpartition(' [')[0]}") for _, line in lines)
            ),
            TextColumn("spent", tuple(_format_loss(line.spent) for _, line in lines)),
        ],
        ink=ink,
    )


def _build_delta_column(accounts: Sequence[Account]) -> TextColumn:
    from jali.privacy import decimal

    return TextColumn("and delta", tuple(decimal(a.remaining.delta) for a in accounts), right=True)


def _format_receipts(receipts: Sequence[Receipt], ink: Ink) -> str:
    return write_table(
        [
            TextColumn("receipt", tuple(r.id for r in receipts)),
            TextColumn("state", tuple(r.state.value for r in receipts)),
            TextColumn("analyst", tuple(clean(r.analyst) for r in receipts)),
            TextColumn("cost", tuple(_format_cost(r) for r in receipts)),
            TextColumn("question", tuple(_shorten_question(r.question) for r in receipts)),
        ],
        ink=ink,
    )


def _format_cost(receipt: Receipt) -> str:
    """Write what a question cost; where tables were charged differently, the largest amount, marked as such."""
    events = {debit.event for debit in receipt.debits}
    largest = max(events, key=lambda event: event.amount)
    return f"{largest}, less elsewhere" if len(events) > 1 else str(largest)


def _shorten_question(question: str) -> str:
    text = clean(" ".join(question.split()))
    return text if len(text) <= _QUESTION_WIDTH else text[: _QUESTION_WIDTH - 1] + "…"


def _format_loss(event: Event) -> str:
    return "nothing" if event.amount == 0 else str(event)


def anchor(
    database: DatabasePath,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Also keep the head there from now on: a directory, postgresql://USER@HOST/NAME or "
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
            help="Start a new anchor: the old one is lost or damaged, and this is the latest state of the ledger.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the last head of the ledger and where it is kept outside of the ledger.

    A head is written there before an answer is released. A ledger without an anchored head was rolled back and is
    refused when opened. Keep a second anchor where it is not lost or restored together with the ledger.

    Example: [bold]jali ledger anchor clinic.jali --sign curator.pem --out head.json[/bold]
    """
    from jali.ledger.ledger_opening import open_ledger
    from jali.ledger.signed_heads import sign_head

    with open_ledger(database, create=False, checked=not renew) as ledger:
        if renew:
            ledger.renew_anchors()
        if to is not None:
            ledger.anchor_at("" if to == "none" else to)
    with open_ledger(database, create=False) as ledger:
        head = sign_head(ledger.store.identity(), ledger.now(), sign)
        places = _list_places(ledger)
    if out is not None:
        out.write_text(json.dumps(head.to_json(), indent=1, sort_keys=True) + "\n")
    if as_json:
        write_json({"anchors": places, "head": head.to_json()})
        return
    _print_anchor(places, head)


def _list_places(ledger: Ledger) -> list[dict[str, Any]]:
    found = [(anchor.name, anchor.last()) for anchor in ledger.transactions.anchors.all]
    return [{"place": name, "entries": None if last is None else last.head.seq} for name, last in found]


def _print_anchor(places: list[dict[str, Any]], head: SignedHead) -> None:
    from jali.display.text import clean, write_facts

    known = [("Anchor", f"{clean(place['place'])}: {place['entries']:,} entries") for place in places]
    spent = [(clean(name), str(account.spent)) for name, account in head.anchored.accounts.items()]
    signed = [("Signature", head.signature), ("Public key", head.public_key)] if head.signature else []
    print(
        write_facts(
            [
                *known,
                ("Head", head.anchored.head.digest),
                ("Entries", f"{head.anchored.head.seq:,}"),
                *((f"Spent of {name}", text) for name, text in spent),
                *signed,
            ]
        )
    )


def move(
    source: Annotated[str, typer.Argument(metavar="DATABASE", help="The database to move.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A new file; or postgresql://USER@HOST/NAME."),
    ],
    as_json: AsJson = False,
) -> None:
    """Move a ledger with all of its contents to another file or to Postgres. Nothing is spent or lost.

    The old ledger refuses every charge at once, and names the new place.
    If the move is interrupted, the same command finishes it.

    Example: [bold]jali ledger move clinic.jali postgresql://jali@db.example.org/clinic[/bold]
    """
    from jali.ledger.migrate import move_ledger

    moved = move_ledger(source, target)
    if as_json:
        write_json({"source": moved.source, "target": moved.target, "entries": moved.entries, "head": moved.head})
        return
    print(f"Moved to {moved.target}: {moved.entries:,} entries, and the ledger is sound there.")
    print(f"Nothing is charged to {moved.source} any more. Head: {moved.head}")


_CONFIRMATION = (
    "Is the latest state of this ledger permanently lost? Open receipts can then not be redeemed, streams end, "
    "and all tokens are revoked."
)


def recover(
    database: DatabasePath,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask for confirmation: the latest state is permanently lost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Continue a ledger from an older copy. Everything that its anchor records as spent is charged to it.

    First try to restore the latest state with its journal (the file ending in -wal): then nothing is lost.

    Example: [bold]jali ledger recover clinic.jali[/bold]
    """
    from jali.ledger.ledger_opening import open_ledger
    from jali.ledger.recover import recover as recover_ledger

    if not yes and not as_json and not typer.confirm(_CONFIRMATION):
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
    _print_recovery(found)


def _print_recovery(found: Recovery) -> None:
    from jali.display.text import clean, write_facts

    print("The ledger goes on.")
    print(
        write_facts(
            [
                ("Lost", f"{found.lost:,} entries"),
                *((f"Charged to {clean(name)}", str(event)) for name, event in found.charged.items()),
                ("Closed", f"{found.receipts:,} receipts, {found.streams:,} streams, {found.tokens:,} tokens"),
            ]
        )
    )
