"""`jali attack`: run one attack, a sweep over noise, loss or questions, or all attacks.

The attacks are looked up in the registry of the lab when a verb asks for one.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from jali.cli.options import AsJson, number_option, read_whole_number, rename_parameters
from jali.cli.output import (
    StageProgress,
    choose_ink,
    measure_width,
    read_plot_path,
    save_figure,
    save_plot,
    write_json,
)
from jali.cli.verbs.attack_options import (
    LOG_FILES,
    build_options,
    choose_seed,
    name_option,
    read_parameters,
    select_fields,
    select_options,
)
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.lab.attacks import Attack, Result
    from jali.lab.attacks.sweeps import Sweep, Sweeper, Tour


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


def build_attack_command(kind: type[Attack[Any]]) -> Any:
    """Return the verb of an attack, with an option for each of its parameters."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    app.command(
        kind.name, cls=AttackCommand, help=_format_help(kind), short_help=kind.statement, rich_help_panel="Attacks"
    )(_build_verb(kind))
    return typer.main.get_command(app)


def _format_help(kind: type[Attack[Any]]) -> str:
    example = f"Example: [bold]jali attack {kind.name}[/bold]"
    if kind.against == ("log",):
        example = f"Example: [bold]jali attack {kind.name} --against FOLDER[/bold], with files " + LOG_FILES
    return f"{kind.statement}.\n\n{example}"


def _build_verb(kind: type[Attack[Any]]) -> Callable[..., None]:
    """Return a function whose signature is that of `_run_attack`, with the attack's own options in it."""

    def verb(**given: Any) -> None:
        _run_attack(kind.name, **given)

    signature = inspect.signature(_run_attack, eval_str=True)
    common = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    shown = [*build_options(kind), *select_options(kind, common)]
    verb.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return verb


def _run_attack(
    name: str,
    *,
    n: Annotated[str | None, number_option("The number of people in a secret.")] = None,
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
    epsilon: Annotated[str | None, number_option("The budget of Jali's ledger; 1 by default.")] = None,
    delta: Annotated[
        str | None, number_option("Its delta, 0 by default; with one, Jali answers with Gaussian noise.")
    ] = None,
    each: Annotated[
        str | None, number_option("What one question spends; the budget is spread over all of them by default.")
    ] = None,
    adjacency: Annotated[
        str | None, typer.Option(metavar="NAME", help="replace-one, by default, or add-remove.")
    ] = None,
    trials: Annotated[str | None, number_option("How many secrets are attacked, one after the other.")] = None,
    seed: Annotated[str | None, number_option("The seed of secrets, questions and simulated noise.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw right bits against confidence into this file.")
    ] = None,
    as_json: AsJson = False,
    **own: str | bool | None,
) -> None:
    from jali.lab.attacks.staging import find_attack, stage

    kind = find_attack(name)
    parameters = read_parameters(kind, own)
    path = read_plot_path(plot)
    named = _OPTIONS | {field.name: name_option(field) for field in select_fields(kind)}
    chosen = None if kind.against == ("log",) or _is_log(against) else choose_seed(seed)
    with rename_parameters(named), StageProgress() as stages:
        staged = stage(
            name,
            n=read_whole_number(n, "--n", example=kind.exhibit.n),
            noise=noise,
            against=against,
            epsilon=epsilon,
            delta=delta,
            each=each,
            adjacency=adjacency,
            trials=read_whole_number(trials, "--trials", example=10),
            seed=chosen,
            parameters=parameters,
        )
        result = staged.run(progress=stages)
    _write_result(kind, result, chosen, path=path, as_json=as_json)


def _is_log(against: str | None) -> bool:
    from jali.lab.attacks.staging import OPPONENTS

    return against is not None and against not in OPPONENTS


def _write_result(
    kind: type[Attack[Any]], result: Result, seed: int | None, *, path: Path | None, as_json: bool
) -> None:
    from jali.lab.attacks.attack_report import write_report

    save_plot(path, result, quiet=as_json)
    if as_json:
        write_json({"statement": kind.statement} | result.to_dict() | {"seed": seed})
    else:
        ink, width = choose_ink(sys.stdout), measure_width(sys.stdout)
        again = "" if seed is None else f" The same secrets and questions again: --seed {seed}."
        statement = textwrap.fill(f"{kind.statement}.{again}", width, break_on_hyphens=False)
        print(f"{write_report(result, width=width, ink=ink)}\n\n{ink.faint(statement)}")


