"""`jali attack`: which attacks there are, found in the registry when somebody asks for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from jali.cli.attack.one import command
from jali.cli.attack.sweep import sweep
from jali.cli.attack.tour import tour
from jali.cli.options import AsJson
from jali.cli.writing import write_json

# By the word that stands for each.
VERBS: dict[str, Callable[..., None]] = {"sweep": sweep, "all": tour}


class Attacks(TyperGroup):
    """The attacks of the lab, each a verb, and the verbs about all of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all words that may follow."""
        from jali.attacks import attacks

        return [*sorted(attacks()), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the verb of a word; an attack by that name where there is no other."""
        from jali.attacks.registry import attack_named

        return super().get_command(ctx, cmd_name) or command(attack_named(cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb; an error names the attacks."""
        return self._click_resolve_command(ctx, args)


group = typer.Typer(cls=Attacks, subcommand_metavar="NAME [OPTIONS]")
for _word, _verb in VERBS.items():
    group.command(_word, rich_help_panel="Of all of them")(_verb)


@group.callback(invoke_without_command=True)
def attack(context: typer.Context, as_json: AsJson = False) -> None:
    """Attack secrets that are made up for it: reconstruct bits from noisy counts. Nobody's data are read.

    Shows the share of right bits beside what anybody guesses, what theory says,
    and the loss that it proves: of a system without a budget, of Jali, or of Jali
    without a ledger. `jali attack NAME --help` says what an attack takes.

    Example: [bold]jali attack hadamard --n 4096 --noise uniform:16[/bold]
    """
    if context.invoked_subcommand is not None:
        return
    if not as_json:
        typer.echo(context.get_help())
        return
    from jali.attacks import attacks

    told = [
        {"name": name, "statement": kind.statement, "against": kind.against} for name, kind in attacks().items()
    ]
    write_json({"attacks": told})
