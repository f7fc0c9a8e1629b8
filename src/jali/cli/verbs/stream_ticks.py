"""`jali stream append` and `jali stream publish`: add items to the open tick, close it and publish its value."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from jali.cli.errors import attach_context
from jali.cli.item_files import ItemLines, is_csv, open_items
from jali.cli.options import AsJson, Confidence, DatabasePath, StreamName, open_database, rename_stream_parameters
from jali.cli.output import StageProgress, check_confidence, choose_ink, rewrite_line, write_json
from jali.client.catalog_documents import encode_tick, encode_ticks
from jali.display.text import clean
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.stream import Appended, Stream, StreamView, Tick


def publish(
    database: DatabasePath,
    name: StreamName,
    tick: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Publish up to this tick; a published tick is shown again."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="With a clock: publish every tick that has ended by this time."),
    ] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Close the open tick and publish the number. Nothing more is spent, and the number never changes.

    The noise is stored before the number is released. After a crash, publish the tick again.

    Example: [bold]jali stream publish clinic.jali admissions[/bold]

    With a clock: [bold]jali stream publish clinic.jali admissions --until 2026-03-01[/bold]
    """
    check_confidence(confidence)
    if tick is not None and until is not None:
        raise CatalogError("tick-and-until")
    with open_database(database) as held, attach_context(database), rename_stream_parameters():
        stream = held.stream(name)
        first = stream.published + 1
        with StageProgress() as stages:
            stages("publishing")
            last = stream.publish(tick, until=until)
        found = [stream.value(number) for number in range(first, last.number)]
        if as_json:
            write_json({"stream": stream.name} | encode_ticks([*found, last], confidence))
        else:
            write_ticks(stream, [*found, last], confidence)


def write_ticks(view: StreamView, ticks: Sequence[Tick], confidence: float) -> None:
    """Write ticks as a table, and how to read it."""
    from jali.display.stream_display import write_last_ticks

    for line in write_last_ticks(view, ticks, confidence=confidence, ink=choose_ink(sys.stdout)):
        print(line)
    if ticks and ticks[-1].number == view.declaration.horizon:
        print("This is the last tick: the horizon of the stream is over.")


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
    publish: Annotated[bool, typer.Option("--publish", help="Then close the tick and publish it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Append items to the open tick. Appending an item again has no effect.

    An item is identified by owner and item key, so a file can be appended again after a crash. Items
    beyond the declared contribution bounds are dropped. [bold]The output of this verb is exact and for the curator
    only[/bold]: do not hand it on.

    Example: [bold]jali stream append clinic.jali admissions today.csv --publish[/bold]

    From another program: [bold]jali stream append clinic.jali admissions -[/bold] with lines such as
    {"item": "visit 17", "owner": "p1"}
    """
    with (
        open_database(database) as held,
        attach_context(database),
        rename_stream_parameters(),
        open_items(file) as lines,
    ):
        stream = held.stream(name)
        counts = append_lines(stream, lines, csv_file=is_csv(file))
        published = stream.publish() if publish else None
        _write_counts(stream, counts, published, as_json=as_json)


@dataclass(frozen=True)
class AppendCounts:
    """What became of the lines of a file: for the curator alone."""

    new: int = 0
    known: int = 0
    dropped: int = 0
    unreadable: int = 0

    def __add__(self, other: Appended | AppendCounts) -> AppendCounts:
        return AppendCounts(
            self.new + other.new,
            self.known + other.known,
            self.dropped + other.dropped,
            self.unreadable + other.unreadable,
        )


def append_lines(stream: Stream, lines: Iterable[str], *, csv_file: bool | None = None) -> AppendCounts:
    """Append the items of some lines, a batch at a time: each is durable before the next is read."""
    # Whether a stream takes items at all is told before the first of them, and also where there is none.
    stream.append(())
    keys = getattr(stream.declaration.measure, "keys", None) or ()
    source = ItemLines(iter(lines), keys, stream.fields, csv_file=csv_file)
    counts, progress = AppendCounts(), AppendProgress()
    for batch in source.batches():
        counts += stream.append(batch)
        progress(counts.new + counts.known + counts.dropped)
    progress.end()
    return counts + AppendCounts(unreadable=source.unreadable)


class AppendProgress:
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
            rewrite_line(self._stream, text)


def _explain_uncounted(stream: Stream, counts: AppendCounts) -> Iterator[str]:
    """Say why items do not count, and what to do."""
    declared = stream.declaration
    if counts.dropped:
        bounds = f"--max-ticks {declared.max_ticks}, --max-items {declared.max_items}"
        apart = "" if declared.max_ticks == 1 else f", --separation {declared.separation}"
        yield f"Dropped: beyond the contribution bounds of one person ({bounds}{apart})."
    if counts.unreadable:
        yield f"Unreadable: {_describe_fields(stream)}."
        yield "They changed nothing: correct them, and append them again."


def _describe_fields(stream: Stream) -> str:
    """Say what every item of a stream needs."""
    keys = [clean(str(key)) for key in getattr(stream.declaration.measure, "keys", None) or ()]
    listed = ", ".join([*keys[:3], *(["..."] if len(keys) > 3 else [])])
    said = {"key": f"key (one of {listed})", "value": "value (a number)"}
    needed = [said.get(field, field) for field in stream.fields]
    needed += ["no owner"] if stream.declaration.unit is None else []
    return f"every item needs {' and '.join([', '.join(needed[:-1]), needed[-1]])}"


def _write_counts(stream: Stream, counts: AppendCounts, published: Tick | None, *, as_json: bool) -> None:
    if as_json:
        tick: dict[str, Any] | None = None if published is None else encode_tick(published, 0.95)
        write_json({"stream": stream.name, **asdict(counts), "published": tick})
        return
    told = [f"{counts.new:,} new", f"{counts.known:,} known before", f"{counts.dropped:,} dropped"]
    told.append(f"{counts.unreadable:,} unreadable")
    print(" · ".join(told))
    for line in _explain_uncounted(stream, counts):
        print(line)
    print(choose_ink(sys.stdout).faint(_CURATOR))
    if published is not None:
        print()
        write_ticks(stream, [published], 0.95)
