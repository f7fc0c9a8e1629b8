"""`jali attack all`: the tour of the lab."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.drawing import draw_into
from jali.cli.numbers import naming_options, number
from jali.cli.options import AsJson
from jali.cli.terminal import Stages, ink_for
from jali.cli.writing import write_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.attacks.tour import Tour


def tour(
    epsilon: Annotated[str, number("The budget of Jali's ledger.")] = "1",
    seed: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="Where secrets, questions and simulated noise come from."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="DIRECTORY", help="Draw the tour and every result into this directory.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run every attack: against a simulator, against Jali with a budget, and against Jali without a ledger.

    Example: [bold]jali attack all[/bold]
    """
    from jali.attacks.tour import tour as run

    if plot is not None:
        _make(Path(plot))
    with naming_options({"epsilon": "--epsilon"}), Stages() as stages:
        made = run(epsilon=epsilon, seed=seed, progress=stages)
    if plot is not None:
        _draw(made, Path(plot))
    if as_json:
        write_json(made.to_dict())
    else:
        _write(made)


def _write(made: Tour) -> None:
    from jali.attacks.report import tour_report

    ink = ink_for(sys.stdout)
    print(tour_report(made, ink=ink))
    print(ink.faint("\nright: of all bits; guessing: without a release; proves: a loss, at 95 % confidence."))


def _make(directory: Path) -> None:
    """Make the directory before anything is run."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise CatalogError(f"--plot: {directory} is no directory, and none can be made there.") from None


def _draw(made: Tour, directory: Path) -> None:
    draw_into(directory / "tour.png", lambda: made.plot().figure)
    for stop in made.stops:
        if stop.result.calibration:
            path = directory / f"{stop.result.attack}-{stop.against}.png"
            draw_into(path, lambda result=stop.result: result.plot().figure)  # type: ignore[misc]
