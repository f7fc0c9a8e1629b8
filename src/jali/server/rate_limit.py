"""Limit how often a caller may make requests: a token bucket for each access token, filled steadily."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

# So many callers are remembered; the one that called longest ago is forgotten first.
_MOST = 10_000


class RateLimiter:
    """Counts requests by caller.

    Args:
        rate: How many tickets a second each bucket gets.
        burst: How many it holds.
        clock: Seconds that only grow.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Take a ticket and return 0; or return after how many seconds there will be one."""
        now = self._clock()
        held, at = self._buckets.pop(caller, (float(self._burst), now))
        held = min(self._burst, held + (now - at) * self._rate)
        granted = held >= 1
        self._buckets[caller] = (held - 1 if granted else held, now)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return 0.0 if granted else (1 - held) / self._rate if self._rate else 3600.0
