"""How the running sums of a distribution function leave: by noise on its cells, or on sums that hold them better.

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
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from jali.errors import JaliError
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.combined import AnyLaw
from jali.mechanisms.workloads.cell_strategies import CellsLaw, CellStrategy, RootOfCells, TreeOfCells
from jali.mechanisms.workloads.tree import Tree, best_shape
from jali.mechanisms.workloads.weighted_sums import Term, weighted_quantile
from jali.mechanisms.workloads.workload import Thresholds
from jali.planner.reach import many_groups, weight_reach
from jali.privacy import Concentrated, Loss, Pure
from jali.query.aggregation import Aggregation

# An L1 norm, and the square of an L2 norm.
Norms: TypeAlias = tuple[int, int]
# Finer numbers would cost nothing but longer integers; these lose less than a thousandth of the accuracy.
_GRAIN, _SCALE = 1 << 12, 1 << 8
# A strategy is taken where it errs clearly less than the plain cells, which are simpler to read.
_CLEARLY = 0.99


@dataclass(frozen=True)
class MeasuredCells:
    """Noise on the sums of cells that a strategy measures."""

    strategy: CellStrategy
    noise: Laplace | Gaussian

    @property
    def loss(self) -> Pure | Concentrated:
        """That of the noise."""
        return self.noise.loss

    @property
    def law(self) -> CellsLaw:
        """The law of the running sums, in integer units of weight."""
        return CellsLaw(self.strategy, self.noise.law)


@dataclass(frozen=True)
class Way:
    """One way to release a distribution function.

    Attributes:
        name: What is measured.
        strategy: How; None for the cells themselves.
        rms: The root of the mean squared error of the running sums, for a person of weight 1 and noise that has a
            standard deviation of 1 at sensitivity 1.
    """

    name: str
    strategy: CellStrategy | None
    rms: float


@dataclass(frozen=True)
class Facts:
    """What the choice depends on: the cells, the vectors that change, several groups or one, the kind of loss."""

    cells: int
    changes: int
    several: bool
    pure: bool

    @classmethod
    def of(cls, aggregation: Aggregation, changes: int, *, pure: bool) -> Facts:
        """Read them off an aggregation along an axis."""
        assert aggregation.along is not None
        return cls(aggregation.along.cells, changes, many_groups(aggregation) > 1, pure)

    def moves(self, column: Norms, pair: Norms) -> Norms:
        """Return how far people of weight 1 move the measurements: in L1, and squared in L2."""
        one, squared = column
        if self.changes == 1:
            return column
        # Columns in different groups do not overlap.
        apart, squared_apart = (2 * one, 2 * squared) if self.several else pair
        replaced = self.changes // 2
        return replaced * max(one, apart), replaced**2 * max(squared, squared_apart)

    def rms(self, column: Norms, pair: Norms, variance: float) -> float:
        """Return the forecast of a strategy with this mean of the variances of its running sums."""
        one, squared = self.moves(column, pair)
        return math.sqrt(variance * (one**2 if self.pure else squared))


@lru_cache(maxsize=256)
def ways(facts: Facts) -> tuple[Way, ...]:
    """Return every way to release running sums, the one that is taken first."""
    plain = Way("noise on the cells", None, facts.rms((1, 1), (2, 2), (facts.cells + 1) / 2))
    others = [
        Way(name, made, facts.rms(made.column, made.pair, float(made.variances().mean())))
        for name, made in _strategies(facts)
    ]
    return tuple(sorted((plain, *others), key=lambda way: way.rms * (_CLEARLY if way is plain else 1)))


def _strategies(facts: Facts) -> Iterator[tuple[str, CellStrategy]]:
    if facts.cells < 2:
        return
    tree = _best_tree(facts)
    if tree.tree.depth > 1 or tree.root:
        yield "noise on a tree of counts", tree
    if not facts.pure:
        yield "noise on the square root of summing", RootOfCells(facts.cells, _GRAIN, _SCALE)


def _best_tree(facts: Facts) -> TreeOfCells:
    """Return the tree with the least total variance, by the closed form; the root is measured where that helps."""
    asked = Thresholds(facts.cells)

    def cost(made: TreeOfCells) -> float:
        return facts.rms(made.column, made.pair, Tree(made.fanouts, made.root).total_variance(asked))

    def rooted(fanouts: tuple[int, ...]) -> TreeOfCells:
        return min((TreeOfCells(facts.cells, fanouts, root) for root in (False, True)), key=cost)

    return rooted(best_shape(facts.cells, lambda fanouts: cost(rooted(fanouts))))


def strategy_l1(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far one unit moves the measurements of all groups, in L1."""
    moved, _ = _facts(strategy, aggregation, changes).moves(strategy.column, strategy.pair)
    return Fraction(weight_reach(aggregation) * moved)


def strategy_squared_l2(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far it moves them in L2, squared."""
    _, moved = _facts(strategy, aggregation, changes).moves(strategy.column, strategy.pair)
    return Fraction(weight_reach(aggregation) ** 2 * moved)


def _facts(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> Facts:
    facts = Facts.of(aggregation, changes, pure=True)
    if facts.cells != strategy.cells or not _sound(strategy):
        raise JaliError("cells-uncovered")
    if aggregation.weights is not None and aggregation.weights.norm != "l1":
        raise JaliError("cells-of-another-norm")
    return facts


def _sound(strategy: CellStrategy) -> bool:
    """Say whether a strategy is one that could have been planned."""
    if isinstance(strategy, TreeOfCells):
        split = all(fanout >= 2 for fanout in strategy.fanouts)
        return isinstance(strategy.root, bool) and split and math.prod(strategy.fanouts) >= strategy.cells
    return isinstance(strategy, RootOfCells) and strategy.grain >= 1 and strategy.scale >= 1


@dataclass(frozen=True)
class Spread:
    """How far running sums are off, in integer units of weight.

    Attributes:
        rms: The root of the mean of their variances.
        first: What the error of the first one stays within.
        widest: What that of the one with the largest variance stays within.
    """

    rms: float
    first: float
    widest: float


def spread(law: CellsLaw | AnyLaw, cells: int, confidence: float) -> Spread:
    """Return the forecast of running sums: of a strategy, or of cells with noise of one law, added up."""
    if isinstance(law, CellsLaw):
        each = law.stddevs
        worst = int(each.argmax())
        rms = math.sqrt(float((each**2).mean()))
        return Spread(rms, law.width(0, confidence), law.width(worst, confidence))
    rms = law.stddev * math.sqrt((cells + 1) / 2)
    return Spread(rms, law.quantile(confidence), weighted_quantile([Term(1.0, cells, law)], confidence))


def measured(aggregation: Aggregation, strategy: CellStrategy, loss: Loss, changes: int) -> MeasuredCells:
    """Return a strategy with the noise for a loss."""
    event = loss.event
    if event.epsilon is None:
        squared = strategy_squared_l2(strategy, aggregation, changes)
        return MeasuredCells(strategy, Gaussian.squared(squared_sensitivity=squared, rho=event.rho))
    sensitivity = strategy_l1(strategy, aggregation, changes)
    return MeasuredCells(strategy, Laplace(sensitivity=sensitivity, epsilon=event.epsilon))
