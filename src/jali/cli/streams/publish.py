"""`jali stream publish`: close the open tick, and let its number out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.failures import about
from jali.cli.opening import open_database
from jali.cli.options import AsJson, Confidence, DatabasePath
from jali.cli.streams.options import StreamName, in_stream_options
from jali.cli.terminal import Stages, ink_for
from jali.cli.writing import check_confidence, write_json
from jali.documents.streams import ticks_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.stream import StreamView, Tick


def publish(
    database: DatabasePath,
    name: StreamName,
    tick: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Publish up to this tick; one that was published is shown again."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="With a clock: publish every tick that has ended by then."),
    ] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Close the open tick and publish the number. It costs nothing more, and it never changes.

    The noise is on disk before the number leaves. A crash in between loses nothing: publish the tick again.

    Example: [bold]jali stream publish clinic.jali admissions[/bold]

    With a clock: [bold]jali stream publish clinic.jali admissions --until 2026-03-01[/bold]
    """
    check_confidence(confidence)
    if tick is not None and until is not None:
        raise CatalogError("tick-and-until")
    with open_database(database) as held, about(database), in_stream_options():
        stream = held.stream(name)
        first = stream.published + 1
        with Stages() as stages:
            stages("publishing")
            last = stream.publish(tick, until=until)
        found = [stream.value(number) for number in range(first, last.number)]
        if as_json:
            write_json({"stream": stream.name} | ticks_json([*found, last], confidence))
        else:
            write_ticks(stream, [*found, last], confidence)


def write_ticks(view: StreamView, ticks: Sequence[Tick], confidence: float) -> None:
    """Write ticks as a table, and how to read it."""
    from jali.stream_display import last_ticks

    for line in last_ticks(view, ticks, confidence=confidence, ink=ink_for(sys.stdout)):
        print(line)
    if ticks and ticks[-1].number == view.declaration.horizon:
        print("This is the last tick: the horizon of the stream is over.")
