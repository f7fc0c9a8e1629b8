"""Choose what is measured for a distribution function: its cells, or sums from which they are read better.

Statement:
    Let one person's rows weigh at most r in all cells of all groups. With G for each group's cells, a person's
    measurements lie in r times the hull of 0 and the columns of G. So they move, when one such vector is added or
    taken away, by at most r times the longest column; when one replaces another, by at most r times the largest
    distance of two columns in one group, or r times that of two columns without overlap over several. Two
    replacements move them at most twice as far.
Proof:
    docs/proofs/running_counts.md, Theorem 1.

Which G is taken depends on public facts alone: the number of cells, the kind of loss, how many vectors change, and
whether there are several groups. The forecast is the mean of the variances of all running sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from jali.ir.aggregates import Aggregation
from jali.mechanisms.intervals.linear_forms import IndependentLaw
from jali.mechanisms.intervals.weighted_sums import WeightedTerm, bound_weighted_quantile
from jali.mechanisms.planner_registry import choose_least_noise
from jali.mechanisms.workloads.cell_strategies import (
    CellStrategy,
    MeasuredCells,
    RootOfCells,
    RunningSumsLaw,
    TreeOfCells,
)
from jali.mechanisms.workloads.count_tree import CountTree, find_best_shape
from jali.mechanisms.workloads.workload import Thresholds
from jali.planner.query_sensitivity import CellFacts, QuerySensitivity
from jali.privacy import Loss

# Finer numbers would cost nothing but longer integers; these lose less than a thousandth of the accuracy.
_GRAIN, _SCALE = 1 << 12, 1 << 8
# A strategy is taken where it errs clearly less than the plain cells, which are simpler to read.
_CLEARLY = 0.99


@dataclass(frozen=True)
class CdfStrategy:
    """One way to release a distribution function.

    Attributes:
        name: What is measured.
        strategy: How; None for the cells themselves.
        rms: The root of the mean squared error of the running sums, for a person of weight 1 and noise that has a
            standard deviation of 1 at sensitivity 1.
        tree: The tree of counts, if the strategy is one.
    """

    name: str
    strategy: CellStrategy | None
    rms: float
    tree: TreeOfCells | None = None


@lru_cache(maxsize=256)
def list_cdf_strategies(facts: CellFacts) -> tuple[CdfStrategy, ...]:
    """Return every way to release running sums, the one that is taken first."""
    plain = CdfStrategy("noise on the cells", None, facts.rms((1, 1), (2, 2), (facts.cells + 1) / 2))
    others = tuple(_strategies(facts))
    return tuple(sorted((plain, *others), key=lambda way: way.rms * (_CLEARLY if way is plain else 1)))


def _strategies(facts: CellFacts) -> Iterator[CdfStrategy]:
    if facts.cells < 2:
        return
    tree = _best_tree(facts)
    if tree.tree.depth > 1 or tree.root:
        yield CdfStrategy("noise on a tree of counts", tree, _rms(facts, tree), tree)
    if not facts.pure:
        root = RootOfCells(facts.cells, _GRAIN, _SCALE)
        yield CdfStrategy("noise on the square root of summing", root, _rms(facts, root))


def _rms(facts: CellFacts, strategy: CellStrategy) -> float:
    return facts.rms(strategy.column, strategy.pair, float(strategy.variances().mean()))


def _best_tree(facts: CellFacts) -> TreeOfCells:
    """Return the tree with the least total variance, by the closed form; the root is measured where that helps."""
    asked = Thresholds(facts.cells)

    def cost(made: TreeOfCells) -> float:
        return facts.rms(made.column, made.pair, CountTree(made.fanouts, made.root).total_variance(asked))

    def choose_root(fanouts: tuple[int, ...]) -> TreeOfCells:
        return min((TreeOfCells(facts.cells, fanouts, root) for root in (False, True)), key=cost)

    return choose_root(find_best_shape(facts.cells, lambda fanouts: cost(choose_root(fanouts))))


@dataclass(frozen=True)
class RunningSumError:
    """How far running sums are off, in integer units of weight.

    Attributes:
        rms: The root of the mean of their variances.
        first: What the error of the first one stays within.
        widest: What that of the one with the largest variance stays within.
    """

    rms: float
    first: float
    widest: float


def forecast_running_sums(law: RunningSumsLaw | IndependentLaw, cells: int, confidence: float) -> RunningSumError:
    """Return the forecast of running sums: of a strategy, or of cells with noise of one law, added up."""
    if isinstance(law, RunningSumsLaw):
        each = law.stddevs
        worst = int(each.argmax())
        rms = math.sqrt(float((each**2).mean()))
        return RunningSumError(rms, law.width(0, confidence), law.width(worst, confidence))
    rms = law.stddev * math.sqrt((cells + 1) / 2)
    return RunningSumError(
        rms, law.quantile(confidence), bound_weighted_quantile([WeightedTerm(1.0, cells, law)], confidence)
    )


def build_measured_cells(
    aggregation: Aggregation, strategy: CellStrategy, loss: Loss, changes: int
) -> MeasuredCells:
    """Return a strategy with the noise for a loss."""
    reach = QuerySensitivity(aggregation, changes).measure_by(strategy)
    return MeasuredCells(strategy, choose_least_noise(reach, loss))
