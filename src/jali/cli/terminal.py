"""The terminal: whether it takes colour, and what it is told while a question runs."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

from jali.display.ink import Ink
from jali.display.text import NARROWEST, WIDTH

_PATIENCE = 1.0
_TICK = 0.1


def ink_for(stream: TextIO) -> Ink:
    """Return ink that suits a stream: colour on a terminal, unless NO_COLOR is set."""
    return Ink(colour=stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb")


def width_for(stream: TextIO) -> int:
    """Return how long lines may be: as long as the terminal takes, within reason."""
    if not stream.isatty():
        return WIDTH
    return max(NARROWEST, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


class Stages:
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
            self._write(f"  {self._stage} · {time.monotonic() - began:.1f} s")
        self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()
