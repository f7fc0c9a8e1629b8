"""The probability that a table is answered or declined, by its distance from tables with other answers.

`DECLINED` is the same for every reason. In propose-test-release, the test may decline at the loss of the test and
the noise together.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import ApproximateMechanism, read_natural
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities
from jali.numbers.search import least_integer
from jali.sampling import BitSource
from jali.sampling.exp_bounds import Bounds, exp_bounds
from jali.sampling.interval_bernoulli import draw_booleans


class Declined(Enum):
    """The type of `DECLINED`: there is no other member, and so no reason that could depend on the data."""

    DECLINED = "declined"

    def __repr__(self) -> str:
        return self.value

    def __str__(self) -> str:
        return self.value

    def __bool__(self) -> bool:
        """It is false, as 0 and "" are: ask `answer is DECLINED`."""
        return False


DECLINED = Declined.DECLINED


_LEAST, _MOST = Fraction(1, 1 << 40), 1 << 9


@dataclass(frozen=True)
class Acceptance(ReleaseProbabilities):
    """The numbers p(0) = 0, p(n) = min(e^epsilon p(n-1) + delta, 1 - e^-whole (1 - p(n-1) - delta), 1).

    Attributes:
        epsilon: What the test spends when it accepts.
        delta: The probability of failure.
        whole: What the test and the release after it spend together, at least epsilon: a table on which nothing is
            released has the loss of the release to spare.

    Guarantee:
        The same closed form as that of `ReleaseProbabilities`, with the second factor e^whole in its second part;
        found by integer arithmetic on bounds of exponentials. With whole = epsilon they are those probabilities.
    Proof:
        docs/proofs/propose_test_release.md, Lemma 1.

    Example:
        >>> test = Acceptance(Fraction(1), Fraction(1, 10**5), Fraction(2))
        >>> [round(test.near(n), 6) for n in (1, 10, 12, 17)]
        [1e-05, 0.128183, 0.911823, 0.999998]
    """

    whole: Fraction

    @property
    def _late(self) -> ReleaseProbabilities:
        return ReleaseProbabilities(self.whole, self.delta)

    def _guess(self) -> int:
        """Return 1 + floor(ln(1 + p (e^epsilon - 1)/delta) / epsilon) in double, for the p of `_bound_even`."""
        first, both = float(self.epsilon), float(self.whole)
        even = math.expm1(-first) * math.expm1(-both) / -math.expm1(-first - both)
        return 1 + math.floor(math.log1p(float(1 - self.delta) * even / float(self.delta)) / first)

    def _bound_falling(self, further: int, work: int) -> Bounds:
        """Bound top - w^m (top - p(turn)), where w = e^-whole and top = 1 + delta/(e^whole - 1)."""
        ends = zip(self._late._bound_factor(work), self._bound_growing(self.turn, work), strict=True)
        (top, start), (top_high, start_high) = ((factor + (1 << work), at) for factor, at in ends)
        less, more = exp_bounds(self.whole * further, work)
        return top - (-(-more * (top - start) >> work)), top_high - (less * (top_high - start_high) >> work)

    def _bound_even(self, work: int) -> Bounds:
        """Bound (1-delta) s (1-w)/(1 - s w), s = e^-epsilon, where the rules agree: it grows with s and 1/w."""
        small, large = exp_bounds(self.epsilon, work)
        fine, coarse = exp_bounds(self.whole, work)
        one, rest = 1 << work, 1 - self.delta
        low = rest.numerator * small * (one - coarse) // (rest.denominator * (one - (small * coarse >> work)))
        high = -rest.numerator * large * (one - fine) // (rest.denominator * (one + (-large * fine >> work)))
        return low, -high

    @cached_property
    def _extra(self) -> int:
        """Bits that are lost to quotients by numbers as small as delta, epsilon and e^-whole."""
        small = min(self.delta, self.epsilon)
        lost = (small.denominator // small.numerator).bit_length() + 2 * math.ceil(self.whole)
        return 4 * lost + 32


class DecliningMechanism(ApproximateMechanism):
    """A mechanism that answers or declines a table, by its distance from tables with other answers."""

    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False

    @property
    @abstractmethod
    def chances(self) -> ReleaseProbabilities:
        """The probabilities of an answer; a table at distance d has the one of number d + 1."""

    def chance(self, distance: int) -> float:
        """Return the probability that a table at this distance is answered."""
        return self.chances.near(steps_of_distance(self.chances, read_natural(distance, "distance", least=0)))

    def _draw_acceptance(self, distance: int, size: int, bits: BitSource) -> NDArray[np.bool_]:
        """Draw `size` times whether a table at this distance is answered."""
        return draw_booleans(partial(self.chances.bounds, steps_of_distance(self.chances, distance)), size, bits)


def refuse_extremes(epsilon: Fraction, name: str = "epsilon") -> None:
    """Refuse a loss whose probabilities would take more digits or more steps than there is time for."""
    if not _LEAST <= epsilon <= _MOST:
        raise MechanismError("test-epsilon-out-of-range", name=name)


def steps_of_distance(chances: ReleaseProbabilities, distance: int) -> int:
    """Return how many steps of the probabilities a distance stands for: one more, up to a sure answer."""
    return min(max(int(distance), 0) + 1, chances.sure)


def find_least_distance(chances: ReleaseProbabilities, missed: float) -> int:
    """Return the least distance from which a table is declined with at most this probability."""
    return least_integer(lambda steps: chances.complement(steps) <= missed, 0, chances.sure) - 1


def compute_acceptance_by_recursion(
    epsilon: float, delta: float, whole: float, distance: int
) -> tuple[float, float]:
    """Return the probabilities of an answer and of none at a distance, step by step in doubles."""
    told, lost = 0.0, 1.0
    for _ in range(distance + 1):
        if lost == 0:
            break
        grown = math.exp(epsilon) * told + delta
        left = math.exp(-whole) * (lost - delta)
        if grown <= 1 - left:
            told, lost = grown, 1 - grown
        else:
            told, lost = 1 - max(0.0, left), max(0.0, left)
    return told, lost
