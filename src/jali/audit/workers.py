"""Everything that is registered, audited in several processes at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from jali.audit.effort import Effort
from jali.audit.finding import Finding
from jali.audit.outcome import Audit, Audits
from jali.audit.runner import audit_all, audit_within, jointly
from jali.audit.shares import Shares, slow_first
from jali.audit.subject import Subject
from jali.audit.subjects import entries, subjects
from jali.audit.testers.tester import Progress, silent


def audit_registered(
    effort: Effort | None = None,
    *,
    seconds: float | None = None,
    brief: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Audits:
    """Audit all that Jali has; the arguments are those of `audit_all`.

    Args:
        effort: The samples of each, and the confidence of all of them together.
        seconds: About how long to take in all; as long as it takes by default.
        brief: Leave out the stages that are not needed where the law of the outputs is known.
        workers: How many processes; one for each core by default.
        progress: Is told what is at work.
    """
    effort, number = effort or Effort(), workers or cores()
    if number == 1:
        return audit_all(subjects(), effort, seconds=seconds, brief=brief, progress=progress)
    held = subjects()
    each, shares = jointly(effort, len(held)), Shares.among(held, seconds, number)
    # A forked process would share what threads hold.
    with ProcessPoolExecutor(number, get_context("spawn")) as pool:
        made: dict[int, Audit] = {}
        for place, findings, given, took in _finished(pool, held, each, shares, brief):
            made[place] = Audit(held[place], findings, given, took)
            progress(f"{len(made)} of {len(held)}: {held[place].name}")
    return Audits(tuple(made[place] for place in sorted(made)), effort, shares.taken)


def cores() -> int:
    """Return how many processes can run at once."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


_Finished = tuple[int, tuple[Finding, ...], Effort, float]


def _finished(
    pool: ProcessPoolExecutor, held: Sequence[Subject], each: Effort, shares: Shares, brief: bool
) -> Iterator[_Finished]:
    """Yield audits as they end; a new one begins with what time is left then."""
    order = iter(slow_first(held))
    running: set[Future[_Finished]] = set()
    while True:
        for place in order:
            running.add(pool.submit(_audited, place, each, shares.next(held[place]), brief))
            if len(running) >= shares.workers:
                break
        if not running:
            return
        ended, running = wait(running, return_when=FIRST_COMPLETED)
        for one in ended:
            yield one.result()


def _audited(place: int, effort: Effort, seconds: float | None, brief: bool) -> _Finished:
    """Audit one subject in a process of its own; subjects are made there again, as functions do not travel."""
    made = audit_within(entries()[place].subject, effort, seconds, brief=brief)
    return place, made.findings, made.effort, made.seconds
