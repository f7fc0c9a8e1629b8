"""`jali stream`: numbers that are published as they grow. Each verb has a module of its own."""

from __future__ import annotations

import typer

from jali.cli.streams import append, create, publish, show, watch

VERBS = (
    create.create,
    append.append,
    publish.publish,
    show.show,
    watch.watch,
)

group = typer.Typer()
for _verb in VERBS:
    group.command()(_verb)


@group.callback(invoke_without_command=True)
def stream(context: typer.Context) -> None:
    """Publish numbers as they grow: tick after tick, private over their whole life, paid once.

    Example: [bold]jali stream create clinic.jali admissions --unit patient --horizon 365 --epsilon 1[/bold]
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
