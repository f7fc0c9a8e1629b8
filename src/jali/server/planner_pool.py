"""Plan in other processes: a plan that takes long delays neither the event loop nor the threads of a server.

Each process plans one question at a time, with limits on its CPU time and memory. One that exceeds them is ended,
and another one is started for the next question. Analysts and curators have processes of their own.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jali
from jali.catalog.tables import Catalog
from jali.errors import QueryError
from jali.ir.expressions import Question
from jali.planner import Plan
from jali.planner.terms import TermArguments, check_term_names
from jali.server.jobs import LANE, Lane
from jali.server.planning_process import MOST_CATALOGS, PlanningRequest, PlanningResult, read_frame, write_frame
from jali.sql.question_limits import Limits

if TYPE_CHECKING:
    from jali.batch import BatchQuestion
    from jali.explain import AggregateNote, Explanation
    from jali.planner.batch import BatchBudget, BatchPlan

# How many times its CPU time a plan may take on a machine that does other things.
_PATIENCE = 10.0
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_CURATORS = 1
# Imported by its name, as what it sends back is of classes of that module.
_STARTED = "from jali.server.planning_process import main; main()"


class _ProcessEnded(Exception):  # noqa: N818 - of a process, not a mishap
    """The process has ended before it answered."""


class _PlannerProcess:
    """One process that plans."""

    def __init__(self, memory: int) -> None:
        # The package of this process, wherever it was loaded from.
        path = os.pathsep.join([str(Path(jali.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-c", _STARTED, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ONE_THREAD | {"PYTHONPATH": path},
        )
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def ask(self, request: PlanningRequest, catalog: Catalog | None) -> PlanningResult:
        """Send a request, with its catalog where the process does not have it, and wait for what it finds."""
        sent = request if request.digest in self._known or catalog is None else _add_catalog(request, catalog)
        found = self._exchange(sent)
        if found.unknown and catalog is not None:
            found = self._exchange(_add_catalog(request, catalog))
        if request.digest is not None:
            self._known[request.digest] = None
            self._known.move_to_end(request.digest)
            while len(self._known) > MOST_CATALOGS:
                self._known.popitem(last=False)
        return found

    def _exchange(self, request: PlanningRequest) -> PlanningResult:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            write_frame(self._process.stdin, request)  # type: ignore[arg-type] # a pipe of bytes
            found = read_frame(self._process.stdout) if self._answers(request.seconds) else None  # type: ignore[arg-type]
        except (OSError, EOFError, ValueError):
            found = None
        if not isinstance(found, PlanningResult):
            raise _ProcessEnded
        return found

    def _answers(self, seconds: float) -> bool:
        """Wait until the process answers; say whether it did in time."""
        assert self._process.stdout is not None
        waiting = select.poll()
        waiting.register(self._process.stdout, select.POLLIN)
        return bool(waiting.poll(1000 * _PATIENCE * (seconds + 1)))

    def end(self) -> int:
        """End the process, and return how it ended by itself."""
        status = self._process.poll()
        if status is None:
            try:
                status = self._process.wait(0.5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        return status

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()
        self.end()


def _add_catalog(request: PlanningRequest, catalog: Catalog) -> PlanningRequest:
    return PlanningRequest(
        request.method,
        request.arguments,
        request.options,
        request.limits,
        request.seconds,
        request.digest,
        catalog,
    )


class PlannerPool:
    """Processes that plan, each for one question at a time.

    Args:
        count: How many plan for analysts; one more plans for curators.
        seconds: How much CPU time one plan may take.
        memory: How many bytes a process may use.
    """

    def __init__(self, *, count: int, seconds: float, memory: int) -> None:
        self._seconds, self._memory = seconds, memory
        self._places: dict[Lane, queue.LifoQueue[_PlannerProcess | None]] = {
            Lane.ANALYSTS: queue.LifoQueue(),
            Lane.CURATORS: queue.LifoQueue(),
        }
        for lane, number in ((Lane.ANALYSTS, count), (Lane.CURATORS, _CURATORS)):
            for _ in range(number):
                self._places[lane].put(None)
        self._lock = threading.Lock()
        self._digests: OrderedDict[tuple[int, ...], tuple[Catalog, bytes]] = OrderedDict()

    def start(self) -> None:
        """Start a process for each lane, so that the first question does not wait for it."""
        for places in self._places.values():
            process = places.get()
            places.put(process or _PlannerProcess(self._memory))

    def close(self) -> None:
        """End the processes that do nothing now; others end with this process."""
        for places in self._places.values():
            kept: list[_PlannerProcess | None] = []
            while not places.empty():
                kept.append(places.get_nowait())
            for process in kept:
                if process is not None:
                    process.kill()
                places.put(None)

    def call(
        self,
        limits: Limits,
        method: str,
        *arguments: Any,
        catalog: Catalog | None = None,
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Call a method of a planner in a process, with a catalog where it takes one.

        Raises:
            JaliError: What the planner raised, or that the plan takes too long.
        """
        digest = None if catalog is None else self._find_digest(catalog)
        request = PlanningRequest(method, arguments, options or {}, limits, self._seconds, digest)
        places = self._places[LANE.get()]
        process = places.get()
        try:
            process = process or _PlannerProcess(self._memory)
            found = process.ask(request, catalog)
        except BaseException as problem:
            ended = None if process is None else process.end()
            process = None
            if isinstance(problem, _ProcessEnded):
                raise self._build_refusal(ended) from None
            raise
        finally:
            places.put(process)
        if found.refusal is not None:
            raise found.refusal
        return found.value

    def _build_refusal(self, status: int | None) -> QueryError:
        if status == -signal.SIGPROF:
            return QueryError("planning-too-slow", seconds=self._seconds)
        return QueryError("planning-too-large")

    def _find_digest(self, catalog: Catalog) -> bytes:
        """Return what tells catalogs apart. Tables that are not declared again are the same objects."""
        key = tuple(id(table) for table in catalog.tables)
        with self._lock:
            known = self._digests.get(key)
            if known is None:
                digest = hashlib.sha256(pickle.dumps(catalog, protocol=5)).digest()
                known = self._digests[key] = catalog, digest
                while len(self._digests) > 4 * MOST_CATALOGS:
                    self._digests.popitem(last=False)
        return known[1]


