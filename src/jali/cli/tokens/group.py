"""`jali token`: made, listed and revoked. Each verb has a module of its own."""

from __future__ import annotations

import typer

from jali.cli.tokens import create, listing, revoke

VERBS = (create.create, listing.list_, revoke.revoke)

group = typer.Typer()
for _verb in VERBS:
    group.command(_verb.__name__.rstrip("_"))(_verb)


@group.callback(invoke_without_command=True)
def token(context: typer.Context) -> None:
    """Let people in through a server: tokens of analysts and curators.

    Example: [bold]jali token create clinic.jali ana[/bold]
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
