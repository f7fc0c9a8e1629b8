"""The data guard: what was checked is what is read, and a failure that may be the data's closes the table.

Statement:
    1. *Data versions.* A question reads a table only in the state in which it was checked: its fingerprint is
       compared before anything is charged, and before and after the engine has read. Checking is the curator's
       (`protect`, `publish`, `refresh`, `attach`, `check`); while it goes on, and after it refused, nobody asks.
    2. *Circuit breaker.* If an engine fails on a question for a reason that may be the data, the protected tables
       of the question are closed for everybody until the curator has looked: at most one bit leaves in this way,
       and it is in the trail. A limit of time closes a table the third time.
Why:
    Whether a question fails is visible. If one person's rows could decide it, every failing question would tell an
    exact bit about them, at no loss. The normalising scan (`catalog.value_domain`) and the bounds on intermediate
    rows (`planner.fanout`) leave no known way; this is for the unknown ones.
Proof:
    docs/proofs/outcomes.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from jali.catalog.tables import Public, Source, Table
from jali.engines.base import Cancellation
from jali.engines.router import RowsByQuery, run_unchanged
from jali.errors import CatalogError, EngineError
from jali.ir.aggregates import with_few_keys
from jali.ledger import Declaration

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.ledger import Ledger
    from jali.planner.measured_query import MeasuredQuery

T = TypeVar("T")
# No table is called like this: names have no spaces.
_PREFIX = "data of "
# How often a limit of time may be reached before a table is closed: each time may tell a bit.
_TIMES = 3
# Queries with more characters than this list many keys.
_LONG_QUERY = 1 << 17
# What closes a table at once: the cause may be the data.
_DATA, _TIME = ("engine-failed", "engine-failed-result"), "engine-time"


@dataclass(frozen=True)
class DataState:
    """What the ledger records about the data of a table.

    Attributes:
        fingerprint: The state that was checked; None before the first check.
        closed: Why nobody may ask: "checking" while it is checked or after that failed, "failure" after an engine
            failed; empty if it is open.
        receipt: The question on which an engine failed.
        times: How often a limit of time was reached since the curator last looked.
    """

    fingerprint: str | None = None
    closed: str = ""
    receipt: str = ""
    times: int = 0


# What was declared at one moment, by name.
Declarations: TypeAlias = Mapping[str, Declaration | None]


def name_state(table: str) -> str:
    """Name the declaration of the ledger that is the state of the data of a table."""
    return _PREFIX + table


def _find_state(declared: Declarations, table: str) -> DataState:
    found = declared.get(name_state(table))
    return _read_state(None if found is None else found.body)


def _read_state(body: str | None) -> DataState:
    return DataState() if body is None else DataState(**json.loads(body))


def refuse_closed(declared: Declarations, tables: Sequence[Table | Public]) -> None:
    """Refuse if one of the tables is closed.

    Raises:
        EngineError: with the code `table-closed`.
    """
    for table in tables:
        if _find_state(declared, table.name).closed:
            raise _build_closed_error(table)


def _list_checked(declared: Declarations, tables: Sequence[Table | Public]) -> list[tuple[Source, str]]:
    """Return what is read of each table, with the state that was checked; refuse a closed table."""
    refuse_closed(declared, tables)
    checked = []
    for table in tables:
        state = _find_state(declared, table.name)
        if state.fingerprint is not None:
            checked.append((table.read_from, state.fingerprint))
    return checked


class DataGuard:
    """Lets questions read tables in the state that was checked, and closes tables on which an engine failed."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self._ledger = ledger
        self._engine = engine

    def state(self, name: str) -> DataState:
        """Return what is known of the data of a table."""
        return _find_state(self._read(), name)

    def states(self) -> dict[str, DataState]:
        """Return what is known of the data of all tables that were ever checked."""
        declared = self._read()
        names = [name.removeprefix(_PREFIX) for name in declared if name.startswith(_PREFIX)]
        return {name: _find_state(declared, name) for name in names}

    def _read(self) -> Declarations:
        return {one.name: one for one in self._ledger.declarations()}

    # For the curator.

    def check(self, table: Table | Public) -> str | None:
        """Read a source in full, and return the state that was checked. Nothing is recorded.

        Raises:
            CatalogError: It has values that cannot be read, or was changed meanwhile.
        """
        source = table.source
        self._engine.reopen(source)
        before = self._engine.fingerprint(source)
        self._engine.check(table)
        if isinstance(table, Table) and table.unique:
            self._engine.check_unique(table)
        if isinstance(table, Table) and table.reach is not None:
            self._engine.check_key(table.reach.table, table.reach.there)
        if self._engine.fingerprint(source) != before:
            raise CatalogError("source-changed-at-check", table=table.name)
        return before

    def close(self, name: str) -> None:
        """Close a table before it is checked: no question is answered until it is opened."""
        self._put(name, replace(self.state(name), closed="checking"))

    def open(self, table: Table | Public, fingerprint: str | None) -> None:
        """Open a table whose data was checked in this state. A prepared copy was written from such data."""
        read = fingerprint if table.read_from == table.source else self._engine.fingerprint(table.read_from)
        self._put(table.name, DataState(read))

    # For questions.

    def admit(
        self, declared: Declarations, tables: Sequence[Table | Public], parts: Iterable[MeasuredQuery]
    ) -> None:
        """Refuse, before anything is charged, a table that is closed, not there, or not as it was checked.

        And queries that the engine cannot run on any data: they would be paid for, and close the table. Where one
        lists many keys, it is tried with few of them: what is done with each is the same. Whoever reserves makes
        sure that what was `declared` is still the latest then.

        Raises:
            EngineError: with what is to be done, and nothing about rows.
            Unsupported: if the engine cannot run a query.
        """
        for table in tables:
            state = _find_state(declared, table.name)
            if state.closed:
                raise _build_closed_error(table)
            self._engine.ready(table)
            if state.fingerprint is None:
                self._check_first(table)
            elif self._engine.fingerprint(table.read_from) != state.fingerprint:
                raise _build_stale_error(table)
        for part in parts:
            short = len(part.sql) <= _LONG_QUERY
            self._engine.compile(part.sql if short else self._engine.emit(with_few_keys(part.aggregation)), tables)

    def run_guarded(
        self,
        queries: Mapping[str, Sequence[Table | Public]],
        tables: Sequence[Table | Public],
        receipt: str,
        measure: Callable[[RowsByQuery], T],
        cancellation: Cancellation,
        declared: Declarations | None = None,
    ) -> T:
        """Run the queries of a question in the state of its tables that was checked, and measure what they return.

        That is the state which was `declared` where the question was reserved just now; else it is looked up.
        Whoever releases what was measured makes sure with `refuse_closed`, in the transaction of the release,
        that no table was closed meanwhile: else each question under way when an engine failed would tell a bit.
        Whatever goes wrong is raised again, as an error that does not depend on the data: the frames of the
        reading hold exact numbers. Where the data may be the cause, the tables are closed first.
        """
        try:
            checked = _list_checked(self._read() if declared is None else declared, tables)
            found = measure(run_unchanged(self._engine, queries, checked, cancellation))
        except EngineError as problem:
            error = problem.like(EngineError)
        except Exception:
            error = EngineError("engine-failed-result")
        else:
            return found
        raise self._count(tables, receipt, error)

    def _count(self, tables: Sequence[Table | Public], receipt: str, error: EngineError) -> EngineError:
        """Close the tables of a question that may have failed because of the data, and return what is said.

        Where one was closed already, that is all that is said: a question that did not fail is told the same.
        """
        if error.code not in (*_DATA, _TIME):
            return error
        earlier = None
        for table in tables:
            if isinstance(table, Public):
                continue
            before, after = self._count_failure(table, receipt, error.code)
            if before.closed:
                earlier = earlier or table
            elif after.closed:
                self._ledger.access.act("jali", "close table", f"{table.name} after receipt {receipt}")
        return error if earlier is None else _build_closed_error(earlier)

    def _count_failure(self, table: Table, receipt: str, code: str) -> tuple[DataState, DataState]:
        """Record a failure in one transaction; return the states before and after. A closed one stays closed."""
        states: list[DataState] = []

        def change(body: str | None) -> str:
            before = _read_state(body)
            times = before.times + (code == _TIME)
            failed = code in _DATA or times >= _TIMES
            after = replace(before, times=times, closed="failure" if failed else "", receipt=receipt)
            states[:] = [before, before if before.closed else after]
            return _write_state(states[1])

        self._ledger.amend(name_state(table.name), change)
        return states[0], states[1]

    def _check_first(self, table: Table | Public) -> None:
        """Check a table that an earlier version declared, which kept no state. Once, for its first question."""

        def begin(body: str | None) -> str:
            if _read_state(body) != DataState():
                raise _build_closed_error(table)
            return _write_state(DataState(closed="checking"))

        self._ledger.amend(name_state(table.name), begin)
        try:
            fingerprint = self.check(table)
        except CatalogError:
            fingerprint, sound = None, False
        else:
            sound = True
        if not sound:
            raise _build_closed_error(table)
        self.open(table, fingerprint)

    def _put(self, name: str, state: DataState) -> None:
        self._ledger.declare(name_state(name), _write_state(state))


def _write_state(state: DataState) -> str:
    return json.dumps(asdict(state), sort_keys=True)


def _build_closed_error(table: Table | Public) -> EngineError:
    return EngineError("table-closed", table=table.name)


def _build_stale_error(table: Table | Public) -> EngineError:
    if isinstance(table, Public):
        return EngineError("source-changed-public", table=table.name)
    return EngineError("source-changed", table=table.name)
