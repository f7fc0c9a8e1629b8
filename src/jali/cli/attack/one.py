"""`jali attack NAME`: one attack, with what it achieved beside what was to be expected."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from jali.cli.attack.common import LOG_FILES, fitted, seeded
from jali.cli.attack.own import as_options, option_name, own_fields, read
from jali.cli.numbers import naming_options, number, whole
from jali.cli.options import AsJson
from jali.cli.pictures import draw, picture
from jali.cli.terminal import Stages, ink_for, width_for
from jali.cli.writing import write_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.attacks import Attack, Result

_OPTIONS = {name: f"--{name}" for name in ("n", "noise", "epsilon", "delta", "each", "adjacency", "trials")}


class AttackCommand(TyperCommand):
    """The verb of one attack, which says what it takes when it is given what it does not take."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options, and explain one that there is not."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if type(error).__name__ != "NoSuchOption":
                raise
            takes = [option for parameter in self.params for option in parameter.opts if option.startswith("--")]
            unknown = error.format_message().partition("--")[2].strip(".'\" ").split()[0]
            raise CatalogError(
                "attack-option-unknown", attack=self.name, option=unknown, options=tuple(takes)
            ) from None


def command(kind: type[Attack[Any]]) -> Any:
    """Return the verb of an attack, with an option for each of its parameters."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    app.command(
        kind.name, cls=AttackCommand, help=_help(kind), short_help=kind.statement, rich_help_panel="Attacks"
    )(_verb(kind))
    return typer.main.get_command(app)


def _help(kind: type[Attack[Any]]) -> str:
    example = f"Example: [bold]jali attack {kind.name}[/bold]"
    if kind.against == ("log",):
        example = f"Example: [bold]jali attack {kind.name} --against FOLDER[/bold], with files " + LOG_FILES
    return f"{kind.statement}.\n\n{example}"


def _verb(kind: type[Attack[Any]]) -> Callable[..., None]:
    """Return a function whose signature is that of `_attack`, with the attack's own options in it."""

    def verb(**given: Any) -> None:
        _attack(kind.name, **given)

    signature = inspect.signature(_attack, eval_str=True)
    common = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    shown = [*as_options(kind), *fitted(kind, common)]
    verb.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return verb


def _attack(
    name: str,
    *,
    n: Annotated[str | None, number("How many people one secret has.")] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:SIZE", help="The noise of a simulator, such as 'uniform:0.5*sqrt(n)', or none."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="NAME|PATH", help="simulator, jali, unledgered (Jali without a ledger), or a log."),
    ] = None,
    epsilon: Annotated[str | None, number("The budget of Jali's ledger; 1 by default.")] = None,
    delta: Annotated[
        str | None, number("Its delta, 0 by default; with one, Jali answers with Gaussian noise.")
    ] = None,
    each: Annotated[
        str | None, number("What one question spends; the budget is spread over all of them by default.")
    ] = None,
    adjacency: Annotated[
        str | None, typer.Option(metavar="NAME", help="replace-one, by default, or add-remove.")
    ] = None,
    trials: Annotated[str | None, number("How many secrets are attacked, one after the other.")] = None,
    seed: Annotated[str | None, number("Where secrets, questions and simulated noise come from.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw right bits against confidence into this file.")
    ] = None,
    as_json: AsJson = False,
    **own: str | bool | None,
) -> None:
    from jali.attacks.registry import attack_named
    from jali.attacks.staging import stage

    kind = attack_named(name)
    parameters = read(kind, own)
    path = picture(plot)
    named = _OPTIONS | {field.name: option_name(field) for field in own_fields(kind)}
    chosen = None if kind.against == ("log",) or _is_log(against) else seeded(seed)
    with naming_options(named), Stages() as stages:
        staged = stage(
            name,
            n=whole(n, "--n", example=kind.exhibit.n),
            noise=noise,
            against=against,
            epsilon=epsilon,
            delta=delta,
            each=each,
            adjacency=adjacency,
            trials=whole(trials, "--trials", example=10),
            seed=chosen,
            parameters=parameters,
        )
        result = staged.run(progress=stages)
    _show(kind, result, chosen, path=path, as_json=as_json)


def _is_log(against: str | None) -> bool:
    from jali.attacks.staging import FOES

    return against is not None and against not in FOES


def _show(kind: type[Attack[Any]], result: Result, seed: int | None, *, path: Path | None, as_json: bool) -> None:
    from jali.attacks.report import report

    draw(path, result, quiet=as_json)
    if as_json:
        write_json({"statement": kind.statement} | result.to_dict() | {"seed": seed})
    else:
        ink, width = ink_for(sys.stdout), width_for(sys.stdout)
        again = "" if seed is None else f" The same secrets and questions again: --seed {seed}."
        statement = textwrap.fill(f"{kind.statement}.{again}", width, break_on_hyphens=False)
        print(f"{report(result, width=width, ink=ink)}\n\n{ink.faint(statement)}")
