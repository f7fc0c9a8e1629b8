"""`jali token`: create, list and revoke the tokens of analysts and curators at a server."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jali.cli.options import AsJson, DatabasePath, open_database
from jali.cli.output import choose_ink, write_json
from jali.client.account_documents import encode_token
from jali.display.text import TextColumn, clean, write_table
from jali.errors import CatalogError

# As the database has it, whose packages are loaded later.
MOST_DAYS = 3650


def create(
    database: DatabasePath,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The holder: an analyst as in grants, or a curator.")
    ],
    role: Annotated[str, typer.Option(metavar="ROLE", help="analyst, or curator.")] = "analyst",
    days: Annotated[int, typer.Option(metavar="NUMBER", help="The number of days until it expires.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Create a token for an analyst or a curator. It is shown only once: only its digest is stored.

    Example: [bold]jali token create clinic.jali ana --days 30[/bold]
    """
    if not 0 < days <= MOST_DAYS:
        raise CatalogError("token-days-out-of-range", most=MOST_DAYS, days=days)
    with open_database(database) as opened:
        made = opened.access.create(name, role, days=days)
    if as_json:
        write_json(encode_token(made.token) | {"text": made.text})
        return
    print(made.text)
    told = f"For {made.token.role.value} {made.token.name}, until {made.token.expires}."
    typer.echo(
        f"{told} It is shown only once. Revoke it with: jali token revoke {database} {made.token.id}", err=True
    )


def list_(database: DatabasePath, as_json: AsJson = False) -> None:
    """List all tokens with their holders and expiry. Secrets are not stored.

    Example: [bold]jali token list clinic.jali[/bold]
    """
    with open_database(database) as opened:
        found = opened.access.tokens()
    if as_json:
        write_json({"tokens": [encode_token(token) for token in found]})
        return
    if not found:
        print("There is no token yet.")
        return
    columns = [
        TextColumn("token", tuple(token.id for token in found)),
        TextColumn("name", tuple(clean(token.name) for token in found)),
        TextColumn("role", tuple(token.role.value for token in found)),
        TextColumn("state", tuple(token.state for token in found)),
        TextColumn("expires", tuple(token.expires for token in found)),
    ]
    print(write_table(columns, ink=choose_ink(sys.stdout)))


def revoke(
    database: DatabasePath,
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="The id of the token; see `jali token list`.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a token at once, including running servers and open sessions.

    Example: [bold]jali token revoke clinic.jali 1f2e3d4c5b6a[/bold]
    """
    with open_database(database) as opened:
        if token not in {known.id for known in opened.access.tokens()}:
            raise CatalogError("token-id-unknown")
        revoked = opened.access.revoke(token)
    if as_json:
        write_json(encode_token(revoked))
    else:
        print(f"Revoked {revoked.id}, of {revoked.role.value} {revoked.name}.")


VERBS = (create, list_, revoke)

group = typer.Typer()
for _verb in VERBS:
    group.command(_verb.__name__.rstrip("_"))(_verb)


@group.callback(invoke_without_command=True)
def token(context: typer.Context) -> None:
    """Manage access tokens of analysts and curators for a server.

    Example: [bold]jali token create clinic.jali ana[/bold]
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
