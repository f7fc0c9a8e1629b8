"""Many quantiles at once, by one exponential mechanism over all of them, drawn exactly.

A draw chooses which gap of the column each quantile falls into, then where in the gap. A table bounds the mass of
all ways to place the first j quantiles; walking back through it proposes gaps with probabilities that are known
exactly and at least the true ones, and one exact Bernoulli draw corrects the walk. Doubles serve to make the table
only: where they are too large time is lost, and that they are never too small is proven.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import (
    BoundedRangeMechanism,
    LogMasses,
    Specimen,
    read_miss_probability,
    read_natural,
)
from jali.mechanisms.lattice import Marks
from jali.mechanisms.quantiles.quantile_mechanism import RangeMechanism, read_loss, read_quantiles
from jali.mechanisms.quantiles.rank_laws import bound_rank_error
from jali.mechanisms.quantiles.scaled_numbers import DecayingPowers, Lottery, ScaledNumbers, build_zeros
from jali.mechanisms.quantiles.weighted_ranks import find_largest_distance, sort_marks
from jali.mechanisms.selection.piecewise_geometric import RandomDigits
from jali.numbers.quadrature import sum_all_logs
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits
from jali.sampling.uniform import uniform_below

# Bounds of ln 2, in units of 1e-16.
_LN2 = (6931471805599453, 6931471805599454)


@dataclass(frozen=True)
class QuantileRun:
    """Several quantiles in one gap.

    Attributes:
        gap: Its number, which is the number of values below.
        size: How many quantiles.
    """

    gap: int
    size: int


@dataclass(frozen=True, eq=False)
class JointLaw:
    """The law on rising tuples of places, with mass proportional to exp(-rate * sum of |count - wanted count|).

    Args:
        lengths: How many places each gap has, from below all values to above all; 0 where values are equal.
        wanted: How many values should lie below the first quantile, between the first two, ..., above the last.
        rate: A rational above 0.

    Guarantee:
        `draw` has exactly this law; equal quantiles count as one tuple.
    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    lengths: list[int]
    wanted: tuple[Fraction, ...]
    rate: Fraction
    _lotteries: dict[tuple[int, int], Lottery] = field(default_factory=dict, repr=False)
    _coins: dict[tuple[QuantileRun, ...], tuple[Fraction, Fraction]] = field(default_factory=dict, repr=False)

    def draw(self, digits: RandomDigits) -> list[int]:
        """Draw a tuple of places, numbered from 0 over all gaps."""
        while (runs := self.attempt(digits)) is None:
            pass
        chosen = (
            (run.gap, _draw_rising_places(self.lengths[run.gap], run.size, digits)) for run in reversed(runs)
        )
        return [self._starts[gap] + place for gap, places in chosen for place in places]

    def attempt(self, digits: RandomDigits, word: int = 32) -> tuple[QuantileRun, ...] | None:
        """Propose runs from the last to the first and draw whether to keep them; None if they are not accepted."""
        left, gap = len(self.wanted) - 1, len(self.lengths)
        runs: list[QuantileRun] = []
        while left:
            arrival = self._arrivals(left, gap).draw(digits)
            share = None if arrival is None else self._shares(left, arrival).draw(digits)
            if arrival is None or share is None:
                return None
            gap, left = arrival, left - share - 1
            runs.append(QuantileRun(gap, share + 1))
        walk = tuple(runs)
        return walk if digits.draw_bernoulli(*self._compute_acceptance(walk), word) else None

    def _compute_acceptance(self, walk: tuple[QuantileRun, ...]) -> tuple[Fraction, Fraction]:
        """Return (f, x) such that f exp(-x) is the mass of a walk over its probability, but for a constant."""
        if walk not in self._coins:
            left, gap, factor = len(self.wanted) - 1, len(self.lengths), Fraction(1)
            for run in walk:
                arrivals, shares = self._arrivals(left, gap), self._shares(left, run.gap)
                ways = math.comb(self.lengths[run.gap] + run.size - 1, run.size)
                factor *= ways / (arrivals.chance(run.gap) * shares.chance(run.size - 1))
                left, gap = left - run.size, run.gap
            self._coins[walk] = factor, self.rate * self.cost(reversed(walk)) - self._log_total
        return self._coins[walk]

    def cost(self, runs: Iterable[QuantileRun]) -> Fraction:
        """Return the sum of |count - wanted count|, for runs in rising order."""
        gaps = [0, *(run.gap for run in runs for _ in range(run.size)), len(self.lengths) - 1]
        counts = [after - before for before, after in pairwise(gaps)]
        return sum((abs(count - want) for count, want in zip(counts, self.wanted, strict=True)), Fraction(0))

    @cached_property
    def _log_total(self) -> Fraction:
        """A rational at most -ln of the bound of all masses."""
        total = self._arrivals(len(self.wanted) - 1, len(self.lengths)).whole
        factor, power = Fraction(float(total.factors)), int(total.powers)
        return 1 - factor - power * Fraction(_LN2[power > 0], 10**16)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.lengths).tolist()]

    @cached_property
    def _decay(self) -> DecayingPowers:
        return DecayingPowers(self.rate, len(self.lengths))

    def _edges(self, cell: int) -> tuple[int, ScaledNumbers, ScaledNumbers]:
        """Return the least whole h >= wanted, at least 1, and exp(-rate x) at h - wanted and at wanted - h + 1."""
        want = self.wanted[cell]
        whole = max(1, math.ceil(want))
        return (
            whole,
            ScaledNumbers.exp(self.rate * (whole - want)),
            ScaledNumbers.exp(self.rate * (want - whole + 1)),
        )

    def _kernel(self, cell: int) -> ScaledNumbers:
        """Bound exp(-rate |count - wanted|), for each count from 0 to that of all values."""
        whole, above, below = self._edges(cell)
        powers = self._decay.powers
        return (powers[:whole][::-1] * below).join(powers[: len(powers) - whole] * above)

    @cached_property
    def _tables(self) -> tuple[list[ScaledNumbers], list[ScaledNumbers]]:
        """Bounds of the masses of placing j quantiles, for each gap.

        In the first table quantile j is the last one in the gap; in the second it is below, the next one in it.
        """
        passed = [self._kernel(0)]
        tables = [passed[0]]  # there is no quantile number 0: this is not read
        for j in range(1, len(self.wanted)):
            terms = self._terms(j, passed, slice(None))
            tables.append(_sum_terms(terms))
            passed.append(self._sum_passed(j, tables[j]))
        return tables, passed

    def _terms(self, j: int, passed: list[ScaledNumbers], gaps: slice) -> list[ScaledNumbers]:
        """Bound the mass by how many quantiles, up to number j, are in a gap: 1, 2, ..., j."""
        found, inside = [], Fraction(0)
        for size in range(1, j + 1):
            apart = ScaledNumbers.exp(self.rate * inside)
            found.append(passed[j - size][gaps] * self._ways[size][gaps] * apart)
            inside += self.wanted[j - size]
        return found

    @cached_property
    def _ways(self) -> list[ScaledNumbers]:
        """Bound, for 0, 1, ..., m quantiles, in how many ways each gap can hold them, in rising order."""
        lengths = np.array(self.lengths, np.int64)
        found = [ScaledNumbers.integers(np.ones_like(lengths))]
        for size in range(1, len(self.wanted)):
            more = ScaledNumbers.integers(np.where(lengths > 0, lengths + size - 1, 0))
            found.append(found[-1] * more * ScaledNumbers.of(np.nextafter(1 / size, 1)))
        return found

    def _sum_passed(self, j: int, table: ScaledNumbers) -> ScaledNumbers:
        """Bound, for each gap, the sum over all gaps below it of the weights that `_arrivals` gives them."""
        whole, above, below = self._edges(j)
        count, early = len(table), build_zeros(whole - 1)
        far = self._decay.sums(table[::-1], count)[::-1].delay(whole) * above
        near = self._decay.sums(early.join(table), whole - 1)[:count] * below
        return Lottery.room(far + near)

    def _arrivals(self, j: int, gap: int) -> Lottery:
        """Return where quantile j lies, if the next one is in a given gap; beyond the last gap there is none."""
        if (j, gap) not in self._lotteries:
            table, last = self._tables[0][j], len(self.lengths)
            reach = gap + 1 if gap < last else last
            parts = table[:gap] * self._kernel(j)[:reach][::-1][:gap]
            whole = self._tables[1][j][gap] if gap < last else Lottery.room(parts.sum())
            self._lotteries[j, gap] = Lottery(parts, whole)
        return self._lotteries[j, gap]

    def _shares(self, j: int, gap: int) -> Lottery:
        """Return how many quantiles, less 1, are in the gap in which quantile j is the last one."""
        if (-j, gap) not in self._lotteries:
            terms = self._terms(j, self._tables[1], slice(gap, gap + 1))
            parts = terms[0]
            for term in terms[1:]:
                parts = parts.join(term)
            self._lotteries[-j, gap] = Lottery(parts, self._tables[0][j][gap])
        return self._lotteries[-j, gap]


