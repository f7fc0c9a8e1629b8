"""An aggregation in BigQuery's SQL: the shared shapes, in words that BigQuery does not keep for itself."""

from __future__ import annotations

import re

from jali.engines import sql
from jali.engines.bigquery.dialect import BIGQUERY
from jali.engines.sql.dialect import INT64
from jali.query.aggregation import Aggregation

# Texts and quoted names are left as they are: what they hold are no words of the query.
_WORDS = re.compile(
    r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`"
    r"|(?P<reserved>\bgroups\b)|LEFT JOIN (?P<alone>\w+) ON TRUE|(?<![\w.])(?P<whole>\d{19,})(?![\w.])"
)


def emit(aggregation: Aggregation) -> str:
    """Write the query whose rows are the exact integers of each group."""
    return _WORDS.sub(_mended, sql.emit(aggregation, BIGQUERY))


def _mended(match: re.Match[str]) -> str:
    if match["reserved"]:
        return "`groups`"
    if match["alone"]:
        # A sum of all rows is one row: it needs no outer join, which BigQuery makes for equalities alone.
        return f"CROSS JOIN {match['alone']}"
    if match["whole"] and int(match["whole"]) >= INT64:
        return f"BIGNUMERIC '{match['whole']}'"
    return match[0]
