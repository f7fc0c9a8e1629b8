"""Pace: answers leave at fixed times after their question came, whatever the engine took.

Statement:
    With an interval s, what `hold` delays leaves k s after the question came, for the least whole k >= 1 that is
    not before the engine was done. So the time of an answer tells one of a few values. A worker stays taken until
    then: the time that others wait for it tells no more.
Proof:
    docs/threat_model.md, "Time", says what is left, with a measurement.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pace:
    """When an answer may leave.

    Attributes:
        interval: In seconds; 0 for at once.
        began: When the question came, on the monotonic clock.
    """

    interval: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def hold(self) -> None:
        """Wait until the next multiple of the interval."""
        if not self.interval:
            return
        end = self.began + self.after(time.monotonic() - self.began)
        while (left := end - time.monotonic()) > 0:
            time.sleep(left)

    def after(self, elapsed: float) -> float:
        """Return the time at which an answer leaves that was found after so many seconds.

        Example:
            >>> pace = Pace(0.5)
            >>> pace.after(0.1), pace.after(0.5), pace.after(1.2)
            (0.5, 0.5, 1.5)
        """
        return self.interval * max(1, math.ceil(elapsed / self.interval))