class RemotePlanner:
    """Plans in other processes.

    Guarantee:
        A plan that takes more than its CPU time or memory is refused, and delays nobody but who asked for it and
        those who wait for the same lane.

    Args:
        processes: Where.
        limits: How large a question may be.
    """

    def __init__(self, processes: PlannerPool, limits: Limits) -> None:
        self.processes, self.limits = processes, limits

    def plan(self, question: str | Question, given: TermArguments, catalog: Catalog) -> Plan:
        """Plan a question, with the engine's queries."""
        check_term_names(given)
        found: Plan = self.processes.call(self.limits, "plan", question, given, catalog=catalog)
        return found

    def plan_batch(
        self, wanted: Sequence[BatchQuestion], total: BatchBudget, catalog: Catalog, *, agree: bool
    ) -> BatchPlan:
        """Plan the questions of a batch together."""
        found: BatchPlan = self.processes.call(
            self.limits, "plan_batch", tuple(wanted), total, catalog=catalog, options={"agree": agree}
        )
        return found

    def read(self, question: str | Question, given: TermArguments) -> tuple[Question, TermArguments]:
        """Return a question as nodes, and its terms with those of its clause."""
        found: tuple[Question, TermArguments] = self.processes.call(self.limits, "read", question, given)
        return found

    def explain(self, plan: Plan) -> Explanation:
        """Say everything about a plan that a reader may want to know."""
        found: Explanation = self.processes.call(self.limits, "explain", plan)
        return found

    def explain_batch(self, plan: BatchPlan) -> str:
        """Write how a batch would be answered."""
        found: str = self.processes.call(self.limits, "explain_batch", plan)
        return found

    def notes(self, plan: Plan) -> tuple[AggregateNote, ...]:
        """Say how close each aggregate of a plan will come."""
        found: tuple[AggregateNote, ...] = self.processes.call(self.limits, "notes", plan)
        return found


@lru_cache(maxsize=4)
def get_shared_pool(count: int, seconds: float, memory: int) -> PlannerPool:
    """Return the processes of all servers of this process that have the same settings."""
    import atexit

    made = PlannerPool(count=count, seconds=seconds, memory=memory)
    atexit.register(made.close)
    return made


def is_possible() -> bool:
    """Say whether this system can limit the CPU time of a process."""
    return hasattr(signal, "setitimer") and hasattr(signal, "SIGPROF")
