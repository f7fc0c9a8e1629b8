"""`jali stream watch`: the line of a stream as it grows, in the terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from jali.cli.failures import about
from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.streams.options import StreamName
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.ink import PLAIN, Ink
from jali.documents.streams import stream_json, ticks_json

if TYPE_CHECKING:
    from jali.stream import StreamView

# What is drawn for a stream that is no terminal.
_WIDTH, _HEIGHT = 80, 24


def watch(
    database: DatabasePath,
    name: StreamName,
    every_seconds: Annotated[
        float, typer.Option(metavar="NUMBER", min=0.1, help="How often to look for new ticks.")
    ] = 2.0,
    key: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Only this key of several. Repeatable.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Draw it once, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a stream grow: its line with the 95 % band, drawn anew when a tick is published. Ctrl-C ends it.

    It shows published values only, and publishes nothing itself. It ends by itself with the stream's last tick.
    With --json the stream is written once.

    Example: [bold]jali stream watch clinic.jali admissions[/bold]
    """
    with open_database(database) as held, about(database):
        view = held.stream_view(name)
        if as_json:
            write_json(stream_json(view) | ticks_json(view.ticks(), 0.95))
            return
        screen = Screen(sys.stdout)
        if once:
            screen.show(view, key)
            return
        follow(view, lambda: screen.show(view, key), lambda: time.sleep(every_seconds))


def follow(view: StreamView, draw: Callable[[], None], wait: Callable[[], None]) -> None:
    """Draw a stream whenever it has new ticks, until its horizon is over or the user has seen enough."""
    told = -1
    try:
        while not _over(view, told):
            if (now := view.published) != told:
                draw()
                told = now
            else:
                wait()
    except KeyboardInterrupt:
        print(file=sys.stderr)


def _over(view: StreamView, told: int) -> bool:
    horizon = view.declaration.horizon
    return horizon is not None and told >= horizon


class Screen:
    """Draws over what it drew before on a terminal; below it elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = 0

    def show(self, view: StreamView, keys: list[str] | None = None) -> None:
        """Draw a stream as it is now."""
        from jali.display.stream_frame import frame
        from jali.stream_display import seen

        width, height = self.size
        lines = frame(seen(view, view.ticks()), keys, width=width, height=height, ink=self.ink)
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
        return ink_for(self._stream) if self._stream.isatty() else PLAIN
