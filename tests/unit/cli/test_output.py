from __future__ import annotations

import io
import threading

import pytest

from jali.cli import output
from jali.cli.output import StageProgress, choose_ink, measure_width


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and tells when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


def test_a_quick_question_shows_no_stages() -> None:
    stream = Terminal()
    with StageProgress(stream) as stages:
        stages("reading")
    assert stream.getvalue() == ""


def test_a_slow_question_shows_its_stage_and_the_time_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_PATIENCE", 0.0)
    stream = Terminal()
    with StageProgress(stream) as stages:
        stages("reading")
        assert stream.written.wait(30)
    assert "reading · " in stream.getvalue()
    assert "%" not in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_PATIENCE", 0.0)
    stream = io.StringIO()
    with StageProgress(stream) as stages:
        stages("reading")
    assert stream.getvalue() == ""


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert choose_ink(Terminal()).colour
    assert not choose_ink(io.StringIO()).colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not choose_ink(Terminal()).colour


@pytest.mark.parametrize(("columns", "width"), [(60, 80), (90, 90), (250, 100)])
def test_lines_are_as_long_as_the_terminal_takes_within_reason(
    monkeypatch: pytest.MonkeyPatch, columns: int, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert measure_width(Terminal()) == width
    assert measure_width(io.StringIO()) == 100
