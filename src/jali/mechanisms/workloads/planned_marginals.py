"""Release marginal tables with the least total variance under Gaussian noise, by planning for their residuals.

A residual is the part of a table that no smaller marginal holds, kept in integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError, settle
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.base import LogMasses, Specimen, read_miss_probability, read_parameter
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.intervals.weighted_sums import bound_gaussian_quantile
from jali.mechanisms.lattice import add
from jali.mechanisms.workloads.linear_release import (
    WorkloadAnswers,
    WorkloadMechanism,
    convert_to_doubles,
    read_public_total,
)
from jali.mechanisms.workloads.workload import Floats, Marginals
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.rationals import Number
from jali.sampling import BitSource, DiscreteGaussian

AttributeSet = tuple[int, ...]
# Precisions are rounded to whole multiples of 1 / _FINENESS of the largest.
_FINENESS = 1 << 20
# With more attributes than this, pairs of people are not distinguished by what they share.
_PATTERNED = 10


def subtract_means(table: NDArray[Any]) -> NDArray[Any]:
    """Return d t - (sum of t) along every axis of length d, one after another: integers from integers.

    What is lost is exactly what is constant along some axis. Applied to a table with all entries times
    K = prod d, it is K^2 times the residual.
    """
    for axis, size in enumerate(table.shape):
        table = size * table - table.sum(axis=axis, keepdims=True)
    return table


@dataclass(frozen=True)
class ResidualPlan:
    """How precisely each residual is measured.

    Args:
        workload: The marginals that are wanted.
        weights: How much the variance of each marginal counts, one for each.
        rho: The loss, in zCDP.
        adjacency: When two histograms are neighbours.
        pinned: Whether the total is public, so that it is not measured.
    """

    workload: Marginals
    weights: tuple[Fraction, ...]
    rho: Fraction
    adjacency: Adjacency
    pinned: bool

    @cached_property
    def parts(self) -> tuple[AttributeSet, ...]:
        """The residuals that are measured: the subsets of the sets of attributes."""
        return tuple(part for part in self.workload.closure() if part or not self.pinned)

    def scale(self, part: AttributeSet) -> int:
        """Return K: the factor that makes the residual of one person a table of integers."""
        return self.workload.entries(part)

    def presence(self, part: AttributeSet) -> Fraction:
        """Return the squared length of one person's residual: the product of 1 - 1/d."""
        return math.prod((1 - Fraction(1, self.workload.shape[i]) for i in part), start=Fraction(1))

    def need(self, part: AttributeSet) -> Fraction:
        """Return how much the wanted total variance grows with the variance of a residual's noise."""
        wanted = (
            weight / self.workload.entries(whole)
            for whole, weight in zip(self.workload.sets, self.weights, strict=True)
            if set(part) <= set(whole)
        )
        return self.presence(part) * self.scale(part) ** 2 * sum(wanted, Fraction(0))

    @cached_property
    def precisions(self) -> Mapping[AttributeSet, Fraction]:
        """One over the variance of each residual's noise, so that the loss is rho exactly.

        Proof:
            docs/proofs/marginals.md, Theorems 1 and 2.
        """
        ideal = {part: math.sqrt(self.need(part) / self.presence(part)) for part in self.parts}
        top = max(ideal.values())
        shares = {part: max(1, math.ceil(_FINENESS * value / top)) for part, value in ideal.items()}
        if self.adjacency is Adjacency.ADD_REMOVE:
            unit = sum((self.presence(part) * share for part, share in shares.items()), Fraction(0))
            return {part: 2 * self.rho * share / unit for part, share in shares.items()}
        return self._scale_to_furthest(shares)

    def _scale_to_furthest(self, shares: Mapping[AttributeSet, int]) -> Mapping[AttributeSet, Fraction]:
        """Scale the shares to the furthest pair of people; the total takes what a single person would leave."""
        moving = {part: share for part, share in shares.items() if part}
        unit = self._furthest(moving)
        found = {part: 2 * self.rho * share / unit for part, share in moving.items()}
        spent = sum((self.presence(part) * value for part, value in found.items()), Fraction(0))
        return found if self.pinned else {(): 2 * self.rho - spent, **found}

    def _furthest(self, shares: Mapping[AttributeSet, int]) -> Fraction:
        """Return the largest sum over residuals, looking at every set of attributes that two people can share.

        With many attributes these are too many to look at; no residual moves by more than 2, which is used then.
        """
        used = sorted({i for part in shares for i in part})
        if len(used) > _PATTERNED:
            return Fraction(2 * sum(shares.values()))
        patterns = (frozenset(same) for k in range(len(used)) for same in itertools.combinations(used, k))
        return max((self._apart(shares, same) for same in patterns), default=Fraction(1))

    def _apart(self, shares: Mapping[AttributeSet, int], same: frozenset[int]) -> Fraction:
        """Return the sum over residuals of share times the squared distance of two people who agree on `same`."""
        return sum((share * self.distance(part, same) for part, share in shares.items()), Fraction(0))

    def distance(self, part: AttributeSet, same: frozenset[int]) -> Fraction:
        """Return 2 (prod (1 - 1/d) - prod ([same] - 1/d)): the squared distance of two people's residuals."""
        overlap = (int(i in same) - Fraction(1, self.workload.shape[i]) for i in part)
        return 2 * (self.presence(part) - math.prod(overlap, start=Fraction(1)))

    def variance(self, part: AttributeSet) -> Fraction:
        """Return the variance parameter of the integer noise on the scaled table of a part."""
        return self.scale(part) ** 2 / self.precisions[part]