_SWEEP_OPTIONS = {"low": "--from", "high": "--to"} | {
    name: f"--{name}" for name in ("n", "noise", "points", "trials", "epsilon", "each", "delta")
}
# The options that only some sweeps have, by what is swept.
_OPTIONS_OF_SWEEP = {"noise": {"noise"}, "epsilon": {"noise", "delta"}, "questions": {"epsilon", "each"}}


def sweep(
    attacks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ATTACK]...", help="The attacks; the fast ones by default."),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="WHAT", help="The swept parameter: noise, epsilon or questions.")
    ] = "noise",
    n: Annotated[str, number_option("The number of people in a secret.")] = "1024",
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="KIND,...",
            help="For noise: uniform,worst by default. For epsilon: geometric,gaussian.",
        ),
    ] = None,
    low: Annotated[
        str | None,
        typer.Option("--from", metavar="NUMBER", help="The first point; noise is in multiples of sqrt(n)."),
    ] = None,
    high: Annotated[str | None, typer.Option("--to", metavar="NUMBER", help="The last point.")] = None,
    points: Annotated[str, number_option("The number of points.")] = "12",
    trials: Annotated[str, number_option("The number of secrets attacked per point.")] = "4",
    epsilon: Annotated[str | None, number_option("For questions: the budget of the ledger; 1 by default.")] = None,
    each: Annotated[str | None, number_option("For questions: the epsilon of each; 1/4 by default.")] = None,
    delta: Annotated[
        str | None, number_option("For epsilon: the delta of Gaussian noise; 1e-6 by default.")
    ] = None,
    seed: Annotated[str | None, number_option("The seed of secrets, questions and noise.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the sweep into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the share of recovered bits by noise, with sqrt(n) and n marked, or by epsilon or number of questions.

    Example: [bold]jali attack sweep hadamard --n 1024 --noise uniform,worst --plot sweep.png[/bold]
    """
    kinds = None if noise is None else tuple(part.strip() for part in noise.split(","))
    own = {"noise": kinds, "epsilon": epsilon, "each": each, "delta": delta}
    path = read_plot_path(plot)
    with rename_parameters(_SWEEP_OPTIONS):
        made = _build_sweeper(
            by,
            {name: value for name, value in own.items() if value is not None},
            names=tuple(attacks or ()),
            n=read_whole_number(n, "--n", example=1024),
            low=low,
            high=high,
            points=read_whole_number(points, "--points", example=12),
            trials=read_whole_number(trials, "--trials", example=4),
            seed=choose_seed(seed),
        )
        with StageProgress() as stages:
            result = made.run(progress=stages)
    _write_sweep(result, made.seed, path=path, as_json=as_json)


def _build_sweeper(by: str, own: dict[str, Any], **common: Any) -> Sweeper:
    """Return the sweep that was asked for, if every option has a meaning for it."""
    from jali.lab.attacks.sweeps import EpsilonSweep, NoiseSweep, QuestionSweep

    kinds: dict[str, type[Sweeper]] = {"noise": NoiseSweep, "epsilon": EpsilonSweep, "questions": QuestionSweep}
    if by not in kinds:
        raise CatalogError("sweep-kind-unknown", kinds=tuple(kinds), given=by)
    for name in own:
        if name not in _OPTIONS_OF_SWEEP[by]:
            raise CatalogError("sweep-option-meaningless", option=name, by=by)
    given = {"noises" if name == "noise" else name: value for name, value in own.items()}
    return kinds[by](**common, **given)


def _write_sweep(made: Sweep, seed: int | None, *, path: Path | None, as_json: bool) -> None:
    from jali.lab.attacks.attack_report import write_sweep

    save_plot(path, made, quiet=as_json)
    if as_json:
        write_json(made.to_dict() | {"seed": seed})
    else:
        ink = choose_ink(sys.stdout)
        print(f"{write_sweep(made, ink=ink)}\n{ink.faint(f'The same again: --seed {seed}.')}")


def tour(
    epsilon: Annotated[str, number_option("The budget of Jali's ledger.")] = "1",
    seed: Annotated[str | None, number_option("The seed of secrets, questions and simulated noise.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="DIRECTORY", help="Plot the tour and every result into this directory.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run every attack: against a simulator, against Jali with a budget, and against Jali without a ledger.

    Example: [bold]jali attack all[/bold]
    """
    from jali.lab.attacks.sweeps import run_tour as run

    if plot is not None:
        from jali.display.plots.plot_canvas import import_pyplot

        import_pyplot()
        _make_directory(Path(plot))
    with rename_parameters({"epsilon": "--epsilon"}), StageProgress() as stages:
        chosen = choose_seed(seed)
        made = run(epsilon=epsilon, seed=chosen, progress=stages)
        drawn = 0 if plot is None else _draw_tour(made, Path(plot), stages)
    if drawn and not as_json:
        print(f"drew {drawn} pictures into {plot}", file=sys.stderr)
    if as_json:
        write_json(made.to_dict() | {"seed": chosen})
    else:
        _write_tour(made, chosen)


_TOUR_FOOTER = """\
right: of all bits; guessing: without a release; proves: an epsilon, at 95 %
confidence, or none; refused: after so many answers. All attacks took {seconds:.0f} s.
Left out: {left}, which needs a log: jali attack replay --against FOLDER.
Secrets, questions and simulated noise again: --seed {seed}."""


def _write_tour(made: Tour, seed: int) -> None:
    from jali.lab.attacks.attack_report import write_tour
    from jali.lab.attacks.sweeps import list_left_out

    ink = choose_ink(sys.stdout)
    print(write_tour(made, ink=ink))
    print(
        "\n" + ink.faint(_TOUR_FOOTER.format(seconds=made.seconds, left=" and ".join(list_left_out()), seed=seed))
    )


def _make_directory(directory: Path) -> None:
    """Make the directory before anything is run."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise CatalogError("plot-directory-impossible", directory=directory) from None


def _draw_tour(made: Tour, directory: Path, progress: Callable[[str], None]) -> int:
    """Draw the tour and every result, and return how many pictures there are."""
    progress("drawing the tour")
    save_figure(directory / "tour.png", lambda: made.plot().figure)
    for stop in made.stops:
        name = f"{stop.result.attack}-{stop.against}.png"
        progress(f"drawing {name}")
        save_figure(directory / name, lambda result=stop.result: result.plot().figure)  # type: ignore[misc]
    return 1 + len(made.stops)


# By the word that stands for each.
VERBS: dict[str, Callable[..., None]] = {"sweep": sweep, "all": tour}


class AttackGroup(TyperGroup):
    """The attacks of the lab, each a verb, and the verbs about all of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all words that may follow."""
        from jali.lab.attacks import attacks

        return [*sorted(attacks()), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the verb of a word; an attack by that name where there is no other."""
        from jali.lab.attacks.staging import find_attack

        return super().get_command(ctx, cmd_name) or build_attack_command(find_attack(cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb; an error names the attacks."""
        return self._click_resolve_command(ctx, args)


group = typer.Typer(cls=AttackGroup, subcommand_metavar="NAME [OPTIONS]")
for _word, _verb in VERBS.items():
    group.command(_word, rich_help_panel="Of all of them")(_verb)


@group.callback(invoke_without_command=True)
def attack(context: typer.Context, as_json: AsJson = False) -> None:
    """Attack synthetic secrets: reconstruct bits from noisy counts. No real data is read.

    Shows the share of recovered bits beside guessing, the theoretical prediction
    and the privacy loss it proves: for a system without a budget, for Jali, or for Jali
    without a ledger. See `jali attack NAME --help` for the options of an attack.

    Example: [bold]jali attack hadamard --n 4096 --noise uniform:16[/bold]
    """
    if context.invoked_subcommand is not None:
        return
    if not as_json:
        typer.echo(context.get_help())
        return
    from jali.lab.attacks import attacks

    told = [
        {"name": name, "statement": kind.statement, "against": kind.against} for name, kind in attacks().items()
    ]
    write_json({"attacks": told})
