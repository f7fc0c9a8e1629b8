"""The declared tables of a database: kept in the ledger, read by the engine, with their prepared copies.

Statement:
    Prepared copies are kept beside a file; for a ledger in Postgres, in a directory of this machine's own. The
    path of a copy names the directory of the machine that wrote it, by a random word. So a copy that another
    machine wrote is missing here, whatever machines call their directories: it is never mistaken for one of
    another version of the data.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Kind
from jali.catalog.copy_names import BESIDE
from jali.catalog.spelling import suggest_name
from jali.catalog.tables import Catalog, Public, Source, Table
from jali.catalog.validate import check_frame, count_public
from jali.engines.copy_storage import PreparedCopies
from jali.errors import CatalogError, QueryError
from jali.execution.data_guard import DataGuard, DataState, name_state
from jali.ledger import Declaration, Ledger, PostgresLedger, table_account
from jali.planner import PLANS

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.ledger import Ledger


# The key of the ledger by which copies in Postgres and Spark are called.
_WORD = "copies"


def find_copy_directory(place: str | Path | None, ledger: Ledger) -> Path | None:
    """Return the directory of the copies of a database; None if they go with the process."""
    if place is None:
        return None
    if isinstance(ledger, PostgresLedger):
        return _find_machine_directory(ledger.name)
    file = Path(place)
    return file.absolute().with_name(file.name + BESIDE)


def name_engine_copies(ledger: Ledger, directory: Path | None) -> PreparedCopies | None:
    """Return what copies are called that other engines keep; None for a database that goes with the process."""
    return None if directory is None else PreparedCopies(lambda: ledger.access.key(_WORD), directory)


def _find_machine_directory(address: str) -> Path:
    """Return the directory of this user on this machine for a ledger; it is called by a word drawn once."""
    root = _find_state_directory() / "jali" / "prepared" / hashlib.sha256(address.encode()).hexdigest()[:16]
    with suppress(OSError):  # whoever prepares a table is told then; others need no directory
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = sorted(path for path in root.iterdir() if path.is_dir())
        if known:
            return known[0]
    return root / secrets.token_hex(8)


def _find_state_directory() -> Path:
    """Return where this user keeps what programs should remember; nowhere, if there is no home."""
    given = os.environ.get("XDG_STATE_HOME")
    if given:
        return Path(given)
    try:
        return Path.home() / ".local" / "state"
    except RuntimeError:
        return Path(os.devnull)  # beneath which nothing can be made: whoever prepares a table is told


# Declarations that say whose answers are recalled. No table is called like this.
_MEMORY = "memory of "


@dataclass(frozen=True)
class DeclaredState:
    """All that was declared, at one moment.

    Attributes:
        latest: The latest declaration of each name.
    """

    latest: Mapping[str, Declaration]

    @cached_property
    def tables(self) -> dict[str, Table | Public]:
        """All tables. Names with a space are declarations of other things: of the state of data, of an anchor."""
        read = {
            name: _read_table(one.body, bool((memory := self.latest.get(_MEMORY + name)) and memory.body))
            for name, one in self.latest.items()
            if " " not in name
        }
        return {name: _link_reach(table, read) for name, table in read.items()}

    @property
    def catalog(self) -> Catalog:
        """What questions may name."""
        return Catalog(tuple(self.tables.values()))

    def find_data_version(self, table: str) -> int:
        """Return how often the data of a table was said to be new, from 1."""
        return self.latest[table].data_version

    def describe_versions(self, tables: Iterable[Table | Public]) -> str:
        """Write the versions of tables, which the curator advances."""
        declared = (self.latest[table.name] for table in tables)
        return "".join(f"{one.version}\n{one.data_version}\n" for one in declared)

    def list_related(self, tables: Iterable[Table | Public]) -> dict[str, Declaration | None]:
        """Return what a question on some tables rests on: their declarations, their memory, the state of data."""
        names = [name for t in tables for name in (t.name, _MEMORY + t.name, name_state(t.name))]
        return {name: self.latest.get(name) for name in names}


class DeclaredTables:
    """The tables that the curator declared. Nothing here spends budget."""

    def __init__(self, ledger: Ledger, engine: Engine, guard: DataGuard) -> None:
        self._ledger = ledger
        self._engine = engine
        self._guard = guard

    def read(self) -> DeclaredState:
        """Return all that is declared now, in one transaction."""
        return DeclaredState({one.name: one for one in self._ledger.declarations()})

    def map_by_name(self) -> dict[str, Table | Public]:
        """Return all tables, as they are declared now."""
        return self.read().tables

    def list_protected(self) -> tuple[Table, ...]:
        """Return the protected tables."""
        return tuple(table for table in self.map_by_name().values() if isinstance(table, Table))

    def list_public(self) -> tuple[Public, ...]:
        """Return the public tables."""
        return tuple(table for table in self.map_by_name().values() if isinstance(table, Public))

    def build_catalog(self) -> Catalog:
        """Return what questions may name."""
        return self.read().catalog

    def find_protected(self, name: str) -> Table:
        """Return a protected table, or refuse and name those there are."""
        lowered = name.lower()
        for table in self.list_protected():
            if table.name.lower() == lowered:
                return table
        names = [table.name for table in self.list_protected()]
        raise QueryError(
            "protected-table-unknown-here", table=name, nearest=suggest_name(name, names), tables=tuple(names)
        )

    def find_version(self, name: str) -> int:
        """Return how many different declarations a table has had; 0 if it has none."""
        declared = self._ledger.declaration(name)
        return 0 if declared is None else declared.version

    def check_free(self, name: str) -> None:
        """Refuse a table name that a stream already has."""
        if self._ledger.streams.find(name) is not None:
            raise CatalogError("table-name-of-stream", stream=name)

    def check_source(self, table: Table | Public) -> str | None:
        """Read a source in full, or refuse it; return the state that was checked."""
        checked = self._guard.check(table)
        if isinstance(table, Table):
            self._check_reached(table)
        for other, state in self._guard.states().items():
            if table.source.format == "frame" and other != table.name and state.fingerprint == checked:
                self._engine.withhold(table.source.location)
                raise CatalogError("frame-values-protected", table=other)
        return checked

    def open(self, table: Table, checked: str | None) -> None:
        """Declare a protected table, with an account of its own, whose source was checked in a state."""
        _check_storable(table)
        if self._guard.state(table.name).fingerprint not in (None, checked) and table.copy is None:
            # Declared again over other data: what was answered before is of the data of before.
            self._ledger.refresh(table.name)
        earlier = self.map_by_name().get(table.name)
        self._ledger.open_account(table_account(table.name), table.budget)
        unread = earlier if isinstance(earlier, Table) and earlier.copy != table.copy else None
        if unread is not None:
            self._ledger.refresh(table.name)
        self.store(table)
        self._remember(table)
        self._guard.open(table, checked)
        if unread is not None:
            self._engine.discard(unread)

    def publish(self, table: Public) -> None:
        """Declare a public table."""
        _check_storable(table)
        checked = self.check_source(table)
        self.store(table)
        self._guard.open(table, checked)

    def store(self, table: Table | Public) -> None:
        """Store a declaration. One that differs from the last is a new version."""
        self._ledger.declare(table.name, PLANS.encode(table))

    def _remember(self, table: Table) -> None:
        """Keep whose answers are recalled; nothing is written for a table whose memory was never common."""
        name, wanted = _MEMORY + table.name, "common" if table.memory == "common" else ""
        if wanted or self._ledger.declaration(name) is not None:
            self._ledger.declare(name, wanted)

    def prepare(self, name: str, stage: Callable[[str], None]) -> Table:
        """Write the prepared copy of a table, and let questions read it from now on."""
        found = self.find_protected(name)
        _check_preparable(found)
        checked = self._guard.check(found)
        self._check_reached(found)
        try:
            self._engine.prepare(found, stage, lambda copy: self._switch_copy(found, copy))
        except OSError:
            kept = False
        else:
            kept = True
        if not kept:
            raise CatalogError("copy-without-place", table=found.name)
        if self._engine.fingerprint(found.source) != checked:
            self._guard.close(found.name)
            raise CatalogError("source-changed-at-copy", table=found.name)
        self._guard.open(self.find_protected(name), checked)
        return self.find_protected(name)

    def _switch_copy(self, table: Table, copy: Source | None) -> None:
        """Switch questions to a new copy, or to the source while a new copy replaces the earlier one.

        Each version of the data is read from one file only, wherever this is cut off: a version begins before
        anything that is read changes, and another one before the place of the copy gets other rows.
        """
        now = self.find_protected(table.name)
        if _list_columns(now) != _list_columns(table):
            raise CatalogError("declared-anew-at-copy", table=table.name)
        if copy is not None:
            self.store(replace(now, copy=copy))
            return
        if now.copy is not None:
            self._read_source(now)
        self._ledger.refresh(table.name)

    def _read_source(self, table: Table) -> None:
        self._guard.close(table.name)
        self._ledger.refresh(table.name)
        self.store(replace(table, copy=None))

    def drop_copy(self, name: str) -> Table:
        """Delete the prepared copy of a table, so that questions read the source again."""
        found = self.find_protected(name)
        if found.copy is not None:
            self._read_source(found)
            self._guard.open(replace(found, copy=None), self._guard.check(replace(found, copy=None)))
        self._engine.discard(found)
        return replace(found, copy=None)

    def with_copy(self, table: Table) -> Table:
        """Let a new declaration keep the copy of the last one, where the columns are read as they were."""
        earlier = self.map_by_name().get(table.name)
        if not isinstance(earlier, Table) or table.unique or _list_columns(table) != _list_columns(earlier):
            return table
        return replace(table, copy=earlier.copy)

    def refresh(self, name: str, stage: Callable[[str], None]) -> None:
        """Mark the data of a table as new, and check it. Until then no question is answered.

        A prepared copy is written again. A refusal leaves the table closed.
        """
        found = self.find_protected(name)
        self._guard.close(found.name)
        self._ledger.refresh(found.name)
        self._check_again(found, stage)

    def check(self, name: str, stage: Callable[[str], None]) -> DataState:
        """Check the data of a table, and open it if it was closed; return what was known of it before."""
        found = self.find_table(name)
        before = self._guard.state(found.name)
        current = self._engine.fingerprint(found.read_from)
        self._guard.close(found.name)
        if before.fingerprint not in (None, current):
            self._ledger.refresh(found.name)
        self._check_again(found, stage)
        return before

    def _check_again(self, table: Table | Public, stage: Callable[[str], None]) -> None:
        stage("checking")
        checked = self._guard.check(table)
        if isinstance(table, Table):
            self._check_reached(table)
        if isinstance(table, Table) and table.copy is not None:
            self.prepare(table.name, stage)
        else:
            self._guard.open(self._count_public(table), checked)

    def _count_public(self, table: Table | Public) -> Table | Public:
        """Count a public table that an earlier version declared without its counts."""
        if isinstance(table, Table) or table.rows is not None:
            return table
        counted = count_public(self._engine, table)
        self.store(counted)
        return counted

    def _check_reached(self, table: Table) -> None:
        """Refuse data with duplicates of a key through which other tables reach their unit."""
        for other in self.list_protected():
            if other.reach is not None and other.reach.table.name == table.name:
                # In the source: a copy is of the data of before.
                self._engine.check_key(replace(table, copy=None), other.reach.there)

    def find_table(self, name: str) -> Table | Public:
        """Return a protected or public table, or refuse and name the protected ones."""
        public = {other.name.lower(): other for other in self.list_public()}
        return public.get(name.lower()) or self.find_protected(name)

    def attach(self, name: str, frame: Any) -> None:
        """Give the frame of a table, or the session of its cluster, again."""
        found = self.find_table(name)
        if found.source.format not in ("frame", "spark"):
            raise CatalogError("table-without-frame", table=found.name, location=found.source.location)
        fresh = {f.name: f.kind for f in self._engine.fields(found.source, {}, frame)}
        if fresh != {f.name: f.kind for f in found.fields}:
            raise CatalogError("frame-columns-differ", table=found.name)
        if found.source.format != "frame":
            return
        check_frame(self._engine.holder(frame), found.name)
        self._engine.attach(found.source.location, frame)
        if self._engine.fingerprint(found.source) != self._guard.state(found.name).fingerprint:
            # Other values than before are new data: the ledger knows before anybody reads them.
            self._guard.close(found.name)
            self._ledger.refresh(found.name)
            self._guard.open(found, self.check_source(found))
        self._count_public(found)


def _check_preparable(table: Table) -> None:
    if table.source.synthetic:
        raise CatalogError("copy-of-rehearsal")
    if table.row_level or table.unique:
        raise CatalogError("copy-of-people", table=table.name)
    if table.reach is not None:
        raise CatalogError("copy-of-linked", table=table.name, other=table.reach.table.name)


def _list_columns(table: Table) -> tuple[tuple[str, Kind, str], ...]:
    return tuple((field.name, field.kind, field.type) for field in table.fields)


def _check_storable(table: Table | Public) -> None:
    if PLANS.decode(PLANS.encode(table)) != table:
        raise CatalogError("declaration-too-long")


@lru_cache(maxsize=256)
def _read_table(body: str, common: bool) -> Table | Public:
    """Read a declaration; the same text is the same table."""
    table: Table | Public = PLANS.decode(body)
    return replace(table, memory="common") if common and isinstance(table, Table) else table


def _link_reach(table: Table | Public, tables: Mapping[str, Table | Public]) -> Table | Public:
    """Link a table that reaches its unit through another table to the latest declaration of that table."""
    if isinstance(table, Public) or table.reach is None:
        return table
    there = _link_reach(tables[table.reach.table.name], tables)
    assert isinstance(there, Table)
    return replace(table, reach=replace(table.reach, table=there))
