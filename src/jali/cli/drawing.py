"""Drawing into files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jali.errors import CatalogError


def draw_into(path: Path, draw: Callable[[], Any]) -> None:
    """Save the figure that `draw` makes, without a screen, and close it."""
    from jali.display.plots import pyplot

    pyplot().switch_backend("Agg")
    figure = draw()
    try:
        figure.savefig(path, dpi=160)
    except (OSError, ValueError):
        raise CatalogError(
            f"--plot: {path} cannot be written.",
            remedy="Give a file ending in .png, .svg or .pdf in a directory that exists.",
        ) from None
    finally:
        pyplot().close(figure)
