"""Drawing into files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jali.errors import CatalogError


def check_picture(path: Path) -> None:
    """Refuse a directory where a file is to be drawn; `--plot pictures` would draw pictures.png beside it."""
    if path.is_dir():
        raise CatalogError("plot-path-is-directory", path=path, example=path / "picture.png")
    if not path.resolve().parent.is_dir():
        raise CatalogError("plot-not-written", path=path)


def draw_into(path: Path, draw: Callable[[], Any]) -> Path:
    """Save the figure that `draw` makes, without a screen, and close it; return the file, a .png by default."""
    from jali.display.plots import pyplot

    check_picture(path)
    path = path if path.suffix else path.with_suffix(".png")
    pyplot().switch_backend("Agg")
    figure = draw()
    try:
        figure.savefig(path, dpi=160)
    except (OSError, ValueError):
        raise CatalogError("plot-format-not-written", path=path) from None
    finally:
        pyplot().close(figure)
    return path
