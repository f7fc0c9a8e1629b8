"""Rehearse questions on synthetic rows with the same tables, bounds and budgets. Nothing real is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jali.catalog.columns import Field
from jali.catalog.tables import SYNTHETIC, Public, Source, Table
from jali.catalog.validate import SERVED_FORMATS
from jali.catalog.value_domain import Value
from jali.database import Database
from jali.errors import CatalogError
from jali.ledger import SqliteLedger

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.privacy import Budget

# How many rows a table is given where nobody says, and how many at most.
_ROWS, _DECLARED, _MOST = 10_000, 100_000, 10_000_000


class Rehearsal(Database):
    """A database of made-up rows with the declarations of a real one, in a folder that is deleted with it.

    Budgets and grants begin again, whatever was spent. Public tables are read as they are. Every answer says that
    it is a rehearsal.
    """

    def __init__(
        self,
        declared: Mapping[str, Table | Public],
        budgets: Iterable[tuple[str, Budget]],
        engine: Engine,
        *,
        rows: int | None,
    ) -> None:
        _check_rows(rows)
        super().__init__(SqliteLedger(None), engine)
        self._folder = TemporaryDirectory(prefix="jali-rehearsal-")
        made = _SyntheticTables(declared, Path(self._folder.name), rows)
        for table in declared.values():
            if isinstance(table, Table):
                rehearsed = made.table(table)
                self._tables.open(rehearsed, engine.fingerprint(rehearsed.source))
            else:
                self._tables.store(table)
        for account, budget in budgets:
            self._ledger.open_account(account, budget)

    def __repr__(self) -> str:
        return f"Rehearsal({', '.join(self._tables.map_by_name()) or 'no tables yet'}; made-up rows)"

    def close(self) -> None:
        """Delete the made-up rows; the engine is the real database's, and stays open."""
        self._ledger.close()
        self._folder.cleanup()


class _SyntheticTables:
    """Makes the rows of one table after the other; a table that is reached is made before those that reach it."""

    def __init__(self, declared: Mapping[str, Table | Public], folder: Path, rows: int | None) -> None:
        self._declared = declared
        self._folder = folder
        self._rows = rows
        self._made: dict[str, tuple[Table, int]] = {}

    def table(self, table: Table) -> Table:
        from jali.engines.duckdb.rehearsal_rows import RehearsalShape, write_rehearsal_rows

        path = self._folder / f"{table.name}.parquet"
        reached = 0 if table.reach is None else self._made[table.reach.table.name][1]
        rows = self._rows or min(table.rows or _ROWS, _DECLARED)
        count = write_rehearsal_rows(
            RehearsalShape(
                replace(table, fields=_convert_fields(table)),
                rows,
                self._unique(table),
                reached,
                self._find_public_keys(),
            ),
            path,
        )
        # A copy holds real rows, and made-up ones have no key of their own.
        source = Source("parquet", str(path), SYNTHETIC)
        made = replace(table, source=source, fields=_convert_fields(table), copy=None, unique=False)
        if table.reach is not None:
            made = replace(made, reach=replace(table.reach, table=self._made[table.reach.table.name][0]))
        self._made[table.name] = made, count
        return made

    def _unique(self, table: Table) -> frozenset[str]:
        reaches = [t.reach for t in self._declared.values() if isinstance(t, Table) and t.reach is not None]
        return frozenset(reach.there for reach in reaches if reach.table.name == table.name)

    def _find_public_keys(self) -> dict[str, tuple[Value, ...]]:
        """Return the values of public columns, which columns of the same name are likely to be joined with."""
        public = [table for table in self._declared.values() if isinstance(table, Public)]
        return {f.name.lower(): f.keys.values for table in public for f in table.fields if f.keys is not None}


def _convert_fields(table: Table) -> tuple[Field, ...]:
    """Return the columns of a table as a file has them: the types of a server's table are others."""
    from jali.engines.duckdb.sources import NAMES

    if table.source.format not in SERVED_FORMATS:
        return table.fields
    return tuple(replace(field, type=NAMES[field.kind]) for field in table.fields)


def _check_rows(rows: int | None) -> None:
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= _MOST):
        raise CatalogError("rehearsal-rows", most=_MOST)
