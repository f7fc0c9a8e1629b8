"""The declared tables of a database: kept in the ledger, read by the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jali.errors import CatalogError, QueryError
from jali.ledger import table_account
from jali.planner import PLAN_CLASSES
from jali.query.catalog import Catalog, Kind, Public, Source, Table
from jali.query.codec import decode, encode
from jali.query.spelling import meant

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.ledger import Ledger


class Tables:
    """What the curator declared. Nothing here is spent."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self._ledger = ledger
        self._engine = engine

    def by_name(self) -> dict[str, Table | Public]:
        """Return all tables, as they are declared now."""
        read = {d.name: _table(d.body) for d in self._ledger.declarations()}
        return {name: _linked(table, read) for name, table in read.items()}

    def protected(self) -> tuple[Table, ...]:
        """Return the protected tables."""
        return tuple(table for table in self.by_name().values() if isinstance(table, Table))

    def public(self) -> tuple[Public, ...]:
        """Return the public tables."""
        return tuple(table for table in self.by_name().values() if isinstance(table, Public))

    def catalog(self) -> Catalog:
        """Return what questions may name."""
        return Catalog(tuple(self.by_name().values()))

    def named(self, name: str) -> Table:
        """Return a protected table, or refuse and name those there are."""
        lowered = name.lower()
        for table in self.protected():
            if table.name.lower() == lowered:
                return table
        names = [table.name for table in self.protected()]
        known = ", ".join(names) or "none yet"
        raise QueryError(
            f"There is no protected table {name}.", remedy=f"{meant(name, names)}Protected tables: {known}."
        )

    def version(self, name: str) -> int:
        """Return how many different declarations a table has had; 0 if it has none."""
        declared = self._ledger.declaration(name)
        return 0 if declared is None else declared.version

    def check_free(self, name: str) -> None:
        """Refuse a table the name of a stream: people could not tell them apart."""
        if self._ledger.streams.named(name) is not None:
            raise CatalogError(f"There is a stream {name} already.", remedy="Call the table otherwise.")

    def check_source(self, table: Table) -> None:
        """Refuse a table that the engine cannot read as it is declared."""
        self._check_readable(table)
        if table.reach is not None:
            self._engine.check_key(table.reach.table, table.reach.there)

    def open(self, table: Table) -> None:
        """Declare a protected table, with an account of its own."""
        _check_storable(table)
        earlier = self.by_name().get(table.name)
        self._ledger.open_account(table_account(table.name), table.budget)
        unread = earlier if isinstance(earlier, Table) and earlier.copy != table.copy else None
        if unread is not None:
            self._ledger.refresh(table.name)
        self.store(table)
        if unread is not None:
            self._engine.discard(unread)

    def publish(self, table: Public) -> None:
        """Declare a public table."""
        _check_storable(table)
        self.store(table)

    def store(self, table: Table | Public) -> None:
        """Keep a declaration; one that differs from the last is a new version."""
        self._ledger.declare(table.name, encode(table))

    def prepare(self, name: str, stage: Callable[[str], None]) -> Table:
        """Write the prepared copy of a table, and let questions read it from now on."""
        found = self.named(name)
        _check_preparable(found)
        self._engine.reopen(found.source)
        self._engine.check(found)
        try:
            self._engine.prepare(found, stage, lambda copy: self._now_read(found, copy))
        except OSError:
            kept = False
        else:
            kept = True
        if not kept:
            raise CatalogError(
                f"There is no place here to keep the copy of {found.name}.",
                remedy="It needs a directory: beside the file; with a ledger in Postgres, in XDG_STATE_HOME.",
            )
        return self.named(name)

    def _now_read(self, table: Table, copy: Source | None) -> None:
        """Let questions read a new copy; or, before it takes the place of the earlier one, the source.

        Each version of the data is read from one file only, wherever this is cut off: a version begins before
        anything that is read changes, and another one before the place of the copy gets other rows.
        """
        now = self.named(table.name)
        if _columns(now) != _columns(table):
            raise CatalogError(f"{table.name} was declared anew while it was copied.", remedy="Prepare it again.")
        if copy is not None:
            self.store(replace(now, copy=copy))
            return
        if now.copy is not None:
            self._read_source(now)
        self._ledger.refresh(table.name)

    def _read_source(self, table: Table) -> None:
        self._ledger.refresh(table.name)
        self.store(replace(table, copy=None))

    def drop_copy(self, name: str) -> Table:
        """Delete the prepared copy of a table, so that questions read the source again."""
        found = self.named(name)
        if found.copy is not None:
            self._read_source(found)
        self._engine.discard(found)
        return replace(found, copy=None)

    def with_copy(self, table: Table) -> Table:
        """Let a new declaration keep the copy of the last one, where the columns are read as they were."""
        earlier = self.by_name().get(table.name)
        if not isinstance(earlier, Table) or table.unique or _columns(table) != _columns(earlier):
            return table
        return replace(table, copy=earlier.copy)

    def refresh(self, name: str, stage: Callable[[str], None]) -> None:
        """Say that the data of a table is new, and check it again. A prepared copy is written anew first."""
        found = self.named(name)
        if found.copy is not None:
            self.prepare(name, stage)
        else:
            self._renewed(found)
        for other in self.protected():
            if other.reach is not None and other.reach.table.name == found.name:
                self._engine.check_key(found, other.reach.there)

    def _renewed(self, table: Table) -> None:
        self._ledger.refresh(table.name)
        self._engine.reopen(table.source)
        self._check_readable(table)

    def _check_readable(self, table: Table) -> None:
        self._engine.check(table)
        if table.unique:
            self._engine.check_unique(table)

    def attach(self, name: str, frame: Any) -> None:
        """Give the frame of a table, or the session of its cluster, again."""
        public = {other.name.lower(): other for other in self.public()}
        found = public.get(name.lower()) or self.named(name)
        if found.source.format not in ("frame", "spark"):
            raise CatalogError(f"Table {found.name} is read from {found.source.location}, not from a frame.")
        fresh = {f.name: f.kind for f in self._engine.fields(found.source, {}, frame)}
        if fresh != {f.name: f.kind for f in found.fields}:
            raise CatalogError(f"The frame does not have the columns that {found.name} was declared with.")
        if found.source.format == "frame":
            self.hold(found, frame)

    def hold(self, table: Table | Public, frame: Any) -> None:
        """Let the engine read a frame. Another one than before is new data: the ledger knows before it is read."""
        place = table.source.location
        if self._engine.displaces(place, frame) and self._ledger.declaration(table.name) is not None:
            self._engine.withhold(place)
            self._ledger.refresh(table.name)
        self._engine.attach(place, frame)