def _sum_terms(terms: list[ScaledNumbers]) -> ScaledNumbers:
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return Lottery.room(found)


def _draw_rising_places(length: int, size: int, digits: RandomDigits) -> list[int]:
    """Return `size` places below `length` in rising order, equal ones allowed: all such lists alike."""
    if size == 1:
        return [digits.below(length)]
    chosen: set[int] = set()
    for top in range(length - 1, length + size - 1):  # Floyd: a uniform subset of length + size - 1 numbers
        place = digits.below(top + 1)
        chosen.add(top if place in chosen else place)
    return [place - turn for turn, place in enumerate(sorted(chosen))]


Values: TypeAlias = tuple[int | float, ...]

_SPREAD = 1 << 16
_AHEAD = 64
_MOST_PLACES = 1 << 62
# Beyond it the exponents of long columns would leave the range in which draws are fast; nobody means such losses.
_MOST_LOSS = 10**6


@dataclass(frozen=True, repr=False)
class JointQuantiles(BoundedRangeMechanism, RangeMechanism):
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
        In people: with N tuples of places, no rank is off by more than (m k + t)/2 with a probability of at least
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
        self._fill_lattice(low, high, step)
        self._fill(at=read_quantiles(at), spread=read_natural(spread, "spread"))
        self._fill(epsilon=read_loss(epsilon, most=_MOST_LOSS), adjacency=Adjacency.of(adjacency))
        if self._last > _MOST_PLACES:
            raise MechanismError("spread-too-large")

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

    def error(self, confidence: float, *, ties: int = 1) -> float:
        """Return a t such that every rank is within t people of its target, with this probability.

        Args:
            confidence: The probability that this holds.
            ties: How many people share one place at most.
        """
        wanted = len(self.at)
        others = math.comb(self._last + wanted, wanted) - 1
        return (
            read_natural(ties, "ties") * wanted
            + bound_rank_error(others, self.rate, read_miss_probability(confidence))
        ) / 2

    def release(self, value: Any, *, bits: BitSource | None = None) -> Values:
        """Return values near the quantiles of a column, in rising order.

        Args:
            value: The column: a list or an array of numbers; those outside the range count as its ends.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        source = system_bits() if bits is None else bits
        return self._values(self._law(self._spread_out(value, 1, source)[0]), RandomDigits(source))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        source = system_bits() if bits is None else bits
        digits = RandomDigits(source, ahead=_AHEAD)
        laws: dict[bytes, JointLaw] = {}
        drawn: list[Hashable] = []
        for places in self._spread_out(value, size, source):
            key = places.tobytes()
            if key not in laws:
                laws[key] = self._law(places)
            drawn.append(self._values(laws[key], digits))
        return drawn

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its target, in people."""
        ruler = self.ruler
        return find_largest_distance(self.at, sort_marks(ruler.marks(value)), [ruler.nearest(y) for y in output])

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[answers] for all answers on a small range, over all ways to spread a short column."""
        marks = self.ruler.marks(value)
        ways = list(itertools.product(range(self.spread), repeat=len(marks)))
        masses: dict[Values, list[float]] = defaultdict(list)
        for way in ways:
            for answer, log in self._log_masses(np.sort(marks * self.spread + np.array(way, np.int64))):
                masses[answer].append(log - math.log(len(ways)))
        return {answer: sum_all_logs(logs) for answer, logs in masses.items()}

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
            answers.append(self._list_values(chosen))
            logs.append(-float(self.rate * cost))
        total = sum_all_logs(logs)
        return [(answer, log - total) for answer, log in zip(answers, logs, strict=True)]

    def _spread_out(self, value: Any, size: int, bits: BitSource) -> Marks:
        """Put each value on a random place of its mark, `size` times."""
        marks = self.ruler.marks(value)
        within = uniform_below(self.spread, size * len(marks), bits=bits).reshape(size, len(marks))
        return np.sort(marks * self.spread + within, axis=1)

    def _law(self, places: Marks) -> JointLaw:
        lengths = np.diff(np.concatenate(([-1], places, [self._last]))).tolist()
        return JointLaw(lengths, tuple(share * len(places) for share in self.shares), self.rate)

    def _values(self, law: JointLaw, digits: RandomDigits) -> Values:
        return self._list_values(law.draw(digits))

    def _list_values(self, places: Sequence[int]) -> Values:
        """Return the values of the marks of places; the one above all marks stands for the last."""
        ruler = self.ruler
        return tuple(ruler.at(min(place // self.spread, ruler.top)) for place in places)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs of quantiles of small columns, in both adjacencies, with and without spreading."""
        return (
            _build_specimen(1, ("1/3", "3/4"), Adjacency.ADD_REMOVE, (([1, 2, 4], [1, 2]), ([], [4]))),
            _build_specimen(1, ("1/4", "1/2", "3/4"), Adjacency.REPLACE_ONE, (([1, 2, 4, 4], [2, 4, 4, 0]),)),
            _build_specimen(
                2, ("1/4", "1/2"), Adjacency.REPLACE_ONE, (([1, 3, 3], [1, 3, 4]), ([2, 2, 2], [2, 2, 0]))
            ),
        )


def _build_specimen(
    spread: int,
    at: tuple[Number, ...],
    adjacency: Adjacency,
    neighbours: tuple[tuple[list[int], list[int]], ...],
) -> Specimen:
    mechanism = JointQuantiles(at=at, low=0, high=4, step=1, spread=spread, epsilon=3, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 3}, tight=False)
