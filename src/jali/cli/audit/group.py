"""`jali audit`: what can be audited, and the verbs about it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from jali.cli.audit.everything import everything
from jali.cli.audit.one import command
from jali.cli.audit.replay import replay
from jali.cli.options import AsJson
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json

# By the word that stands for each.
VERBS: dict[str, Callable[..., None]] = {"all": everything, "replay": replay}


class Targets(TyperGroup):
    """The verbs about all subjects and about witnesses; every other word is a target."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the verb of a word; the audit of that target where there is no other."""
        return super().get_command(ctx, cmd_name) or command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb; an error names the targets."""
        return self._click_resolve_command(ctx, args)


group = typer.Typer(cls=Targets, subcommand_metavar="TARGET|all|replay [OPTIONS]")
for _word, _verb in VERBS.items():
    group.command(_word)(_verb)


@group.callback(invoke_without_command=True)
def audit(context: typer.Context, as_json: AsJson = False) -> None:
    """Try to prove a privacy claim false: of your own function, or of anything that Jali has.

    TARGET is a function that takes data, module:function or file.py:function, with
    the loss that it claims; or a name of the list that `jali audit` alone prints.
    `jali audit TARGET --help` says what an audit takes. Nobody's data are read.

    Example: [bold]jali audit mymodule:mechanism --epsilon 0.7 --adjacency replace-one[/bold]
    """
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


def _list(*, as_json: bool) -> None:
    """Say what can be audited by name."""
    from jali.audit.report import listed
    from jali.audit.subjects import entries

    if not as_json:
        print(listed(entries(), ink=ink_for(sys.stdout)))
        return
    told = [
        {"name": one.name, "group": one.group, "claim": str(one.claim.event), "adjacency": one.adjacency.value}
        for one in entries()
    ]
    write_json({"registered": told})
