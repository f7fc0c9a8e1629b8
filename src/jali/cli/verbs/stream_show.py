"""`jali stream show` and `jali stream watch`: show what streams have published, once or as they grow."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from jali.cli.errors import attach_context
from jali.cli.options import AsJson, Confidence, DatabasePath, StreamName, open_database
from jali.cli.output import check_confidence, choose_ink, save_figure, write_json
from jali.client.catalog_documents import encode_stream, encode_ticks, find_counter_name
from jali.display.text import PLAIN, Ink, TextColumn, clean, write_table
from jali.errors import CatalogError, QueryError

if TYPE_CHECKING:
    from jali.database import Database
    from jali.stream import StreamView


_PICTURES = (".png", ".svg", ".pdf")


def show(
    database: DatabasePath,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The name of a stream; lists all streams by default.")
    ] = None,
    last: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="The number of ticks to show; all with --json.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the mechanism of the stream and its noise scale.")
    ] = False,
    confidence: Confidence = 0.95,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot it into a PNG, SVG or PDF file; needs matplotlib.")
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
        _check_plot_format(plot)
    with open_database(database) as held, attach_context(database):
        if name is None:
            _write_list(_read_views(held), as_json=as_json)
            return
        view = held.streams.view(name)
        if plot is not None:
            _check_published(view)
        if as_json:
            told = {"explanation": view.explain()} if explain else {}
            write_json(encode_stream(view) | told | encode_ticks(view.ticks(), confidence))
        elif explain:
            print(view.explain())
        else:
            _write_one(view, last, confidence)
        if plot is not None:
            _save_stream_plot(view, plot, confidence, told=not as_json)


def _check_plot_format(path: Path) -> None:
    """Refuse a file that no picture can be drawn into, before anything is written."""
    if path.suffix.lower() not in _PICTURES or not path.parent.is_dir() or path.is_dir():
        raise CatalogError("plot-format-not-written", path=path)


def _check_published(view: StreamView) -> None:
    if not view.published:
        raise QueryError("stream-nothing-to-plot", stream=view.name)


def _read_views(database: Database) -> list[StreamView]:
    return [database.streams.view(name) for name in database.streams.list()]


def _write_list(views: Sequence[StreamView], *, as_json: bool) -> None:
    if as_json:
        write_json({"streams": [encode_stream(view) for view in views]})
        return
    if not views:
        print("There is no stream yet.")
        return
    columns = [
        TextColumn("stream", tuple(clean(view.name) for view in views)),
        TextColumn("measure", tuple(view.declaration.measure.name for view in views)),
        TextColumn("published", tuple(_format_progress(view) for view in views), right=True),
        TextColumn("mechanism", tuple(find_counter_name(view) for view in views)),
        TextColumn("cost", tuple(str(view.cost) for view in views)),
    ]
    print(write_table(columns, ink=choose_ink(sys.stdout)))


def _format_progress(view: StreamView) -> str:
    horizon = view.declaration.horizon
    return f"{view.published:,}" if horizon is None else f"{view.published:,} of {horizon:,}"


def _write_one(view: StreamView, last: int | None, confidence: float) -> None:
    from jali.display.stream_display import write_cost, write_headline, write_last_ticks

    ink, ticks = choose_ink(sys.stdout), view.ticks()
    print(f"{ink.strong(clean(write_headline(view, len(ticks))))}\n")
    for line in write_last_ticks(view, ticks, last, confidence, ink=ink):
        print(line)
    print(write_cost(view))


def _save_stream_plot(view: StreamView, path: Path, confidence: float, *, told: bool) -> None:
    from jali.display.stream_display import plot_stream

    save_figure(path, lambda: plot_stream(view, confidence).figure)
    if told:
        print(f"wrote {clean(str(path))}")


# What is drawn for a stream that is no terminal.
_WIDTH, _HEIGHT = 80, 24


def watch(
    database: DatabasePath,
    name: StreamName,
    every_seconds: Annotated[
        float, typer.Option(metavar="NUMBER", min=0.1, help="The polling interval in seconds.")
    ] = 2.0,
    key: Annotated[list[str] | None, typer.Option(metavar="KEY", help="Show only this key. Repeatable.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Draw the plot once and exit.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a stream: a plot with the 95 % band, redrawn when a tick is published. Ctrl-C ends it.

    It only shows published values and publishes nothing itself. It ends with the last tick of the stream.
    With --json the stream is written once.

    Example: [bold]jali stream watch clinic.jali admissions[/bold]
    """
    with open_database(database) as held, attach_context(database):
        view = held.streams.view(name)
        if as_json:
            write_json(encode_stream(view) | encode_ticks(view.ticks(), 0.95))
            return
        screen = StreamScreen(sys.stdout)
        if once:
            screen.show(view, key)
            return
        follow_stream(view, lambda: screen.show(view, key), lambda: time.sleep(every_seconds))


def follow_stream(view: StreamView, draw: Callable[[], None], wait: Callable[[], None]) -> None:
    """Draw a stream whenever it has new ticks, until its horizon is over or the user has seen enough."""
    told = -1
    try:
        while not _is_over(view, told):
            if (now := view.published) != told:
                draw()
                told = now
            else:
                wait()
    except KeyboardInterrupt:
        print(file=sys.stderr)


def _is_over(view: StreamView, told: int) -> bool:
    horizon = view.declaration.horizon
    return horizon is not None and told >= horizon


class StreamScreen:
    """Draws over what it drew before on a terminal; below it elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = 0

    def show(self, view: StreamView, keys: list[str] | None = None) -> None:
        """Draw a stream as it is now."""
        from jali.display.stream_chart import draw_frame
        from jali.display.stream_display import build_small_plot

        width, height = self.size
        lines = draw_frame(build_small_plot(view, view.ticks()), keys, width=width, height=height, ink=self.ink)
        back = f"\x1b[{self._drawn}A\x1b[J" if self._drawn else ""
        self._stream.write(back + "\n".join(lines) + "\n")
        self._stream.flush()
        self._drawn = len(lines) if self._stream.isatty() else 0

    @property
    def size(self) -> tuple[int, int]:
        """How many letters and lines there are; a line is left for the cursor."""
        if not self._stream.isatty():
            return _WIDTH, _HEIGHT
        found = shutil.get_terminal_size((_WIDTH, _HEIGHT))
        return found.columns, found.lines - 1

    @property
    def ink(self) -> Ink:
        """Colour where the terminal takes it."""
        return choose_ink(self._stream) if self._stream.isatty() else PLAIN
