"""Write results: tables and progress for people, one JSON document for programs, plots into files."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

from jali.client.account_documents import encode_remaining
from jali.display.text import NARROWEST, WIDTH, Ink, clean, write_answer_table, write_facts, write_legend
from jali.display.view_models import flatten_cells
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.batch import BatchAnswer
    from jali.database import Database, Remaining


_PATIENCE = 1.0
_TICK = 0.1


def choose_ink(stream: TextIO) -> Ink:
    """Return ink that suits a stream: colour on a terminal, unless NO_COLOR is set."""
    return Ink(colour=stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb")


def measure_width(stream: TextIO) -> int:
    """Return how long lines may be: as long as the terminal takes, within reason."""
    if not stream.isatty():
        return WIDTH
    return max(NARROWEST, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


class StageProgress:
    """Shows the stage of a question and the time since it began, once that is more than a second.

    Never a percentage: how far the engine has come depends on the data. Nothing is shown to a stream that is
    not a terminal.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._stage = "starting"
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, stage: str) -> None:
        """Begin a stage."""
        self._stage = stage

    def __enter__(self) -> Self:
        if self._stream.isatty():
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        began = time.monotonic()
        if self._done.wait(_PATIENCE):
            return
        while not self._done.wait(_TICK):
            rewrite_line(self._stream, f"  {self._stage} · {time.monotonic() - began:.1f} s")
        rewrite_line(self._stream, "")


def rewrite_line(stream: TextIO, text: str) -> None:
    """Write a text in place of the line that a terminal shows."""
    stream.write(f"\r\x1b[K{text}")
    stream.flush()


def check_plot_path(path: Path) -> None:
    """Refuse a directory where a file is to be drawn; `--plot pictures` would draw pictures.png beside it."""
    if path.is_dir():
        raise CatalogError("plot-path-is-directory", path=path, example=path / "picture.png")
    if not path.resolve().parent.is_dir():
        raise CatalogError("plot-not-written", path=path)


def save_figure(path: Path, draw: Callable[[], Any]) -> Path:
    """Save the figure that `draw` makes, without a screen, and close it; return the file, a .png by default."""
    from jali.display.plots.plot_canvas import import_pyplot

    check_plot_path(path)
    path = path if path.suffix else path.with_suffix(".png")
    import_pyplot().switch_backend("Agg")
    figure = draw()
    try:
        figure.savefig(path, dpi=160)
    except (OSError, ValueError):
        raise CatalogError("plot-format-not-written", path=path) from None
    finally:
        import_pyplot().close(figure)
    return path


class Plottable(Protocol):
    """What can be drawn."""

    def plot(self) -> Any:
        """Draw it, and return the axes."""


def read_plot_path(plot: str | None) -> Path | None:
    """Return the file that `--plot` names, if one can be drawn there; before anything is run."""
    if plot is None:
        return None
    from jali.display.plots.plot_canvas import import_pyplot

    import_pyplot()
    check_plot_path(Path(plot))
    return Path(plot)


def save_plot(path: Path | None, made: Plottable, *, quiet: bool) -> None:
    """Draw into a file, if one is named, and say so."""
    if path is None:
        return
    drawn = save_figure(path, lambda: made.plot().figure)
    if not quiet:
        print(f"drew {drawn}", file=sys.stderr)


def write_json(document: dict[str, Any]) -> None:
    """Write one JSON document to stdout."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def write_answer(
    answer: Answer, database: Database, *, analyst: str | None, confidence: float, as_json: bool
) -> None:
    """Write an answer, what it cost, and what remains."""
    left = find_remaining(answer, database, analyst)
    if as_json:
        write_json(encode_result(answer, left, analyst=analyst, confidence=confidence))
        return
    print_rows(answer, confidence, answer.remarks)
    print(_format_cost(answer, left))


def find_remaining(found: Answer | BatchAnswer, database: Database, analyst: str | None) -> dict[str, Remaining]:
    """Return what remains on each table that an answer charged."""
    return {table: database.remaining(table, analyst=analyst) for table, _ in found.costs}


def encode_result(
    found: Answer | BatchAnswer, left: dict[str, Remaining], *, analyst: str | None, confidence: float
) -> dict[str, Any]:
    """Return an answer and what remains as plain JSON values."""
    remaining = {table: encode_remaining(amount) for table, amount in left.items()}
    return found.to_json(confidence) | {"analyst": analyst, "remaining": remaining}


def print_rows(answer: Answer, confidence: float, remarks: Iterable[str] = (), *, gap: str = "\n") -> None:
    """Print the rows of an answer with their intervals, the legend and remarks."""
    ink, spans = choose_ink(sys.stdout), answer.interval(confidence)
    print(f"{write_answer_table(answer.columns, answer.shown_rows, spans, ink=ink)}{gap}")
    for line in (write_legend(*flatten_cells(answer.rows, spans), confidence), *remarks):
        if line:
            print(ink.faint(textwrap.fill(line, WIDTH)))


def _format_cost(answer: Answer, left: dict[str, Remaining]) -> str:
    """Say what was paid and what is left, table by table where there are several."""
    if len(left) == 1:
        again = ", already released: nothing was charged again" if answer.cached else ""
        (rest,) = left.values()
        return f"cost {answer.cost}{again} · remaining {rest} · receipt {answer.receipt}"
    lines = [(clean(table), f"cost {cost} · remaining {left[table]}") for table, cost in answer.costs]
    again = " · already released: nothing was charged again" if answer.cached else ""
    return f"{write_facts(lines, indent=0)}\nreceipt {answer.receipt}{again}"


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is none, before anything is spent."""
    if not 0 < confidence < 1:
        raise CatalogError("confidence-option-out-of-range", confidence=confidence)
