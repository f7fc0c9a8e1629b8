"""What an event promises: the loss that it will prove on fresh outputs, as far as a first sample tells.

These are approximations, for choosing only; what is claimed in the end is proved by `bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.audit.bounds import Counts, estimate, group_growth, readings
from jali.mechanisms.mechanism import miss
from jali.numbers.search import bisect, bracket
from jali.privacy import Loss, Pure

Floats: TypeAlias = NDArray[np.float64]

# A violation that is there shall be proved with this probability by as many samples as are said to be needed.
_POWER = 0.9
_MOST = 1e15


@dataclass(frozen=True)
class Aim:
    """What an event is to prove.

    Attributes:
        claim: The claim to refute.
        runs: How many runs of each input there will be.
        confidence: The confidence of the proof.
        steps: How many neighbours the inputs are apart.
    """

    claim: Loss
    runs: int
    confidence: float | Fraction
    steps: int = 1

    @cached_property
    def _deviation(self) -> float:
        return -NormalDist().inv_cdf(miss(self.confidence))

    def promise(self, hits: Any, others: Any, runs: int, caution: float) -> Floats:
        """Return by how much events should exceed the claim: negative where they should not.

        From `hits` of `runs` under the first input and `others` of as many under the second, all rates are moved
        against us by the deviation of the final sample and by `caution` deviations of this one.
        """
        deviation = caution + self._deviation * (runs / self.runs) ** 0.5
        p, q = _moved(np.asarray(hits, np.float64), np.asarray(others, np.float64), runs, deviation, self._pure)
        growth = group_growth(self.claim, self.steps)
        margins = [one.measure(p, q) / growth - one.claimed for one in readings(self.claim)]
        return np.asarray(np.max(margins, axis=0))

    @property
    def _pure(self) -> bool:
        return isinstance(self.claim, Pure)


def needed(counts: Counts, claim: Loss, confidence: float | Fraction) -> int | None:
    """Return about how many runs, of both inputs together, would refute a claim if the rates are as observed.

    None if such rates are within the claim.

    Example:
        >>> needed(Counts((520, 450), (1000, 1000)), Pure(0.1), 0.99)
        54304
        >>> needed(Counts((500, 480), (1000, 1000)), Pure(0.1), 0.99)
    """
    (a, b), (m, n) = counts.hits, counts.runs
    if not m or not n or estimate(counts, claim).margin <= 0:
        return None
    deviation = NormalDist().inv_cdf(_POWER)

    def proves(runs: float) -> bool:
        aim = Aim(claim, round(runs), confidence, counts.steps)
        return bool(aim.promise(a * runs / m, b * runs / n, round(runs), deviation) > 0)

    low, high = bracket(proves, 1.0, 2.0, most=_MOST)
    if high > _MOST:
        return None
    return 2 * round(bisect(proves, low, high, close=lambda low, high: high - low <= 1 or high <= low * 1.001)[1])


def _moved(hits: Floats, others: Floats, runs: int, deviation: float, pure: bool) -> tuple[Floats, Floats]:
    """Return the corner of `bounds`, with Wilson's bounds in place of Clopper and Pearson's."""
    ratio = _wilson(hits, hits + others, deviation)
    if pure:
        return ratio, 1 - ratio
    p, q = _wilson(hits, runs, deviation), 1 - _wilson(runs - others, runs, deviation)
    return p, np.minimum(q, p * (1 - ratio) / np.maximum(ratio, 1e-300))


def _wilson(count: Floats, total: Any, deviation: float) -> Floats:
    """Return Wilson's lower bound of a rate (Wilson 1927)."""
    some, square = np.maximum(total, 1e-9), deviation * deviation
    spread = np.sqrt(count * (some - count) / some + square / 4)
    return np.asarray(np.maximum(0.0, (count + square / 2 - deviation * spread) / (some + square)))
