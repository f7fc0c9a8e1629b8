"""`jali stream append`: items of a file, into the open tick."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from jali.cli.failures import about
from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.streams.items import ItemLines, is_csv, opened
from jali.cli.streams.options import StreamName, in_stream_options, tick_json
from jali.cli.streams.publish import write_ticks
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json

if TYPE_CHECKING:
    from jali.stream import Stream, Tick

_CURATOR = "These counts are exact: they are the curator's alone. Only what is published may be handed on."


def append(
    database: DatabasePath,
    name: StreamName,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV with the columns item, owner, key, value, or one JSON object in each line; "
            "[bold]-[/bold] is stdin.",
        ),
    ],
    publish: Annotated[bool, typer.Option("--publish", help="Close the tick afterwards, and publish it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Append items to the open tick. An item that was appended before changes nothing.

    An item is known by its owner and its item key, so that a file can be appended again after a crash. What one
    person has beyond the declared bounds is dropped. [bold]What this verb prints is exact, and the curator's
    only[/bold]: do not hand it on.

    Example: [bold]jali stream append clinic.jali admissions today.csv --publish[/bold]

    From another program: [bold]jali stream append clinic.jali admissions -[/bold] with lines such as
    {"item": "visit 17", "owner": "p1"}
    """
    with open_database(database) as held, about(database), in_stream_options(), opened(file) as lines:
        stream = held.stream(name)
        counts = append_all(stream, lines, csv_file=is_csv(file))
        published = stream.publish() if publish else None
        _write(stream, counts, published, as_json=as_json)


@dataclass(frozen=True)
class Counts:
    """What became of the lines of a file: for the curator alone."""

    new: int = 0
    known: int = 0
    dropped: int = 0
    unreadable: int = 0


def append_all(stream: Stream, lines: Iterable[str], *, csv_file: bool | None = None) -> Counts:
    """Append the items of some lines, a batch at a time: each is durable before the next is read."""
    # Whether a stream takes items at all is told before the first of them, and also where there is none.
    stream.append(())
    keys = getattr(stream.declaration.measure, "keys", None) or ()
    source = ItemLines(iter(lines), keys, csv_file=csv_file)
    new = known = dropped = 0
    progress = Progress()
    for batch in source.batches():
        found = stream.append(batch)
        new, known, dropped = new + found.new, known + found.known, dropped + found.dropped
        progress(new + known + dropped)
    progress.end()
    return Counts(new, known, dropped, source.unreadable)


class Progress:
    """Shows how many items are on disk, to the curator's terminal; nothing to what is none."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._began = time.monotonic()

    def __call__(self, items: int) -> None:
        """Say how many items there were so far."""
        self._write(f"  {items:,} items · {time.monotonic() - self._began:.1f} s")

    def end(self) -> None:
        """Leave the line empty."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._stream.isatty():
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()


def _write(stream: Stream, counts: Counts, published: Tick | None, *, as_json: bool) -> None:
    if as_json:
        tick: dict[str, Any] | None = None if published is None else tick_json(published, 0.95)
        write_json({"stream": stream.name, **asdict(counts), "published": tick})
        return
    told = [f"{counts.new:,} new", f"{counts.known:,} known before", f"{counts.dropped:,} dropped"]
    if counts.unreadable:
        told.append(
            "1 line was no item" if counts.unreadable == 1 else f"{counts.unreadable:,} lines were no items"
        )
    print(" · ".join(told))
    print(ink_for(sys.stdout).faint(_CURATOR))
    if published is not None:
        print()
        write_ticks(stream, [published], 0.95)
