"""`jali stream append`: items of a file, into the open tick."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from jali.cli.failures import about
from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.streams.items import ItemLines, is_csv, opened
from jali.cli.streams.options import StreamName, in_stream_options
from jali.cli.streams.publish import write_ticks
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import clean
from jali.documents.streams import tick_json

if TYPE_CHECKING:
    from jali.stream import Appended, Stream, Tick

_CURATOR = "These counts are exact: they are the curator's alone. Only what is published may be handed on."


def append(
    database: DatabasePath,
    name: StreamName,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV with the columns item, owner, key, value, or one JSON object in each line: a name that "
            "ends in .csv, .jsonl, .ndjson, .json or .txt; [bold]-[/bold] is stdin.",
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

    def __add__(self, other: Appended | Counts) -> Counts:
        return Counts(
            self.new + other.new,
            self.known + other.known,
            self.dropped + other.dropped,
            self.unreadable + other.unreadable,
        )


def append_all(stream: Stream, lines: Iterable[str], *, csv_file: bool | None = None) -> Counts:
    """Append the items of some lines, a batch at a time: each is durable before the next is read."""
    # Whether a stream takes items at all is told before the first of them, and also where there is none.
    stream.append(())
    keys = getattr(stream.declaration.measure, "keys", None) or ()
    source = ItemLines(iter(lines), keys, stream.fields, csv_file=csv_file)
    counts, progress = Counts(), Progress()
    for batch in source.batches():
        counts += stream.append(batch)
        progress(counts.new + counts.known + counts.dropped)
    progress.end()
    return counts + Counts(unreadable=source.unreadable)


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


def _reasons(stream: Stream, counts: Counts) -> Iterator[str]:
    """Say why items do not count, and what to do."""
    declared = stream.declaration
    if counts.dropped:
        bounds = f"--max-ticks {declared.max_ticks}, --max-items {declared.max_items}"
        apart = "" if declared.max_ticks == 1 else f", --separation {declared.separation}"
        yield f"Dropped: beyond what one person may add ({bounds}{apart})."
    if counts.unreadable:
        yield f"Unreadable: {_needed(stream)}."
        yield "They changed nothing: mend them, and append them again."


def _needed(stream: Stream) -> str:
    """Say what every item of a stream needs."""
    keys = [clean(str(key)) for key in getattr(stream.declaration.measure, "keys", None) or ()]
    listed = ", ".join([*keys[:3], *(["..."] if len(keys) > 3 else [])])
    said = {"key": f"key (one of {listed})", "value": "value (a number)"}
    needed = [said.get(field, field) for field in stream.fields]
    needed += ["no owner"] if stream.declaration.unit is None else []
    return f"every item needs {' and '.join([', '.join(needed[:-1]), needed[-1]])}"


def _write(stream: Stream, counts: Counts, published: Tick | None, *, as_json: bool) -> None:
    if as_json:
        tick: dict[str, Any] | None = None if published is None else tick_json(published, 0.95)
        write_json({"stream": stream.name, **asdict(counts), "published": tick})
        return
    told = [f"{counts.new:,} new", f"{counts.known:,} known before", f"{counts.dropped:,} dropped"]
    told.append(f"{counts.unreadable:,} unreadable")
    print(" · ".join(told))
    for line in _reasons(stream, counts):
        print(line)
    print(ink_for(sys.stdout).faint(_CURATOR))
    if published is not None:
        print()
        write_ticks(stream, [published], 0.95)
