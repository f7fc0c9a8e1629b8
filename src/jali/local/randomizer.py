"""The base classes of randomizers: one person's value in, one report out; many reports in, an estimate out.

Random choices with odds that hold a power of e are exact.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.errors import MechanismError
from jali.local.frequency_estimates import Chances, Estimate, read_people
from jali.mechanisms.base import Mechanism, Specimen, read_miss_probability, read_natural, read_parameter
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, share
from jali.sampling import BitSource, system_bits
from jali.sampling.exp_bounds import Bounds, exp_bounds
from jali.sampling.interval_bernoulli import Booleans, draw_booleans

_WIDTH = 32  # bits of a word; one coin in 2**31 needs a second word


def draw_with_odds(epsilon: Fraction, against: Fraction, size: int, *, bits: BitSource) -> Booleans:
    """Toss coins that show True with probability exactly e^epsilon / (e^epsilon + against).

    Args:
        epsilon: A rational above 0.
        against: A rational above 0: the weight of False.
        size: How many coins.
        bits: Where the random bits come from.

    Guarantee:
        The coins are independent and have exactly that probability.
    Proof:
        docs/proofs/randomized_response.md, Lemma 1.

    Example:
        >>> from jali.sampling import system_bits
        >>> draw_with_odds(Fraction(10**6), Fraction(1), 3, bits=system_bits())
        array([ True,  True,  True])
    """
    return draw_booleans(partial(bound_odds, epsilon, against), size, bits, _WIDTH)


def bound_odds(epsilon: Fraction, against: Fraction, precision: int) -> Bounds:
    """Return integers lo <= 2**precision * e^epsilon / (e^epsilon + against) <= hi, a few units apart at most.

    Example:
        >>> bound_odds(Fraction(1), Fraction(1), 10)  # 1024 e/(e+1) is 748.6
        (748, 749)
    """
    work = precision + (against.numerator // against.denominator).bit_length() + 4
    lo, hi = exp_bounds(epsilon, work)
    weight = against.denominator << work
    above = weight << precision
    return above // (weight + against.numerator * hi), -(-above // (weight + against.numerator * lo))


Reports: TypeAlias = NDArray[Any]


class Randomizer(Mechanism):
    """A mechanism that a person runs on their own value, before it leaves them.

    Neighbours are any two values of one person (replace-one). A value outside of the categories counts as the
    nearest one: an error would reveal it. There is no sensitivity to scale, so `loss_power` is None.

    Error:
        With `chances` own and other, supports/people has mean other + gap f and the estimated frequency has
        variance (f own (1-own) + (1-f) other (1-other)) / (people gap^2).
    """

    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False

    @property
    @abstractmethod
    def answers(self) -> int:
        """How many categories there are; values are 0 .. answers - 1."""

    @property
    @abstractmethod
    def chances(self) -> Chances:
        """How often a report supports a category."""

    @abstractmethod
    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        """Return one report for each value, along the first axis."""

    @abstractmethod
    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count, for each category, the reports that support it."""

    def randomize(self, values: ArrayLike, *, bits: BitSource | None = None) -> Reports:
        """Return the reports of many people, each from coins of their own."""
        return self._draw_reports(self._categories(values), system_bits() if bits is None else bits)

    def release(self, value: int | bool, *, bits: BitSource | None = None) -> Any:
        """Return one person's report: a whole number, or an array of them."""
        if np.ndim(value):
            raise MechanismError("category-not-whole")
        report = self.randomize([value], bits=bits)[0]
        return report.item() if np.ndim(report) == 0 else report

    def sample(self, value: int, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases of one value."""
        drawn = self.randomize(np.full(size, value), bits=bits).tolist()
        return [tuple(report) if isinstance(report, list) else report for report in drawn]

    def estimate(self, reports: ArrayLike) -> Estimate:
        """Estimate the share of each category from the reports of many people.

        Example:
            >>> from jali.local import Warner
            >>> Warner(truth="3/4").estimate([1] * 50 + [0] * 50).frequencies
            (0.5, 0.5)
        """
        array = np.asarray(reports)
        if array.ndim and not len(array):
            raise MechanismError("reports-empty")
        return self.estimate_supports(self.supports(array), len(array))

    def estimate_supports(self, supports: ArrayLike, people: int) -> Estimate:
        """Estimate from supports that were counted before, such as sums over many batches of reports."""
        return Estimate(people, tuple(np.asarray(supports).tolist()), self.chances)

    def variance(self, frequency: Number = 0, *, people: int = 1) -> float:
        """Return the exact variance of an estimated frequency, over the coins of this many people."""
        return self.chances.variance(float_above(share(frequency, "frequency")), read_people(people))

    def error(self, confidence: float, *, people: int = 1) -> float:
        """Return what one estimated frequency errs by at most, with a confidence: a bound at every frequency."""
        read_miss_probability(confidence)
        return self.chances.half_width(read_people(people), confidence)

    def deviation(self, value: int, output: Any) -> float:
        """Return how far the frequency of a person's own category, estimated from one report, is from 1."""
        return abs(self.estimate([output]).frequencies[int(value)] - 1)

    @classmethod
    def _specimens(cls, *cases: Self) -> tuple[Specimen, ...]:
        """Return cases with all ordered pairs of values as neighbours."""
        return tuple(
            Specimen(case, Adjacency.REPLACE_ONE, tuple(permutations(range(case.answers), 2))) for case in cases
        )

    def _categories(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return values moved into 0 .. answers - 1; only their types can be refused."""
        last = self.answers - 1
        if isinstance(values, np.ma.MaskedArray):  # numpy would reveal what is under the mask
            raise MechanismError("categories-not-whole")
        # Left to itself, numpy makes doubles of a list of integers such as 2**63 and -1.
        array = None if isinstance(values, list | tuple) else np.asarray(values)
        if array is not None and array.ndim != 1:
            raise MechanismError("reports-not-a-list", name="values")
        if array is None or array.dtype == object:
            return _each_within(values if array is None else array.tolist(), last)
        if array.dtype.kind not in "iub":
            raise MechanismError("categories-not-whole")
        # The larger type of the two: int8 has no 999, and int64 not every uint64.
        wide = array if array.dtype == np.uint64 else array.astype(np.int64)
        return np.asarray(np.minimum(np.maximum(wide, 0), last), np.int64)


def _each_within(values: Any, last: int) -> NDArray[np.int64]:
    """Return whole numbers of any size as the nearest of 0 .. last, one by one."""
    if not all(issubclass(kind, int | np.integer | np.bool_) for kind in set(map(type, values))):
        raise MechanismError("categories-not-whole")
    return np.array([min(max(int(value), 0), last) for value in values], np.int64)


def whole_matrix(reports: ArrayLike, columns: int, kinds: int = 2) -> NDArray[Any]:
    """Return reports as a matrix of whole numbers 0 .. kinds - 1, one row for each person; refuse others.

    Reports are public: errors may say what is wrong with them.
    """
    array = np.asarray(reports)
    if array.ndim != 2 or array.shape[1] != columns:
        raise MechanismError("reports-not-a-matrix", columns=columns)
    return _in_range(array, kinds)


def whole_column(reports: ArrayLike, kinds: int = 2) -> NDArray[Any]:
    """Return reports as a list of whole numbers 0 .. kinds - 1, or refuse them."""
    array = np.asarray(reports)
    if array.ndim != 1:
        raise MechanismError("reports-not-a-list", name="reports")
    return _in_range(array, kinds)


def _in_range(reports: NDArray[Any], kinds: int) -> NDArray[Any]:
    if reports.size and (reports.dtype.kind not in "iub" or reports.min() < 0 or reports.max() >= kinds):
        raise MechanismError("reports-out-of-range", last=kinds - 1)
    return reports


# With more, sums of two categories would soon leave 64 bits, and a table of their shares any memory.
_MOST = 1 << 32


@dataclass(frozen=True, repr=False, init=False)
class Categorical(Randomizer):
    """A randomizer of one of several categories, 0, 1, 2 and so on, at a given loss."""

    categories: int
    epsilon: Fraction

    def __init__(self, *, categories: int, epsilon: Number) -> None:
        self._fill(categories=_read_categories(categories))
        self._fill(epsilon=read_parameter(epsilon, "epsilon"))

    @property
    def answers(self) -> int:
        """How many categories there are."""
        return self.categories


def _read_categories(categories: int) -> int:
    """Return a number of categories, or refuse it by name."""
    number = read_natural(categories, "categories", least=2)
    if number > _MOST:
        raise MechanismError("categories-too-many", categories=categories)
    return number
