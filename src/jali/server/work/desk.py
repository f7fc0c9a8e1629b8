"""The desk: takes questions, has them paid and read for in threads, and remembers which are under way."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Container, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from jali.database.asking import Begun, Found, Stage
from jali.server.work.job import Job

T = TypeVar("T")
Begin = Callable[[Stage], "Found[Any] | Begun[Any]"]
# Planning and the ledger: the ledger has one writer at a time, so that more threads would only wait.
_FRONT, _DOORS = 4, 2
# How many plans of one caller are made at once, and how many wait; how many streams of events one caller has open.
_TURNS, _MOST_TURNS, _MOST_FOLLOWED = 2, 256, 16


class Busy(Exception):  # noqa: N818 - an answer, not a mishap
    """There is no room for another question now. Nothing was spent."""


class Desk:
    """Where questions wait.

    Guarantee:
        At most `waiting` questions are under way, and one that finds no room is not paid. What is paid is finished
        whoever has left; or its receipt stays open in the ledger, to be redeemed.

    Args:
        workers: How many questions are read for at once.
        waiting: How many may be under way.
    """

    def __init__(self, *, workers: int, waiting: int) -> None:
        self._doors = ThreadPoolExecutor(_DOORS, "jali-door")
        self._front = ThreadPoolExecutor(_FRONT, "jali-front")
        self._engine = ThreadPoolExecutor(workers, "jali-engine")
        self._lab = ThreadPoolExecutor(1, "jali-lab")
        self._free, self._waiting = waiting, waiting
        self._in_lab = 0
        self._jobs: dict[str, Job] = {}
        self._begun: dict[Hashable, asyncio.Task[Found[Any] | Job]] = {}
        self._turns: dict[str, tuple[asyncio.Semaphore, int]] = {}
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
        return self._waiting - self._free

    @property
    def working(self) -> Container[str]:
        """The receipts of questions that are being answered now."""
        return self._jobs.keys()

    def job(self, receipt: str) -> Job | None:
        """Return the question of a receipt, if it is being answered now."""
        return self._jobs.get(receipt)

    async def at_door(self, function: Callable[[], T]) -> T:
        """Run something short: who somebody is."""
        return await asyncio.get_running_loop().run_in_executor(self._doors, function)

    async def in_front(self, function: Callable[[], T]) -> T:
        """Run something that reads no data: planning, or the ledger."""
        return await asyncio.get_running_loop().run_in_executor(self._front, function)

    async def planning(self, whose: str, function: Callable[[], T]) -> T:
        """Plan for a caller: two plans of one caller at a time, so that dear ones keep nobody else waiting."""
        turns, waiting = self._turns.get(whose, (asyncio.Semaphore(_TURNS), 0))
        if waiting >= _MOST_TURNS or self._stopped:
            raise Busy
        self._turns[whose] = (turns, waiting + 1)
        try:
            async with turns:
                return await self.in_front(function)
        finally:
            left = self._turns[whose][1] - 1
            self._turns[whose] = (turns, left)
            if not left:
                del self._turns[whose]

    async def in_engine(self, function: Callable[[], T]) -> T:
        """Run something that pays and reads in one step; refuse it, unpaid, where there is no room."""
        if self._free <= 0 or self._stopped:
            raise Busy
        self._free -= 1
        try:
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._engine, function))
        finally:
            self._free += 1

    async def in_lab(self, function: Callable[[], T], *, most: int = 4) -> T:
        """Run something on made-up data, one after the other; refuse when several wait already."""
        if self._in_lab >= most or self._stopped:
            raise Busy
        self._in_lab += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lab, function)
        finally:
            self._in_lab -= 1

    async def take(self, key: Hashable, begin: Begin, whose: str) -> Found[Any] | Job:
        """Take a question: return its answer if there is one, or the job that will find it.

        The same question of the same caller, while it is being paid, is the same question: it is begun once.
        """
        if key not in self._begun:
            task = asyncio.ensure_future(self._begin(begin, whose))
            self._begun[key] = task
            task.add_done_callback(lambda _: self._begun.pop(key, None))
        # Whoever leaves does not take the question along.
        return await asyncio.shield(self._begun[key])

    async def _begin(self, begin: Begin, whose: str) -> Found[Any] | Job:
        if self._free <= 0 or self._stopped:
            raise Busy
        self._free -= 1
        try:
            begun = await self.planning(whose, partial(begin, _unheard))
        except BaseException:
            self._free += 1
            raise
        if isinstance(begun, Found):
            self._free += 1
            return begun
        return self._work_on(begun)

    def _work_on(self, begun: Begun[Any]) -> Job:
        """Have a paid question read for. One that is being read for already is not begun a second time."""
        known = self._jobs.get(begun.receipt)
        if known is not None:
            self._free += 1
            return known
        job = Job(begun.receipt)
        self._jobs[begun.receipt] = job
        loop = asyncio.get_running_loop()
        try:
            running = self._engine.submit(job.run, begun)
        except RuntimeError:  # the server is stopping: the receipt stays open
            self._ended(job)
            raise Busy from None
        running.add_done_callback(partial(self._call_back, loop, job))
        return job

    def _call_back(self, loop: asyncio.AbstractEventLoop, job: Job, _: Future[None]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._ended, job)

    def _ended(self, job: Job) -> None:
        self._jobs.pop(job.receipt, None)
        self._free += 1

    def check_following(self, whose: str) -> None:
        """Refuse a caller more streams of events than a few pages have."""
        if self._followed[whose] >= _MOST_FOLLOWED or self._stopped:
            raise Busy

    @asynccontextmanager
    async def following(self, whose: str) -> AsyncIterator[None]:
        """Count an open stream of events of a caller."""
        self._followed[whose] += 1
        try:
            yield
        finally:
            self._followed[whose] -= 1
            if not self._followed[whose]:
                del self._followed[whose]

    async def outcome(self, job: Job, seconds: float) -> Found[Any] | None:
        """Wait for a job; return None when the time is over, or the server's. The job goes on."""
        self._over = self._over or asyncio.Event()
        waited, over = asyncio.wrap_future(job.outcome), asyncio.ensure_future(self._over.wait())
        both: set[asyncio.Future[Any]] = {waited, over}
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if not waited.done():
            waited.cancel()  # the wrapper alone: a running future cannot be cancelled
            return None
        return waited.result()

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
        for pool in (self._doors, self._front, self._engine, self._lab):
            pool.shutdown(wait=False, cancel_futures=True)
        return sum(not outcome.done() for outcome in left)


def _unheard(_: str) -> None:
    """Stages before paying are too short to be told."""
