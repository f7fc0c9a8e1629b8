"""`--plot`: where a picture goes, and what was drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Protocol

from jali.cli.drawing import check_picture, draw_into


class Drawable(Protocol):
    """What can be drawn."""

    def plot(self) -> Any:
        """Draw it, and return the axes."""


def picture(plot: str | None) -> Path | None:
    """Return the file that `--plot` names, if one can be drawn there; before anything is run."""
    if plot is None:
        return None
    from jali.display.plots import pyplot

    pyplot()
    check_picture(Path(plot))
    return Path(plot)


def draw(path: Path | None, made: Drawable, *, quiet: bool) -> None:
    """Draw into a file, if one is named, and say so."""
    if path is None:
        return
    drawn = draw_into(path, lambda: made.plot().figure)
    if not quiet:
        print(f"drew {drawn}", file=sys.stderr)
