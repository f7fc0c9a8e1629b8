"""The hierarchical mechanism, which answers thresholds and ranges from a tree of noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError, settle
from jali.mechanisms.base import Specimen, read_natural
from jali.mechanisms.workloads.count_tree import CountTree, find_best_shape
from jali.mechanisms.workloads.linear_release import (
    LinearRelease,
    WorkloadAnswers,
    convert_to_doubles,
    read_public_total,
)
from jali.mechanisms.workloads.workload import Floats, IntervalWorkload, Thresholds, read_interval_workload
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class Hierarchy(LinearRelease):
    """Measure the counts of a tree over the cells with noise, and answer from the tree that fits them best.

    Args:
        workload: What is asked: a Histogram, Thresholds or Ranges.
        epsilon: The loss, for discrete Laplace noise; or else
        rho: The loss in zCDP, for discrete Gaussian noise.
        adjacency: When two histograms are neighbours.
        fanout: The number of children of every node, or one number for each level from the root down. By
            default the fan-outs with the least forecast error for the workload, from closed forms.
        total: The number of people, where it is public (replace-one): it needs no noise then.

    Guarantee:
        One person is in one node of each level. With L levels below the root, histograms that are neighbours
        under add-remove are L apart in L1 norm (L + 1 if the total is measured too, which is decided from the
        forecast error), under replace-one 2L; squared in L2 norm it is the same. The release is epsilon-DP or
        rho-zCDP.
    Proof:
        docs/proofs/hierarchy.md, after Hay, Rastogi, Miklau and Suciu 2010, Theorem 3.

    Error:
        The variance of every answer is known in closed form; `error` bounds the quantile of the answer with the
        largest variance, or of a given one.

    Example:
        >>> from jali.mechanisms import Hierarchy
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = Hierarchy(workload=Thresholds(4096), epsilon=1, adjacency="add-remove")
        >>> mechanism.fanout, round(mechanism.rms, 1)
        ((4, 13, 11, 9), 13.9)
        >>> len(mechanism.release([1] * 4096).answers)
        4096
    """

    workload: IntervalWorkload
    epsilon: Fraction | None
    rho: Fraction | None
    adjacency: Adjacency
    fanout: tuple[int, ...]
    total: int | None

    def __init__(
        self,
        *,
        workload: IntervalWorkload,
        epsilon: Number | None = None,
        rho: Number | None = None,
        adjacency: str | Adjacency,
        fanout: int | Sequence[int] | None = None,
        total: int | None = None,
    ) -> None:
        self._fill(workload=read_interval_workload(workload), adjacency=Adjacency.of(adjacency))
        self._fill(total=read_public_total(total, self.adjacency))
        self._read_loss(epsilon, rho)
        cells = workload.cells
        self._fill(fanout=self._best_fanout() if fanout is None else _read_fanouts(fanout, cells))
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def tree(self) -> CountTree:
        """The tree that is measured."""
        return self._tree(self.fanout)

    @property
    def distance(self) -> tuple[Fraction, Fraction]:
        """The number of nodes that one person moves by 1."""
        moved = Fraction(self._count_moves(self.tree))
        return moved, moved

    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return the counts of all measured nodes, from the root down."""
        return self.tree.counts(_widen(histogram, self.tree.leaves))

    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Make the noisy counts consistent; the answers are sums of the leaves."""
        leaves = self.tree.fit_leaves(self.tree.split(convert_to_doubles(measurements)), self.total)
        return WorkloadAnswers(self.workload, measurements, leaves[: self.workload.cells])

    def influence(self, answer: int) -> Floats:
        """Return the coefficients of the noises in an answer."""
        return self.tree.influence(self.workload.weights(answer))

    def variances(self) -> Floats:
        """Return the variance of every answer."""
        return self.tree.variances(*self.workload.bounds) * self.law.stddev**2

    @property
    def total_variance(self) -> float:
        """The sum of the variances of all answers, in closed form."""
        return self.tree.total_variance(self.workload) * self.law.stddev**2

    def _best_fanout(self) -> tuple[int, ...]:
        return find_best_shape(self.workload.cells, lambda fanouts: self._forecast(self._tree(fanouts)))

    def _tree(self, fanouts: tuple[int, ...]) -> CountTree:
        """Return the tree with or without its root, whichever has the smaller error."""
        if self.total is not None:
            return CountTree(fanouts, root=False, pinned=True)
        return min((CountTree(fanouts, root=root) for root in (False, True)), key=self._forecast)

    def _forecast(self, tree: CountTree) -> float:
        """Return the total variance, up to a factor that all trees share."""
        moved = self._count_moves(tree)
        return tree.total_variance(self.workload) * (moved**2 if self.epsilon is not None else moved)

    def _count_moves(self, tree: CountTree) -> int:
        if self.adjacency is Adjacency.ADD_REMOVE:
            return tree.depth + tree.root
        return 2 * tree.depth

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two cells, in both adjacencies and noises, with the total measured, not measured, and public."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        joined, moved = (((3, 1), (4, 1)), ((3, 1), (3, 2))), (((2, 1), (1, 2)),)
        return (
            Specimen(cls(workload=two, epsilon=3, adjacency=add, fanout=2), add, joined),
            Specimen(cls(workload=two, epsilon=10, adjacency=replace, fanout=2), replace, moved),
            Specimen(cls(workload=two, epsilon=4, adjacency=replace, total=3), replace, moved),
            Specimen(cls(workload=two, rho=2, adjacency=add, fanout=2), add, joined),
            Specimen(cls(workload=two, rho=2, adjacency=replace, total=3), replace, moved),
        )


def _read_fanouts(fanout: int | Sequence[int], cells: int) -> tuple[int, ...]:
    """Read fan-outs, and refuse trees with too few leaves."""
    if isinstance(fanout, int | np.integer):
        each = read_natural(fanout, "fanout", least=2)
        levels = 1
        while each**levels < cells:
            levels += 1
        return (each,) * levels
    try:
        chosen = tuple(read_natural(item, "fanout") for item in fanout)
    except TypeError:
        raise MechanismError("fanout-malformed", fanout=settle(fanout)) from None
    if not chosen or CountTree(chosen, root=False).leaves < cells:
        raise MechanismError("fanout-too-small", fanout=settle(fanout), cells=cells)
    return chosen


def _widen(histogram: NDArray[Any], leaves: int) -> NDArray[Any]:
    """Use Python integers where sums could overflow."""
    if histogram.dtype == object or not histogram.size:
        return histogram
    most = max(abs(int(histogram.min())), abs(int(histogram.max())), 1)
    return histogram.astype(object) if most * leaves >= 1 << 62 else histogram
