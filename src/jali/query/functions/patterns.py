"""Regular expressions of the question: constants that the engine's library (RE2, linear time) can compile."""

from __future__ import annotations

import os
import re
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


# What is repeated is written out by RE2: so often at most in all, or a short pattern is a very large program.
MOST_REPEATED = 1000
# And so often in all patterns of a question.
MOST_REPEATED_IN_ALL = 5000
_REPEATED = re.compile(r"\{([0-9]{1,9})?,?([0-9]{1,9})?\}")


def repetitions(written: str) -> int:
    """Return how often parts of a pattern are written out.

    Example:
        >>> repetitions("a{3}b{1,20}[0-9]{4,}")
        27
    """
    return sum(max(int(most or 0), int(least or 0)) for least, most in _REPEATED.findall(written))


@lru_cache(maxsize=1024)
def is_pattern(written: str) -> bool:
    """Say whether RE2 compiles a pattern. An empty DuckDB is asked, so that no data and no budget is touched."""
    import duckdb

    if repetitions(written) > MOST_REPEATED:
        return False

    with _lock:
        try:
            _empty(os.getpid()).execute("SELECT regexp_matches('', $1)", [written]).fetchall()
        except duckdb.Error:
            return False
    return True


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _empty(_: int) -> duckdb.DuckDBPyConnection:
    """Return the empty DuckDB of a process: to open one takes longer than all patterns of a question."""
    import duckdb

    return duckdb.connect(config={"threads": 1})
