"""What all randomizers share: one person's value in, one report out; many reports in, an estimate out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from itertools import permutations
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.errors import MechanismError
from jali.local.estimate import Chances, Estimate, crowd
from jali.mechanisms.mechanism import Mechanism, Specimen, miss
from jali.noise import BitSource, system_bits
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, share
from jali.privacy.rounding import float_above

Reports: TypeAlias = NDArray[Any]


class Randomizer(Mechanism):
    """A mechanism that a person runs on their own value, before it leaves them.

    Neighbours are any two values of one person (replace-one). A value outside of the categories counts as the
    nearest one: an error would tell that it was there. There is no sensitivity to scale, so `loss_power` is None.

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
    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        """Return one report for each value, along the first axis."""

    @abstractmethod
    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count, for each category, the reports that support it."""

    def randomize(self, values: ArrayLike, *, bits: BitSource | None = None) -> Reports:
        """Return the reports of many people, each from coins of their own."""
        return self._randomized(self._categories(values), system_bits() if bits is None else bits)

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
        """Return the exact variance of an estimated frequency, over the coins of so many people."""
        return self.chances.variance(float_above(share(frequency, "frequency")), crowd(people))

    def error(self, confidence: float, *, people: int = 1) -> float:
        """Return what one estimated frequency errs by at most, with a confidence: a bound at every frequency."""
        miss(confidence)
        return self.chances.half_width(crowd(people), confidence)

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
        if isinstance(values, np.ma.MaskedArray):  # numpy would tell what is under the mask
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

    Reports are public: what is wrong with them may be told.
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
