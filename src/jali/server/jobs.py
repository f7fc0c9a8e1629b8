"""The job queue: questions wait for threads, are reserved, run and released, and can be followed and cancelled.

Queues are bounded. Curators' requests have lanes, that is threads and processes, of their own, which no analyst's
work can occupy: whatever analysts ask, a curator is served.

Statement:
    Answers leave at fixed times after their question came, whatever the engine took. With an interval s, what
    `Pace.hold` delays leaves k s after the question came, for the least whole k >= 1 that is not before the
    engine was done. So the time of an answer tells one of a few values. A worker stays taken until then: the
    time that others wait for it tells no more.
Proof:
    docs/threat_model.md, "Time", says what is left, with a measurement.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from jali.engines.base import Cancellation
from jali.execution.reservation import ReleasedAnswer, ReservedQuestion, RunContext, Stage


class Lane(Enum):
    """Whose work it is."""

    ANALYSTS = "analysts"
    CURATORS = "curators"


# Whose request is being answered. It is set once it is known who makes it, and goes with it into threads.
LANE: ContextVar[Lane] = ContextVar("jali-lane", default=Lane.ANALYSTS)


@dataclass(frozen=True)
class Pace:
    """When an answer may leave.

    Attributes:
        interval: In seconds; 0 for at once.
        began: When the question came, on the monotonic clock.
    """

    interval: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def hold(self) -> None:
        """Wait until the next multiple of the interval."""
        if not self.interval:
            return
        end = self.began + self.release_after(time.monotonic() - self.began)
        while (left := end - time.monotonic()) > 0:
            time.sleep(left)

    def release_after(self, elapsed: float) -> float:
        """Return the time at which an answer leaves that was found after so many seconds.

        Example:
            >>> pace = Pace(0.5)
            >>> pace.release_after(0.1), pace.release_after(0.5), pace.release_after(1.2)
            (0.5, 0.5, 1.5)
        """
        return self.interval * max(1, math.ceil(elapsed / self.interval))


@dataclass
class Job:
    """A paid question on its way to its answer.

    Attributes:
        receipt: Its receipt.
        stage: What is done for it now. Only words of the walk of a question: nothing of the engine's progress.
        outcome: What will be found.
        cancellation: Stops the engine.
        waiting: How many requests wait for it now.
        pace: When it may be answered.
        expected: Whether somebody was told the receipt while it was worked on, and is expected to come back.
    """

    receipt: str
    stage: str = "waiting"
    outcome: Future[ReleasedAnswer[Any]] = field(default_factory=Future)
    cancellation: Cancellation = field(default_factory=Cancellation)
    waiting: int = 0
    expected: bool = False
    pace: Pace = field(default_factory=Pace)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        # Whoever stops waiting must not cancel it.
        self.outcome.set_running_or_notify_cancel()

    @property
    def elapsed(self) -> float:
        """For how many seconds somebody has waited."""
        return time.monotonic() - self._began

    @property
    def done(self) -> bool:
        """Whether its answer was found, or could not be."""
        return self.outcome.done()

    def run(self, begun: ReservedQuestion[Any]) -> None:
        """Find the answer."""
        try:
            self.outcome.set_result(begun.finish(RunContext(self._at, self.cancellation, self.pace.hold)))
        except BaseException as problem:
            self.outcome.set_exception(problem)

    def cancel(self) -> None:
        """Stop the engine. The receipt stays open, to be redeemed."""
        self.cancellation.cancel()

    def leave(self) -> None:
        """Take note that a client that waited is gone; where nobody else waits or is expected, stop."""
        if self.waiting == 0 and not self.expected and not self.done:
            self.cancel()

    def _at(self, stage: str) -> None:
        self.stage = stage


T = TypeVar("T")
Begin = Callable[[Stage], "ReleasedAnswer[Any] | ReservedQuestion[Any]"]
# Returns when a client has left.
Disconnected = Callable[[], Awaitable[object]]
# The ledger has one writer at a time, so that more threads would only wait.
_LEDGER_THREADS, _AUTH_THREADS = 4, 2
# How many plans of one caller wait, and how many streams of events one caller has open.
_MOST_PLANS_WAITING, _MOST_FOLLOWED = 256, 16


class Busy(Exception):  # noqa: N818 - an answer, not a mishap
    """There is no room for another question now. Nothing was spent."""


class _LanePools:
    """The threads of one lane: for the ledger, for planning and paying, and for reading."""

    def __init__(self, lane: Lane, *, planners: int, workers: int) -> None:
        self.ledger = ThreadPoolExecutor(_LEDGER_THREADS, f"jali-front-{lane.value}")
        self.planning = ThreadPoolExecutor(planners, f"jali-planning-{lane.value}")
        self.engine = ThreadPoolExecutor(workers, f"jali-engine-{lane.value}")

    @property
    def pools(self) -> tuple[ThreadPoolExecutor, ...]:
        return self.ledger, self.planning, self.engine


class JobQueue:
    """Where questions wait.

    Guarantee:
        At most `waiting` questions of analysts are under way, and as many of curators; one that finds no room is
        not paid. What is paid is finished or cancelled; then its receipt stays open in the ledger, to be redeemed.

    Args:
        workers: How many questions of a lane are read for at once.
        waiting: How many may be under way.
        planners: How many questions of analysts are planned at once.
        pace: Answers leave a multiple of so many seconds after their question came; 0 for at once.
    """

    def __init__(self, *, workers: int, waiting: int, planners: int = 2, pace: float = 0.0) -> None:
        self._pace = pace
        self._auth = ThreadPoolExecutor(_AUTH_THREADS, "jali-door")
        # A thread more than processes, which pays for a question while others are planned.
        self._lanes = {lane: _LanePools(lane, planners=planners + 1, workers=workers) for lane in Lane}
        self._lab = ThreadPoolExecutor(1, "jali-lab")
        self._free, self._waiting = dict.fromkeys(Lane, waiting), waiting
        # No caller has all planners.
        self._slots_each = max(1, planners - 1)
        self._in_lab = 0
        self._jobs: dict[str, Job] = {}
        self._begun: dict[Hashable, asyncio.Task[ReleasedAnswer[Any] | Job]] = {}
        self._slots: dict[str, tuple[asyncio.Semaphore, int]] = {}
        self._followed: Counter[str] = Counter()
        self._stopped = False
        self._until: float | None = None
        self._over: asyncio.Event | None = None

    @property
    def stopping(self) -> bool:
        """Whether the server is told to stop: nothing more is taken, and streams of events end."""
        return self._stopped

    @property
    def under_way(self) -> int:
        """How many questions are being answered."""
        return sum(self._waiting - free for free in self._free.values())

    @property
    def working(self) -> Container[str]:
        """The receipts of questions that are being answered now."""
        return self._jobs.keys()

    def find_job(self, receipt: str) -> Job | None:
        """Return the question of a receipt, if it is being answered now."""
        return self._jobs.get(receipt)

    async def run_authentication(self, function: Callable[[], T]) -> T:
        """Run something short: who somebody is."""
        return await asyncio.get_running_loop().run_in_executor(self._auth, function)

    async def run_without_data(self, function: Callable[[], T]) -> T:
        """Run something that reads no data: the ledger, or an answer that is written."""
        return await _run_in_pool(self._lanes[LANE.get()].ledger, function)

    async def run_planning(self, whose: str, function: Callable[[], T]) -> T:
        """Plan for a caller; some plans of one caller at a time, so that slow ones keep nobody else waiting."""
        slots, waiting = self._slots.get(whose, (asyncio.Semaphore(self._slots_each), 0))
        if waiting >= _MOST_PLANS_WAITING or self._stopped:
            raise Busy
        self._slots[whose] = (slots, waiting + 1)
        try:
            async with slots:
                return await _run_in_pool(self._lanes[LANE.get()].planning, function)
        finally:
            left = self._slots[whose][1] - 1
            self._slots[whose] = (slots, left)
            if not left:
                del self._slots[whose]

    async def run_with_data(self, function: Callable[[RunContext], T]) -> T:
        """Run something that pays and reads in one step; refuse it, unpaid, where there is no room."""
        watch, lane = RunContext(hold=Pace(self._pace).hold), self._take_slot()
        try:
            return await asyncio.shield(_run_in_pool(self._lanes[lane].engine, partial(function, watch)))
        finally:
            self._free[lane] += 1

    def _take_slot(self) -> Lane:
        """Take room for a question; refuse it where there is none."""
        lane = LANE.get()
        if self._free[lane] <= 0 or self._stopped:
            raise Busy
        self._free[lane] -= 1
        return lane

    async def run_lab(self, function: Callable[[], T], *, most: int = 4) -> T:
        """Run something on made-up data, one after the other; refuse when several wait already."""
        if self._in_lab >= most or self._stopped:
            raise Busy
        self._in_lab += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lab, function)
        finally:
            self._in_lab -= 1

    async def submit(self, key: Hashable, begin: Begin, whose: str) -> ReleasedAnswer[Any] | Job:
        """Take a question: return its answer if there is one, or the job that will find it.

        The same question of the same caller, while it is being paid, is the same question: it is begun once.
        """
        if key not in self._begun:
            task = asyncio.ensure_future(self._begin(begin, whose))
            self._begun[key] = task
            task.add_done_callback(lambda _: self._begun.pop(key, None))
        # Whoever leaves does not take the question along.
        return await asyncio.shield(self._begun[key])

    async def _begin(self, begin: Begin, whose: str) -> ReleasedAnswer[Any] | Job:
        pace, lane = Pace(self._pace), self._take_slot()
        try:
            begun = await self.run_planning(whose, partial(begin, _ignore_stage))
        except BaseException:
            self._free[lane] += 1
            raise
        if isinstance(begun, ReleasedAnswer):
            self._free[lane] += 1
            return begun
        return self._start_job(begun, lane, pace)

    def _start_job(self, begun: ReservedQuestion[Any], lane: Lane, pace: Pace) -> Job:
        """Have a paid question read for. One that is being read for already is not begun a second time."""
        known = self._jobs.get(begun.receipt)
        if known is not None:
            self._free[lane] += 1
            return known
        job = Job(begun.receipt, pace=pace)
        self._jobs[begun.receipt] = job
        loop = asyncio.get_running_loop()
        try:
            running = self._lanes[lane].engine.submit(job.run, begun)
        except RuntimeError:  # the server is stopping: the receipt stays open
            self._end_job(job, lane)
            raise Busy from None
        running.add_done_callback(partial(self._call_back, loop, job, lane))
        return job

    def _call_back(self, loop: asyncio.AbstractEventLoop, job: Job, lane: Lane, _: Future[None]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._end_job, job, lane)

    def _end_job(self, job: Job, lane: Lane) -> None:
        self._jobs.pop(job.receipt, None)
        self._free[lane] += 1

    def check_following(self, whose: str) -> None:
        """Refuse a caller more streams of events than a few pages have."""
        if self._followed[whose] >= _MOST_FOLLOWED or self._stopped:
            raise Busy

    @asynccontextmanager
    async def count_follower(self, whose: str) -> AsyncIterator[None]:
        """Count an open stream of events of a caller."""
        self._followed[whose] += 1
        try:
            yield
        finally:
            self._followed[whose] -= 1
            if not self._followed[whose]:
                del self._followed[whose]

    async def wait_for_outcome(
        self, job: Job, seconds: float, disconnected: Disconnected | None = None
    ) -> ReleasedAnswer[Any] | None:
        """Wait for a job; return None when the time is over, or the server's. The job goes on.

        Where the client has disconnected before, and nobody else waits for the job, it is cancelled.
        """
        self._over = self._over or asyncio.Event()
        waited, over = asyncio.wrap_future(job.outcome), asyncio.ensure_future(self._over.wait())
        left: asyncio.Future[Any] | None = None if disconnected is None else asyncio.ensure_future(disconnected())
        every: set[asyncio.Future[Any]] = {waited, over}
        every |= set() if left is None else {left}
        job.waiting += 1
        try:
            await asyncio.wait(every, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            job.waiting -= 1
            for one in every - {waited}:
                one.cancel()
        if waited.done():
            return waited.result()
        waited.cancel()  # the wrapper alone: a running future cannot be cancelled
        if left is not None and left.done() and not left.cancelled():
            job.leave()
        else:
            job.expected = True
        return None

    async def wait_until_done(self, job: Job, seconds: float) -> None:
        """Wait until a job has ended, however; at most so many seconds."""
        waited = asyncio.wrap_future(job.outcome)
        await asyncio.wait({waited}, timeout=seconds)
        if waited.done():
            waited.exception()  # whoever waits for the answer is told
        else:
            waited.cancel()

    def close(self, grace: float) -> None:
        """Take nothing more; whoever waits is given the receipt a moment before the time is over."""
        self._stopped = True
        if self._until is None:
            loop = asyncio.get_running_loop()
            self._over = self._over or asyncio.Event()
            self._until = loop.time() + grace
            loop.call_later(0.8 * grace, self._over.set)

    async def stop(self, grace: float) -> int:
        """Take nothing more, give what is under way some seconds, and return how many receipts stay open."""
        self.close(grace)
        left = [job.outcome for job in self._jobs.values()]
        loop = asyncio.get_running_loop()
        seconds = max(0.0, (self._until or 0.0) - loop.time())
        await loop.run_in_executor(None, partial(wait, left, seconds))
        for pool in (self._auth, self._lab, *(pool for lane in self._lanes.values() for pool in lane.pools)):
            pool.shutdown(wait=False, cancel_futures=True)
        return sum(not outcome.done() for outcome in left)


async def _run_in_pool(pool: ThreadPoolExecutor, function: Callable[[], T]) -> T:
    """Run a function in a thread, which knows whose request it is for."""
    return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, function)


def _ignore_stage(_: str) -> None:
    """Stages before paying are too short to be told."""
