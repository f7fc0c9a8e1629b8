"""`jali attack sweep`: how much is recovered as the noise, the loss or the number of questions changes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.attack.common import seeded
from jali.cli.numbers import naming_options, number, whole
from jali.cli.options import AsJson
from jali.cli.pictures import draw, picture
from jali.cli.terminal import Stages, ink_for
from jali.cli.writing import write_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.attacks.sweep import Sweep
    from jali.attacks.sweeps import Sweeper

_NAMES = {"low": "--from", "high": "--to"} | {
    name: f"--{name}" for name in ("n", "noise", "points", "trials", "epsilon", "each", "delta")
}
# The options that only some sweeps have, by what is swept.
_OWN = {"noise": {"noise"}, "epsilon": {"noise", "delta"}, "questions": {"epsilon", "each"}}


def sweep(
    attacks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ATTACK]...", help="The attacks; those that are quick by default."),
    ] = None,
    by: Annotated[str, typer.Option(metavar="WHAT", help="What changes: noise, epsilon or questions.")] = "noise",
    n: Annotated[str, number("How many people one secret has.")] = "1024",
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="KIND,...",
            help="By noise: uniform,worst by default. By epsilon: geometric,gaussian.",
        ),
    ] = None,
    low: Annotated[
        str | None,
        typer.Option("--from", metavar="NUMBER", help="Where it begins; noise is in multiples of sqrt(n)."),
    ] = None,
    high: Annotated[str | None, typer.Option("--to", metavar="NUMBER", help="Where it ends.")] = None,
    points: Annotated[str, number("At how many places.")] = "12",
    trials: Annotated[str, number("How many secrets are attacked at each place.")] = "4",
    epsilon: Annotated[str | None, number("By questions: the budget of the ledger; 1 by default.")] = None,
    each: Annotated[str | None, number("By questions: what each of them spends; 1/4 by default.")] = None,
    delta: Annotated[str | None, number("By epsilon: the delta of Gaussian noise; 1e-6 by default.")] = None,
    seed: Annotated[str | None, number("Where secrets, questions and noise come from.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the sweep into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the share of right bits as the noise grows, with the lines sqrt(n) and n, or by epsilon, or questions.

    Example: [bold]jali attack sweep hadamard --n 1024 --noise uniform,worst --plot sweep.png[/bold]
    """
    kinds = None if noise is None else tuple(part.strip() for part in noise.split(","))
    own = {"noise": kinds, "epsilon": epsilon, "each": each, "delta": delta}
    path = picture(plot)
    with naming_options(_NAMES):
        made = _sweeper(
            by,
            {name: value for name, value in own.items() if value is not None},
            names=tuple(attacks or ()),
            n=whole(n, "--n", example=1024),
            low=low,
            high=high,
            points=whole(points, "--points", example=12),
            trials=whole(trials, "--trials", example=4),
            seed=seeded(seed),
        )
        with Stages() as stages:
            result = made.run(progress=stages)
    _show(result, made.seed, path=path, as_json=as_json)


def _sweeper(by: str, own: dict[str, Any], **common: Any) -> Sweeper:
    """Return the sweep that was asked for, if every option has a meaning for it."""
    from jali.attacks.sweeps import EpsilonSweep, NoiseSweep, QuestionSweep

    kinds: dict[str, type[Sweeper]] = {"noise": NoiseSweep, "epsilon": EpsilonSweep, "questions": QuestionSweep}
    if by not in kinds:
        raise CatalogError("sweep-kind-unknown", kinds=tuple(kinds), given=by)
    for name in own:
        if name not in _OWN[by]:
            raise CatalogError("sweep-option-meaningless", option=name, by=by)
    given = {"noises" if name == "noise" else name: value for name, value in own.items()}
    return kinds[by](**common, **given)


def _show(made: Sweep, seed: int | None, *, path: Path | None, as_json: bool) -> None:
    from jali.attacks.report import sweep_report

    draw(path, made, quiet=as_json)
    if as_json:
        write_json(made.to_dict() | {"seed": seed})
    else:
        ink = ink_for(sys.stdout)
        print(f"{sweep_report(made, ink=ink)}\n{ink.faint(f'The same again: --seed {seed}.')}")
