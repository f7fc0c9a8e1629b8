"""Which worker runs which tests."""

from __future__ import annotations

import re

from xdist.scheduler.loadscope import LoadScopeScheduling

_SPARK = re.compile(r"^tests/engines/test_\w*spark\w*\.py")


class Grouped(LoadScopeScheduling):  # type: ignore[misc] # it has no types
    """Keeps tests on Spark together, and spreads all others. The largest group goes first."""

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if _SPARK.match(nodeid) else nodeid
