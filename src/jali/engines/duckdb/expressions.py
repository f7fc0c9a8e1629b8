"""Expressions in DuckDB's SQL."""

from __future__ import annotations

from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.duckdb.functions import TEMPLATES
from jali.engines.sql.expressions import Emitter as AnyEmitter
from jali.query.functions.texts import LIMITED
from jali.query.relation import Fields

__all__ = ["WRITTEN", "Emitter"]

WRITTEN = frozenset(TEMPLATES) - {LIMITED}


class Emitter(AnyEmitter):
    """Writes the expressions over rows with certain columns."""

    def __init__(self, table: Fields) -> None:
        super().__init__(table, DUCKDB)
