"""Many quantiles at once, by one exponential mechanism over all of them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, Mechanism, Specimen, miss, natural
from jali.mechanisms.quantiles.joint_law import JointLaw
from jali.mechanisms.quantiles.nested import rank_error
from jali.mechanisms.quantiles.ranks import largest_distance, sorted_marks
from jali.mechanisms.quantiles.readers import loss_of, rising_quantiles
from jali.mechanisms.ruler import Marks, Ruler
from jali.mechanisms.selection.piecewise_geometric import Digits
from jali.noise import BitSource, system_bits
from jali.noise.uniform import uniform_below
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.rationals import Number

Values: TypeAlias = tuple[int | float, ...]

_SPREAD = 1 << 16
_AHEAD = 64
_MOST_PLACES = 1 << 62
# Beyond it the exponents of long columns would leave the range in which draws are fast; nobody means such losses.
_MOST_LOSS = 10**6


@dataclass(frozen=True, repr=False)
class JointQuantiles(Mechanism):
    """Release many quantiles by one draw: the counts between them should be those that are wanted.

    Each mark is divided into `spread` places, and each value put on a random one of its mark, so that equal values
    do not hide the marks they share; one more place, above them all, stands for the last mark. A rising tuple of
    places has a mass proportional to exp(-rate * sum of |count between neighbours - wanted count|); the marks of
    the places are released.

    It takes a time of the order of n m (m + log n) for n values and m quantiles, half a second for n = 10,000 and
    m = 20; `ApproximateQuantiles` is for more.

    Args:
        at: Which quantiles, from 0 to 1, in rising order.
        low: The least value of the column; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of the marks; if not given, there are about 2^30 of them.
        spread: How many places each mark has; 1 if no two values are equal.
        epsilon: The loss of all of them together.
        adjacency: When two tables are neighbours; the number of values is private under "add-remove" only.

    Guarantee:
        The release is a mixture of laws of bounded range epsilon, hence epsilon-DP and (epsilon^2/8)-zCDP, with
        the profile of a bounded range. The rate is epsilon/4 under "replace-one", and epsilon/(4 (1 - g)) under
        "add-remove", where g is the least difference of neighbours among 0, the quantiles and 1.
    Proof:
        docs/proofs/many_quantiles.md, after Gillenwater, Joseph and Kulesza 2021, Lemma 3.2.

    Error:
        In people: with N tuples of places, no rank is off by more than (m k + t)/2 with a chance of at least
        1 - (N-1) exp(-rate t), where at most k = `ties` people share one place.

    Example:
        >>> from jali.mechanisms import JointQuantiles
        >>> quartiles = JointQuantiles(
        ...     at=("1/4", "1/2", "3/4"), low=0, high=100, step=1, epsilon=1, adjacency="replace-one"
        ... )
        >>> one, two, three = quartiles.release(range(101))
        >>> 0 <= one <= two <= three <= 100
        True
    """

    error_is_exact = False

    at: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    step: Fraction | None
    spread: int
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        at: Sequence[Number],
        low: Number,
        high: Number,
        step: Number | None = None,
        spread: int = _SPREAD,
        epsilon: Number,
        adjacency: str | Adjacency,
    ) -> None:
        ruler = Ruler.of(low, high, step)
        self._fill(at=rising_quantiles(at), low=ruler.low, high=ruler.high)
        self._fill(step=None if step is None else ruler.step, spread=natural(spread, "spread"))
        self._fill(epsilon=loss_of(epsilon, most=_MOST_LOSS), adjacency=Adjacency.of(adjacency))
        if self._last > _MOST_PLACES:
            raise MechanismError("spread-too-large")

    @cached_property
    def ruler(self) -> Ruler:
        """The marks that can be released."""
        return Ruler.of(self.low, self.high, self.step)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Which part of the column should lie below the first quantile, between the first two, and so on."""
        ends = (Fraction(0), *self.at, Fraction(1))
        return tuple(after - before for before, after in itertools.pairwise(ends))

    @property
    def _last(self) -> int:
        """The last place: one above those of the last mark, so that all values can lie below it."""
        return (self.ruler.top + 1) * self.spread

    @property
    def rate(self) -> Fraction:
        """What the sum of miscounts is multiplied by in the exponent."""
        moved = 1 if self.adjacency is Adjacency.REPLACE_ONE else 1 - min(self.shares)
        return self.epsilon / (4 * moved)

    @property
    def loss(self) -> BoundedRange:
        """As a bounded range of epsilon: mixtures keep epsilon, zCDP and profile."""
        return BoundedRange(self.epsilon)

    def error(self, confidence: float, *, ties: int = 1) -> float:
        """Return a t such that every rank is within t people of its due, with this chance.

        Args:
            confidence: The chance that this holds.
            ties: How many people share one place at most.
        """
        wanted = len(self.at)
        others = math.comb(self._last + wanted, wanted) - 1
        return (natural(ties, "ties") * wanted + rank_error(others, self.rate, miss(confidence))) / 2

    def release(self, value: Any, *, bits: BitSource | None = None) -> Values:
        """Return values near the quantiles of a column, in rising order.

        Args:
            value: The column: a list or an array of numbers; those outside the range count as its ends.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        source = system_bits() if bits is None else bits
        return self._values(self._law(self._spread_out(value, 1, source)[0]), Digits(source))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        source = system_bits() if bits is None else bits
        digits = Digits(source, ahead=_AHEAD)
        laws: dict[bytes, JointLaw] = {}
        drawn: list[Hashable] = []
        for places in self._spread_out(value, size, source):
            key = places.tobytes()
            if key not in laws:
                laws[key] = self._law(places)
            drawn.append(self._values(laws[key], digits))
        return drawn

    def outcome(self, released: Values) -> Hashable:
        """Return the values themselves."""
        return released

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its due, in people."""
        ruler = self.ruler
        return largest_distance(self.at, sorted_marks(ruler.marks(value)), [ruler.nearest(y) for y in output])

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[answers] for all answers on a small range, over all ways to spread a short column."""
        marks = self.ruler.marks(value)
        ways = list(itertools.product(range(self.spread), repeat=len(marks)))
        masses: dict[Values, list[float]] = defaultdict(list)
        for way in ways:
            for answer, log in self._log_masses(np.sort(marks * self.spread + np.array(way, np.int64))):
                masses[answer].append(log - math.log(len(ways)))
        return {answer: _log_sum(logs) for answer, logs in masses.items()}

    def _log_masses(self, places: Marks) -> list[tuple[Values, float]]:
        """Return all tuples of places, by their answers, with ln of their probabilities, for values on places."""
        wanted = [share * len(places) for share in self.shares]
        below = [int(places.searchsorted(place)) for place in range(self._last + 1)]
        answers: list[Values] = []
        logs: list[float] = []
        for chosen in itertools.combinations_with_replacement(range(len(below)), len(self.at)):
            ranks = [0, *(below[place] for place in chosen), len(places)]
            counts = [after - before for before, after in itertools.pairwise(ranks)]
            cost = sum((abs(count - want) for count, want in zip(counts, wanted, strict=True)), Fraction(0))
            answers.append(self._told(chosen))
            logs.append(-float(self.rate * cost))
        total = _log_sum(logs)
        return [(answer, log - total) for answer, log in zip(answers, logs, strict=True)]

    def _spread_out(self, value: Any, size: int, bits: BitSource) -> Marks:
        """Put each value on a random place of its mark, `size` times."""
        marks = self.ruler.marks(value)
        within = uniform_below(self.spread, size * len(marks), bits=bits).reshape(size, len(marks))
        return np.sort(marks * self.spread + within, axis=1)

    def _law(self, places: Marks) -> JointLaw:
        lengths = np.diff(np.concatenate(([-1], places, [self._last]))).tolist()
        return JointLaw(lengths, tuple(share * len(places) for share in self.shares), self.rate)

    def _values(self, law: JointLaw, digits: Digits) -> Values:
        return self._told(law.draw(digits))

    def _told(self, places: Sequence[int]) -> Values:
        """Return the values of the marks of places; the one above all marks stands for the last."""
        ruler = self.ruler
        return tuple(ruler.at(min(place // self.spread, ruler.top)) for place in places)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs of quantiles of small columns, in both adjacencies, with and without spreading."""
        return (
            _specimen(1, ("1/3", "3/4"), Adjacency.ADD_REMOVE, (([1, 2, 4], [1, 2]), ([], [4]))),
            _specimen(1, ("1/4", "1/2", "3/4"), Adjacency.REPLACE_ONE, (([1, 2, 4, 4], [2, 4, 4, 0]),)),
            _specimen(2, ("1/4", "1/2"), Adjacency.REPLACE_ONE, (([1, 3, 3], [1, 3, 4]), ([2, 2, 2], [2, 2, 0]))),
        )


def _specimen(
    spread: int,
    at: tuple[Number, ...],
    adjacency: Adjacency,
    neighbours: tuple[tuple[list[int], list[int]], ...],
) -> Specimen:
    mechanism = JointQuantiles(at=at, low=0, high=4, step=1, spread=spread, epsilon=3, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 3}, tight=False)


def _log_sum(logs: list[float]) -> float:
    """Return ln of the sum of exp."""
    most = max(logs)
    return most + math.log(math.fsum(math.exp(log - most) for log in logs))