def _check_preparable(table: Table) -> None:
    if table.source.synthetic:
        raise CatalogError("Made-up rows need no copy.", remedy="Prepare the table of the database itself.")
    if table.row_level or table.unique:
        raise CatalogError(
            f"Table {table.name} needs no copy: each row is a person.",
            remedy="Copies bound the rows of people who have several.",
        )
    if table.reach is not None:
        raise CatalogError(
            f"The unit of {table.name} is in {table.reach.table.name}: a copy needs it in the table itself.",
            remedy=f"Write {table.name} with a column of its unit, and protect that.",
        )


def _columns(table: Table) -> tuple[tuple[str, Kind, str], ...]:
    return tuple((field.name, field.kind, field.type) for field in table.fields)


def _check_storable(table: Table | Public) -> None:
    if decode(encode(table), PLAN_CLASSES) != table:
        raise CatalogError("This declaration cannot be stored.")


@lru_cache(maxsize=256)
def _table(body: str) -> Table | Public:
    """Read a declaration; the same text is the same table."""
    table: Table | Public = decode(body, PLAN_CLASSES)
    return table


def _linked(table: Table | Public, tables: Mapping[str, Table | Public]) -> Table | Public:
    """Let a table that reaches its unit through another see that one as it is declared now."""
    if isinstance(table, Public) or table.reach is None:
        return table
    there = _linked(tables[table.reach.table.name], tables)
    assert isinstance(there, Table)
    return replace(table, reach=replace(table.reach, table=there))
