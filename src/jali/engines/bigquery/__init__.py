"""BigQuery, compile-only: questions are written in its SQL, and nothing runs them. No server has read them."""

from jali.engines.bigquery.dialect import BIGQUERY
from jali.engines.bigquery.emit import emit

__all__ = ["BIGQUERY", "emit"]
