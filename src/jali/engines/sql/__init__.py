"""Aggregations in the SQL of any engine: the shapes of queries. What engines say differently is in dialects."""

from jali.engines.sql.aggregation_emitter import emit
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.tick_emitter import emit_ticks

__all__ = ["Dialect", "emit", "emit_ticks"]
