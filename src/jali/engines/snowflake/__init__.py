"""Snowflake, compile-only: questions are written in its SQL, and nothing runs them. No server has read them."""

from jali.engines.snowflake.dialect import SNOWFLAKE
from jali.engines.snowflake.emit import emit

__all__ = ["SNOWFLAKE", "emit"]
