"""What every side of the question benchmark shares: how a question is timed and its answers printed.

Linux only: CPU seconds and memory are those of the process and of all that it started (Spark's is a child).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

ROW, PERSON = "row", "person"
WARM = 3  # the warm answers that are asked for, unless they would take longer than the time that is given

# One answer: its numbers by city or zone, numbered from 0; a group that is not shown is not there.
Numbers = Mapping[Any, Any]
Release = Callable[[], Numbers]


class NotOfferedError(Exception):
    """The side has no such question; the message says why."""


def measure(prepare: Callable[[str, str, str], Release]) -> None:
    """Answer the questions that the arguments name (source, seconds, then level/question); print their records.

    The first answer is timed from the start of the process, so only the first question of one has it.
    """
    source, seconds, *asked = sys.argv[1:]
    for number, one in enumerate(asked):
        level, name = one.split("/")
        try:
            record = _measured(prepare(source, level, name), float(seconds))
        except Exception as problem:  # whatever a peer says, the others go on
            record = {"refused": _told(problem)}
        if number:
            record.pop("first", None)
        print("\n" + json.dumps({"level": level, "name": name, **record}), flush=True)


def _told(problem: Exception) -> str:
    words = " ".join(str(problem).split())[:160]
    return words if isinstance(problem, NotOfferedError) else f"{type(problem).__name__}: {words}"


def _measured(release: Release, seconds: float) -> dict[str, Any]:
    """Time the first answer from the start of the process, then warm ones."""
    answers = [_plain(release())]
    first = _cpu()
    warm: list[float] = []
    while len(warm) < WARM and (not warm or sum(warm) < seconds):
        start = _cpu()
        answers.append(_plain(release()))
        warm.append(_cpu() - start)
    return {"first": first, "warm": min(warm), "peak": _peak(), "answers": answers}


def _plain(numbers: Numbers) -> dict[str, float]:
    return {str(int(group)): float(number) for group, number in numbers.items() if number is not None}


def _cpu() -> float:
    """Return the CPU seconds of the process, its children, and the children that these have waited for."""
    ticks = sum(sum(int(field) for field in _stat(pid)[11:15]) for pid in _descendants(os.getpid()))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """Return the fields of the kernel's record that follow the command's name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _peak() -> float:
    """Return the most memory that the process and its children had, in bytes, as if all had it at once."""
    return sum(_most(pid) for pid in (os.getpid(), *_descendants(os.getpid())))


def _most(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        children: list[str] = []
        with suppress(OSError):  # a thread may end while it is looked at
            children = (task / "children").read_text().split()
        for child in children:
            yield int(child)
            yield from _descendants(int(child))
