"""A process that plans questions for a server, with limits on its time and memory.

`jali.server.planner_pool` starts it. It reads requests from its standard input and writes the results to its
standard output, one after the other, until its input ends. One that takes more CPU time than allowed ends.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

from jali.catalog.tables import Catalog
from jali.errors import JaliError
from jali.sql.question_limits import Limits

# How many catalogs a process remembers: as many as the server believes that it does.
MOST_CATALOGS = 8
_LENGTH = struct.Struct(">Q")
# Less often than usual, as trees of questions are garbage with cycles and all else stays.
_GARBAGE = 50_000
_NICENESS = 5


@dataclass(frozen=True)
class PlanningRequest:
    """What is asked of a planning process.

    Attributes:
        method: A method of `LocalPlanner`.
        arguments: What it takes, but for the catalog.
        options: What else it takes by name.
        limits: How large a question may be.
        seconds: How much CPU time it may take.
        digest: Which catalog.
        catalog: The catalog itself, where the process has not seen it.
    """

    method: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    limits: Limits
    seconds: float
    digest: bytes | None = None
    catalog: Catalog | None = None


@dataclass(frozen=True)
class PlanningResult:
    """What a planning process found: a value, a refusal, or that it does not know the catalog."""

    value: Any = None
    refusal: JaliError | None = None
    unknown: bool = False


def write_frame(stream: BinaryIO, value: Any) -> None:
    """Write a value with its length before it."""
    body = pickle.dumps(value, protocol=5)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Read a value that `write_frame` wrote.

    Raises:
        EOFError: The stream has ended.
    """
    head = stream.read(_LENGTH.size)
    body = stream.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    if len(head) < _LENGTH.size or len(body) < _LENGTH.unpack(head)[0]:
        raise EOFError
    return pickle.loads(body)


class _CatalogCache:
    """The catalogs that were sent last, by their digests."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Catalog] = OrderedDict()

    def take(self, request: PlanningRequest) -> Catalog | None:
        assert request.digest is not None
        found = request.catalog or self._known.get(request.digest)
        if found is not None:
            self._known[request.digest] = found
            self._known.move_to_end(request.digest)
            while len(self._known) > MOST_CATALOGS:
                self._known.popitem(last=False)
        return found


def main() -> None:
    """Plan until the input ends."""
    # Whatever prints must not write into the answers.
    requests, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server that is told to stop closes the input
    _limit_memory(int(sys.argv[1]))
    with suppress(OSError):
        os.nice(_NICENESS)
    _warm_up()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    catalogs = _CatalogCache()
    while True:
        try:
            request = read_frame(requests)
        except EOFError:
            return
        # Whoever uses up the time is ended by the signal, whose action is the default one.
        signal.setitimer(signal.ITIMER_PROF, request.seconds)
        found = _answer(request, catalogs)
        write_frame(results, found)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _answer(request: PlanningRequest, catalogs: _CatalogCache) -> PlanningResult:
    from jali.execution.question_planner import LocalPlanner

    options = request.options
    if request.digest is not None:
        catalog = catalogs.take(request)
        if catalog is None:
            return PlanningResult(unknown=True)
        options = options | {"catalog": catalog}
    try:
        value = getattr(LocalPlanner(_get_engine(), request.limits), request.method)(*request.arguments, **options)
        _freeze(value)
        return PlanningResult(value)
    except JaliError as refusal:
        refusal.__cause__ = refusal.__context__ = None
        return PlanningResult(refusal=refusal)


def _freeze(value: Any) -> None:
    """Write a plan as text here, where it keeps nobody waiting: the texts go with it."""
    for name in ("encoded", "wordless"):
        getattr(value, name, None)


_ENGINES: list[Any] = []


def _get_engine() -> Any:
    """Return what writes queries. It is never connected to anything."""
    if not _ENGINES:
        from jali.engines.duckdb import DuckDBEngine
        from jali.engines.router import Router

        _ENGINES.append(Router(DuckDBEngine()))
    return _ENGINES[0]


def _warm_up() -> None:
    """Load what the first question would wait for."""
    from jali.execution.question_planner import LocalPlanner

    with suppress(JaliError):
        LocalPlanner(_get_engine()).plan("SELECT COUNT(*), AVG(x) FROM t WHERE x > 1", {"epsilon": 1}, Catalog(()))


def _limit_memory(limit: int) -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
