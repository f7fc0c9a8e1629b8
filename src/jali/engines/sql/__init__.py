"""Aggregations in the SQL of any engine: the shapes of queries. What engines say differently is in dialects."""

from jali.engines.sql.aggregate import emit
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.ticks import emit_ticks

__all__ = ["Dialect", "emit", "emit_ticks"]
