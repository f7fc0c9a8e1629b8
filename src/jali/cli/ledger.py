"""`jali ledger`: the accounts and the receipts."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.ink import Ink
from jali.display.text import TextColumn, clean, table
from jali.documents.accounts import account_json, receipt_json

if TYPE_CHECKING:
    from jali.database import Account, Database
    from jali.ledger import Receipt
    from jali.privacy import Event

_QUESTION_WIDTH = 34
_SECOND = "jali ledger: a second word"


class Ledgers(TyperGroup):
    """The verb `jali ledger DATABASE`, and what else is done with ledgers: move, anchor, recover."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read a database, with options before and after it; none before the word that says what else is done."""
        ctx.meta[_SECOND] = bool(args) and args[0] in self.commands
        ctx.allow_interspersed_args = not ctx.meta[_SECOND]
        rest = super().parse_args(ctx, args)
        ctx.params.setdefault("database", "")
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        """Return what is read, and shown in the usage."""
        found = super().get_params(ctx)
        return [param for param in found if param.name != "database"] if ctx.meta.get(_SECOND) else found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find what is to be done; any other word is one too many, as it is for every verb."""
        if not ctx.meta[_SECOND]:
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
    """Show what may be spent, what was spent and what is left; and every receipt with its state.

    `jali ledger move` moves a ledger between a file and Postgres, `jali ledger anchor` shows where its last head
    is kept, and `jali ledger recover` goes on from an older copy.

    Example: [bold]jali ledger clinic.jali --analyst ana[/bold]
    """
    if context.invoked_subcommand is not None:
        return
    with open_database(database) as opened:
        accounts = opened.accounts() if analyst is None else _accounts_of(analyst, opened)
        receipts = opened.receipts(analyst=analyst)
    if as_json:
        write_json(
            {"accounts": [account_json(a) for a in accounts], "receipts": [receipt_json(r) for r in receipts]}
        )
        return
    if not accounts:
        print("No table is protected yet." if analyst is None else f"{clean(analyst)} has no grant.")
    if accounts or receipts:
        _write(accounts, receipts, ink_for(sys.stdout))
    if any(r.state == "open" for r in receipts):
        print(f"\nOpen receipts are paid and not answered: jali redeem {shlex.quote(database)} RECEIPT")


def _accounts_of(analyst: str, database: Database) -> tuple[Account, ...]:
    """Return the grants of an analyst and the tables they are on."""
    from jali.ledger.debit import grant_account, table_account

    known = {account.name: account for account in database.accounts()}
    granted = [table.name for table in database.tables() if grant_account(analyst, table.name) in known]
    names = {name for table in granted for name in (table_account(table), grant_account(analyst, table))}
    return tuple(account for name, account in known.items() if name in names)


def _write(accounts: Sequence[Account], receipts: Sequence[Receipt], ink: Ink) -> None:
    if accounts:
        print(_accounts_table(accounts, ink))
        print(ink.faint("\nLeft is the largest loss of either kind that one further question would be granted."))
        if any(a.budget.delta for a in accounts):
            print(ink.faint("Delta is for choosing groups; the rest of a budget's delta pays for adding up."))
    if any(a.parts for a in accounts):
        print(f"\n{_parts_table(accounts, ink)}")
        print(
            ink.faint(
                "\nOf the parts of one table and column, an account counts the dearest, or the dearest pair."
            )
        )
    print()
    print(_receipts_table(receipts, ink) if receipts else "No question was asked yet.")


def _accounts_table(accounts: Sequence[Account], ink: Ink) -> str:
    from jali.privacy import decimal

    return table(
        [
            TextColumn("account", tuple(clean(a.name) for a in accounts)),
            TextColumn("budget", tuple(str(a.budget) for a in accounts)),
            TextColumn("spent", tuple(_spent(a.spent) for a in accounts)),
            TextColumn("left: epsilon", tuple(decimal(a.remaining.epsilon) for a in accounts), right=True),
            TextColumn("or rho", tuple(decimal(a.remaining.rho) for a in accounts), right=True),
            *([] if all(a.budget.delta == 0 for a in accounts) else [_deltas(accounts)]),
        ],
        ink=ink,
    )


def _parts_table(accounts: Sequence[Account], ink: Ink) -> str:
    lines = [(account.name, line) for account in accounts for line in account.parts]
    return table(
        [
            TextColumn("account", tuple(clean(name) for name, _ in lines)),
            TextColumn(
                "part", tuple(clean(f"{line.key} of {line.scheme.rpartition(' [')[0]}") for _, line in lines)
            ),
            TextColumn("spent", tuple(_spent(line.spent) for _, line in lines)),
        ],
        ink=ink,
    )


def _deltas(accounts: Sequence[Account]) -> TextColumn:
    from jali.privacy import decimal

    return TextColumn("and delta", tuple(decimal(a.remaining.delta) for a in accounts), right=True)


def _receipts_table(receipts: Sequence[Receipt], ink: Ink) -> str:
    return table(
        [
            TextColumn("receipt", tuple(r.id for r in receipts)),
            TextColumn("state", tuple(r.state.value for r in receipts)),
            TextColumn("analyst", tuple(clean(r.analyst) for r in receipts)),
            TextColumn("cost", tuple(_cost(r) for r in receipts)),
            TextColumn("question", tuple(_short(r.question) for r in receipts)),
        ],
        ink=ink,
    )


def _cost(receipt: Receipt) -> str:
    """Write what a question cost; where tables paid differently, the dearest and that there are others."""
    events = {debit.event for debit in receipt.debits}
    dearest = max(events, key=lambda event: event.amount)
    return f"{dearest}, less elsewhere" if len(events) > 1 else str(dearest)


def _short(question: str) -> str:
    text = clean(" ".join(question.split()))
    return text if len(text) <= _QUESTION_WIDTH else text[: _QUESTION_WIDTH - 1] + "…"


def _spent(event: Event) -> str:
    return "nothing" if event.amount == 0 else str(event)