def compute_residual(workload: Marginals, histogram: NDArray[Any], part: AttributeSet) -> NDArray[Any]:
    """Return the marginal table of a part times K, in integers with room for what follows."""
    table = workload.table(histogram, part)
    factor = workload.entries(part)
    flat = table.ravel()
    most = max(abs(int(flat.min())), abs(int(flat.max())), 1)
    roomy = table.dtype != object and most * factor * factor * 2 ** (len(part) + 1) < 1 << 62
    return np.asarray((table if roomy else table.astype(object)) * factor)


def centre_table(table: NDArray[Any]) -> NDArray[Any]:
    """Centre a table of integers, in Python integers where int64 could overflow.

    The result is int64 if all of it fits: its type reveals no more than it does.
    """
    flat = table.ravel()
    most = max(abs(int(flat.min())), abs(int(flat.max())), 1)
    if table.dtype != object and most * math.prod(table.shape) * 2**table.ndim >= 1 << 62:
        table = table.astype(object)
    return narrow(subtract_means(table))


@dataclass(frozen=True, repr=False)
class PlannedMarginals(WorkloadMechanism):
    """Measure what each set of attributes adds to its subsets, with the noise that is best for all marginals.

    Args:
        workload: The marginals.
        rho: The loss, in zCDP.
        adjacency: When two histograms are neighbours.
        weights: How much the total variance of each marginal counts, one for each; all 1 by default.
        total: The number of people, where it is public (replace-one).

    Guarantee:
        The release is rho-zCDP. The noise of a residual is that of independent integers on a scaled table, of
        which only the centred part is released: that part moves by (1 - 1/d) for each attribute, not by 1.
    Proof:
        docs/proofs/marginals.md, after Xiao, He, Zhang and Kifer 2023, Theorems 1 and 4.

    Error:
        Under add-remove the weighted total variance is the least of all linear Gaussian mechanisms. Every cell's
        variance is known in closed form; `error` bounds the quantile of the cell with the largest variance.

    Example:
        >>> from jali.mechanisms import PlannedMarginals
        >>> from jali.mechanisms.workloads.workload import Marginals
        >>> pairs = Marginals((2, 3, 4), [(0, 1), (0, 2), (1, 2)])
        >>> mechanism = PlannedMarginals(workload=pairs, rho="1/2", adjacency="add-remove")
        >>> round(mechanism.rms, 4)
        1.3985
        >>> mechanism.tables(mechanism.release([10] * 24))[0, 1].shape
        (2, 3)
    """

    workload: Marginals
    rho: Fraction
    adjacency: Adjacency
    weights: tuple[Fraction, ...] | None
    total: int | None

    def __init__(
        self,
        *,
        workload: Marginals,
        rho: Number,
        adjacency: str | Adjacency,
        weights: Sequence[Number] | None = None,
        total: int | None = None,
    ) -> None:
        if not isinstance(workload, Marginals):
            raise MechanismError("workload-not-marginals", workload=workload)
        self._fill(workload=workload, rho=read_parameter(rho, "rho"), adjacency=Adjacency.of(adjacency))
        self._fill(weights=_read_weights(weights, len(workload.sets)))
        self._fill(total=read_public_total(total, self.adjacency))
        self.samplers  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def loss(self) -> Concentrated:
        """Rho, in zCDP."""
        return Concentrated(self.rho)

    @cached_property
    def plan(self) -> ResidualPlan:
        """How precisely each residual is measured."""
        weights = self.weights or (Fraction(1),) * len(self.workload.sets)
        return ResidualPlan(self.workload, weights, self.rho, self.adjacency, self.total is not None)

    @cached_property
    def laws(self) -> dict[AttributeSet, DiscreteGaussianLaw]:
        """The law of the independent noise on each scaled table."""
        return {part: DiscreteGaussianLaw(self.plan.variance(part)) for part in self.plan.parts}

    @cached_property
    def samplers(self) -> dict[AttributeSet, DiscreteGaussian]:
        """The exact samplers of those laws."""
        return {part: DiscreteGaussian(law.variance) for part, law in self.laws.items()}

    def release(self, value: Any, *, bits: BitSource | None = None) -> WorkloadAnswers:
        """Release the centred noisy tables, and answer from them alone."""
        histogram = self.read(value)
        parts = [self._noisy(histogram, part, bits) for part in self.plan.parts]
        return self.answer(np.concatenate(parts) if parts else np.zeros(0, np.int64))

    def _noisy(self, histogram: NDArray[Any], part: AttributeSet, bits: BitSource | None) -> NDArray[Any]:
        exact = compute_residual(self.workload, histogram, part)
        noise = self.samplers[part].sample(exact.size, bits=bits)
        return centre_table(add(exact, noise.reshape(exact.shape))).ravel()

    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Add up the residuals of each marginal."""
        residuals = self._residuals(measurements)
        tables = [self._table(residuals, whole).ravel() for whole in self.workload.sets]
        return WorkloadAnswers(self.workload, measurements, direct=np.concatenate(tables))

    def tables(self, released: WorkloadAnswers) -> dict[AttributeSet, Floats]:
        """Return the answers of a release as tables, by their attributes."""
        found, start = {}, 0
        for whole in self.workload.sets:
            shape = tuple(self.workload.shape[i] for i in whole)
            found[whole] = released.answers[start : start + math.prod(shape)].reshape(shape)
            start += math.prod(shape)
        return found

    def _residuals(self, measurements: NDArray[Any]) -> dict[AttributeSet, Floats]:
        found: dict[AttributeSet, Floats] = {}
        start = 0
        if self.total is not None:
            found[()] = self.workload.spread(np.array(float(self.total)), ())
        for part in self.plan.parts:
            stop = start + self.plan.scale(part)
            table = convert_to_doubles(measurements[start:stop]) / self.plan.scale(part) ** 2
            found[part], start = self.workload.spread(table, part), stop
        return found

    def _table(self, residuals: dict[AttributeSet, Floats], whole: AttributeSet) -> Floats:
        """Return a marginal: each residual spread evenly over the attributes it does not have."""
        shape = [size if i in whole else 1 for i, size in enumerate(self.workload.shape)]
        table = np.zeros(shape)
        for part, values in residuals.items():
            if set(part) <= set(whole):
                table += values * (self.plan.scale(part) / self.workload.entries(whole))
        return table

    def variances(self) -> Floats:
        """Return the variance of every cell of every marginal: the same for all cells of one."""
        each = [self._spread_of(whole, true=True) for whole in self.workload.sets]
        return np.repeat(each, [self.workload.entries(whole) for whole in self.workload.sets])

    def _spread_of(self, whole: AttributeSet, *, true: bool) -> float:
        """Return the variance of a marginal's cells, from true variances or from variance parameters."""
        terms = []
        for part, law in self.laws.items():
            if set(part) <= set(whole):
                variance = law.stddev**2 if true else float(law.variance)
                factor = self.plan.presence(part) / self.workload.entries(whole) ** 2
                terms.append(float(factor) * variance)
        return math.fsum(terms)

    def error(self, confidence: float, *, answer: int | None = None) -> float:
        """Return what one cell's error stays within; by default of the marginal with the largest variance."""
        exponent = math.log(2 / read_miss_probability(confidence))
        whole = self._marginal(self.numbered(answer))
        parts = [part for part in self.plan.parts if set(part) <= set(whole)]
        slack = sum(self._slack(part) for part in parts) / self.workload.entries(whole)
        return bound_gaussian_quantile(self._spread_of(whole, true=False), slack, exponent)

    def _slack(self, part: AttributeSet) -> float:
        """Return the sum of the sizes of a row of the centring projection."""
        return float(math.prod((2 * (1 - 1 / self.workload.shape[i]) for i in part), start=1.0))

    def _marginal(self, answer: int) -> AttributeSet:
        stops = np.cumsum([self.workload.entries(whole) for whole in self.workload.sets])
        return self.workload.sets[int(np.searchsorted(stops, answer, side="right"))]

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the release for single attributes of two values each, on a window."""
        if any(len(part) > 1 or self.plan.scale(part) > 2 for part in self.plan.parts):
            raise MechanismError("marginals-law-unlisted")
        rows: dict[tuple[int, ...], float] = {(): 0.0}
        for part in self.plan.parts:
            exact = centre_table(compute_residual(self.workload, self.read(value), part)).ravel()
            column = _list_residual_law(int(exact[0]), self.laws[part], len(part), len(self.plan.parts))
            rows = {(*key, *more): log + mass for key, log in rows.items() for more, mass in column}
        return rows

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw many releases, one residual after another."""
        histogram, columns = self.read(value), []
        for part in self.plan.parts:
            exact = compute_residual(self.workload, histogram, part)
            noise = self.samplers[part].sample(size * exact.size, bits=bits).reshape(size, *exact.shape)
            columns.append([centre_table(table).ravel().tolist() for table in add(exact[None], noise)])
        return [tuple(item for cells in row for item in cells) for row in zip(*columns, strict=True)]

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return one attribute of two values, in both adjacencies."""
        one = Marginals((2,), [(0,)])
        add_remove, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        return (
            Specimen(cls(workload=one, rho="1/2", adjacency=add_remove), add_remove, (((3, 1), (4, 1)),)),
            Specimen(cls(workload=one, rho="1/2", adjacency=replace, total=3), replace, (((2, 1), (1, 2)),)),
            Specimen(cls(workload=one, rho="1/2", adjacency=replace), replace, (((2, 1), (1, 2)),)),
        )


def _list_residual_law(
    place: int, law: DiscreteGaussianLaw, paired: int, parts: int
) -> list[tuple[tuple[int, ...], float]]:
    """List one residual's law: the noise itself, or the difference k of two noises and -k."""
    # The window is wider by what a neighbour's place can be away: 1, or 2 (4 under replace-one) for a difference.
    if not paired:
        reach = law.bound_tail(1e-13 / parts) + 2
        return [((place + z,), law.log_mass(z)) for z in range(-reach, reach + 1)]
    reach = DiscreteGaussianLaw(2 * law.variance).bound_tail(1e-13 / parts) + 5
    # p(j) p(j+k) = exp(-(j + k/2)^2 / V) exp(-k^2 / (4V)) / Z^2: the sum over j depends on k being even or odd.
    thetas = [_compute_theta(law.variance, Fraction(odd, 2)) for odd in (0, 1)]
    log_normaliser = 2 * law.log_mass(0)
    quarter = float(4 * law.variance)
    return [
        ((place + k, -place - k), log_normaliser + math.log(thetas[k % 2]) - k * k / quarter)
        for k in range(-reach, reach + 1)
    ]


def _compute_theta(variance: Fraction, offset: Fraction) -> float:
    """Return the sum of exp(-(j + offset)^2 / variance) over all integers j."""
    reach = math.ceil(math.sqrt(750 * variance)) + 1
    return math.fsum(math.exp(-float((j + offset) ** 2 / variance)) for j in range(-reach, reach + 1))


def _read_weights(weights: Sequence[Number] | None, count: int) -> tuple[Fraction, ...] | None:
    if weights is None:
        return None
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != count:
        raise MechanismError("marginal-weights-wrong", count=count, weights=settle(weights))
    return tuple(read_parameter(weight, "weights") for weight in weights)
