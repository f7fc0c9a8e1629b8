"""`jali stream show`: the streams of a database, or what one has published."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.drawing import draw_into
from jali.cli.failures import about
from jali.cli.opening import open_database
from jali.cli.options import AsJson, Confidence, DatabasePath
from jali.cli.terminal import ink_for
from jali.cli.writing import check_confidence, write_json
from jali.display.text import TextColumn, clean, table
from jali.documents.streams import counter_name, stream_json, ticks_json
from jali.errors import CatalogError, QueryError

if TYPE_CHECKING:
    from jali.database import Database
    from jali.stream import StreamView

_PICTURES = (".png", ".svg", ".pdf")


def show(
    database: DatabasePath,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One stream; all are listed without it.")
    ] = None,
    last: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="How many ticks to show; all of them with --json.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say how the stream is made, and how large its noise is.")
    ] = False,
    confidence: Confidence = 0.95,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it into a PNG, SVG or PDF file; needs matplotlib.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a stream has published, or list all streams. It is free.

    Example: [bold]jali stream show clinic.jali admissions --plot admissions.png[/bold]
    """
    check_confidence(confidence)
    if name is None and (plot is not None or explain):
        raise CatalogError("stream-unnamed")
    if plot is not None:
        _check_picture(plot)
    with open_database(database) as held, about(database):
        if name is None:
            _write_list(_all(held), as_json=as_json)
            return
        view = held.stream_view(name)
        if plot is not None:
            _check_published(view)
        if as_json:
            told = {"explanation": view.explain()} if explain else {}
            write_json(stream_json(view) | told | ticks_json(view.ticks(), confidence))
        elif explain:
            print(view.explain())
        else:
            _write_one(view, last, confidence)
        if plot is not None:
            _draw(view, plot, confidence, told=not as_json)


def _check_picture(path: Path) -> None:
    """Refuse a file that no picture can be drawn into, before anything is written."""
    if path.suffix.lower() not in _PICTURES or not path.parent.is_dir() or path.is_dir():
        raise CatalogError("plot-format-not-written", path=path)


def _check_published(view: StreamView) -> None:
    if not view.published:
        raise QueryError("stream-nothing-to-plot", stream=view.name)


def _all(database: Database) -> list[StreamView]:
    return [database.stream_view(name) for name in database.streams()]


def _write_list(views: Sequence[StreamView], *, as_json: bool) -> None:
    if as_json:
        write_json({"streams": [stream_json(view) for view in views]})
        return
    if not views:
        print("There is no stream yet.")
        return
    columns = [
        TextColumn("stream", tuple(clean(view.name) for view in views)),
        TextColumn("measure", tuple(view.declaration.measure.name for view in views)),
        TextColumn("published", tuple(_lived(view) for view in views), right=True),
        TextColumn("mechanism", tuple(counter_name(view) for view in views)),
        TextColumn("cost", tuple(str(view.cost) for view in views)),
    ]
    print(table(columns, ink=ink_for(sys.stdout)))


def _lived(view: StreamView) -> str:
    horizon = view.declaration.horizon
    return f"{view.published:,}" if horizon is None else f"{view.published:,} of {horizon:,}"


def _write_one(view: StreamView, last: int | None, confidence: float) -> None:
    from jali.stream_display import headline, last_ticks, paid

    ink, ticks = ink_for(sys.stdout), view.ticks()
    print(f"{ink.strong(clean(headline(view, len(ticks))))}\n")
    for line in last_ticks(view, ticks, last, confidence, ink=ink):
        print(line)
    print(paid(view))


def _draw(view: StreamView, path: Path, confidence: float, *, told: bool) -> None:
    from jali.stream_display import stream_plot

    draw_into(path, lambda: stream_plot(view, confidence).figure)
    if told:
        print(f"wrote {clean(str(path))}")
