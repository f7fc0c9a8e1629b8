"""The interface of a composition theorem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.numbers.search import bisect
from jali.privacy.composition.compound import Parts

# exp of this is close to the least double.
_LEAST_LOG = -700.0


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """A bound on the loss of a composition.

    Attributes:
        name: What it is called, as it reads after "by".
        citation: Where it is proved.
        adaptive_parameters: Whether it stays valid when the parameters of a loss, not only its question, are
            chosen after earlier answers, and the sums of all events stay within limits fixed beforehand.
        concurrent: Whether it holds for interactive mechanisms whose questions are interleaved.
        obstacle: Says why it does not apply to given parts; None where it applies.
        solve_epsilon: The epsilon at a delta, where it applies; infinite where the delta is too small.
        solve_delta: The delta at an epsilon, where it applies; None: found by search over `solve_epsilon`.

    Guarantee:
        Where it applies, the composition is (epsilon(parts, delta), delta)-DP and
        (epsilon, delta(parts, epsilon))-DP. Questions may always be chosen after earlier answers.
    Proof:
        docs/proofs/composition.md
    """

    name: str
    citation: str
    adaptive_parameters: bool
    concurrent: bool
    obstacle: Callable[[Parts], str | None]
    solve_epsilon: Callable[[Parts, Fraction], float]
    solve_delta: Callable[[Parts, Fraction], float] | None = None

    def __str__(self) -> str:
        return self.name

    def epsilon(self, parts: Parts, delta: Fraction) -> float | None:
        """Return the epsilon at a delta, rounded up; None where the theorem does not apply."""
        return None if self.obstacle(parts) else self.solve_epsilon(parts, delta)

    def delta(self, parts: Parts, epsilon: Fraction) -> float | None:
        """Return the delta at an epsilon, rounded up; None where the theorem does not apply."""
        return None if self.obstacle(parts) else self.least_delta(parts, epsilon)

    def least_delta(self, parts: Parts, epsilon: Fraction, known: float = 1.0) -> float:
        """Return the delta at an epsilon, or `known`, a bound known already, if that is smaller."""
        if self.solve_delta is None:
            return self._search(parts, epsilon, known)
        return min(known, self.solve_delta(parts, epsilon))

    def _search(self, parts: Parts, epsilon: Fraction, known: float) -> float:
        """Bisect the logarithm of delta from above; one look at `known` shows whether there is less."""

        def holds(log: float) -> bool:
            return self.solve_epsilon(parts, Fraction(math.exp(log))) <= epsilon

        low, high = _LEAST_LOG, math.log(known) if 0 < known < 1 else -1e-12
        if known == 0 or not holds(high):
            return known
        return math.exp(bisect(holds, low, high, close=lambda low, high: high - low <= 1e-12)[1])
