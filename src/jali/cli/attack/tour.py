"""`jali attack all`: the tour of the lab."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.attack.common import seeded
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
    seed: Annotated[str | None, number("Where secrets, questions and simulated noise come from.")] = None,
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
        from jali.display.plots import pyplot

        pyplot()
        _make(Path(plot))
    with naming_options({"epsilon": "--epsilon"}), Stages() as stages:
        chosen = seeded(seed)
        made = run(epsilon=epsilon, seed=chosen, progress=stages)
        drawn = 0 if plot is None else _draw(made, Path(plot), stages)
    if drawn and not as_json:
        print(f"drew {drawn} pictures into {plot}", file=sys.stderr)
    if as_json:
        write_json(made.to_dict() | {"seed": chosen})
    else:
        _write(made, chosen)


_FOOT = """\
right: of all bits; guessing: without a release; proves: an epsilon, at 95 %
confidence, or none; refused: after so many answers. All attacks took {seconds:.0f} s.
Left out: {left}, which needs a log: jali attack replay --against FOLDER.
Secrets, questions and simulated noise again: --seed {seed}."""


def _write(made: Tour, seed: int) -> None:
    from jali.attacks.report import tour_report
    from jali.attacks.tour import left_out

    ink = ink_for(sys.stdout)
    print(tour_report(made, ink=ink))
    print("\n" + ink.faint(_FOOT.format(seconds=made.seconds, left=" and ".join(left_out()), seed=seed)))


def _make(directory: Path) -> None:
    """Make the directory before anything is run."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise CatalogError("plot-directory-impossible", directory=directory) from None


def _draw(made: Tour, directory: Path, progress: Callable[[str], None]) -> int:
    """Draw the tour and every result, and return how many pictures there are."""
    progress("drawing the tour")
    draw_into(directory / "tour.png", lambda: made.plot().figure)
    for stop in made.stops:
        name = f"{stop.result.attack}-{stop.against}.png"
        progress(f"drawing {name}")
        draw_into(directory / name, lambda result=stop.result: result.plot().figure)  # type: ignore[misc]
    return 1 + len(made.stops)
