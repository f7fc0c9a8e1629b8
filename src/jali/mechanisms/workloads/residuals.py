"""Residuals: the parts of a table that no smaller marginal holds, as integers, and the plan of noise for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.values import narrow
from jali.mechanisms.workloads.workload import Marginals
from jali.privacy.adjacency import Adjacency

Part = tuple[int, ...]
# Precisions are rounded to whole multiples of 1 / _FINENESS of the largest.
_FINENESS = 1 << 20
# With more attributes than this, pairs of people are not told apart by what they share.
_PATTERNED = 10


def centred(table: NDArray[Any]) -> NDArray[Any]:
    """Return d t - (sum of t) along every axis of length d, one after another: integers from integers.

    What is lost is exactly what is constant along some axis. Applied to a table with all entries times
    K = prod d, it is K^2 times the residual.
    """
    for axis, size in enumerate(table.shape):
        table = size * table - table.sum(axis=axis, keepdims=True)
    return table


@dataclass(frozen=True)
class Plan:
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
    def parts(self) -> tuple[Part, ...]:
        """The residuals that are measured: the subsets of the sets of attributes."""
        return tuple(part for part in self.workload.closure() if part or not self.pinned)

    def scale(self, part: Part) -> int:
        """Return K: the factor that makes the residual of one person a table of integers."""
        return self.workload.entries(part)

    def presence(self, part: Part) -> Fraction:
        """Return the squared length of one person's residual: the product of 1 - 1/d."""
        return math.prod((1 - Fraction(1, self.workload.shape[i]) for i in part), start=Fraction(1))

    def need(self, part: Part) -> Fraction:
        """Return how much the wanted total variance grows with the variance of a residual's noise."""
        wanted = (
            weight / self.workload.entries(whole)
            for whole, weight in zip(self.workload.sets, self.weights, strict=True)
            if set(part) <= set(whole)
        )
        return self.presence(part) * self.scale(part) ** 2 * sum(wanted, Fraction(0))

    @cached_property
    def precisions(self) -> Mapping[Part, Fraction]:
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
        return self._replaced(shares)

    def _replaced(self, shares: Mapping[Part, int]) -> Mapping[Part, Fraction]:
        """Scale the shares to the furthest pair of people; the total takes what a single person would leave."""
        moving = {part: share for part, share in shares.items() if part}
        unit = self._furthest(moving)
        found = {part: 2 * self.rho * share / unit for part, share in moving.items()}
        spent = sum((self.presence(part) * value for part, value in found.items()), Fraction(0))
        return found if self.pinned else {(): 2 * self.rho - spent, **found}

    def _furthest(self, shares: Mapping[Part, int]) -> Fraction:
        """Return the largest sum over residuals, looking at every set of attributes that two people can share.

        With many attributes these are too many to look at; no residual moves by more than 2, which is used then.
        """
        used = sorted({i for part in shares for i in part})
        if len(used) > _PATTERNED:
            return Fraction(2 * sum(shares.values()))
        patterns = (frozenset(same) for k in range(len(used)) for same in itertools.combinations(used, k))
        return max((self._apart(shares, same) for same in patterns), default=Fraction(1))

    def _apart(self, shares: Mapping[Part, int], same: frozenset[int]) -> Fraction:
        """Return the sum over residuals of share times the squared distance of two people who agree on `same`."""
        return sum((share * self.distance(part, same) for part, share in shares.items()), Fraction(0))

    def distance(self, part: Part, same: frozenset[int]) -> Fraction:
        """Return 2 (prod (1 - 1/d) - prod ([same] - 1/d)): the squared distance of two people's residuals."""
        overlap = (int(i in same) - Fraction(1, self.workload.shape[i]) for i in part)
        return 2 * (self.presence(part) - math.prod(overlap, start=Fraction(1)))

    def variance(self, part: Part) -> Fraction:
        """Return the variance parameter of the integer noise on the scaled table of a part."""
        return self.scale(part) ** 2 / self.precisions[part]


def residual(workload: Marginals, histogram: NDArray[Any], part: Part) -> NDArray[Any]:
    """Return the marginal table of a part times K, in integers with room for what follows."""
    table = workload.table(histogram, part)
    factor = workload.entries(part)
    flat = table.ravel()
    most = max(abs(int(flat.min())), abs(int(flat.max())), 1)
    roomy = table.dtype != object and most * factor * factor * 2 ** (len(part) + 1) < 1 << 62
    return np.asarray((table if roomy else table.astype(object)) * factor)


def centre(table: NDArray[Any]) -> NDArray[Any]:
    """Centre a table of integers, in Python integers where int64 could overflow.

    The result is int64 if all of it fits: its type tells no more than it does, and nothing of what was taken off.
    """
    flat = table.ravel()
    most = max(abs(int(flat.min())), abs(int(flat.max())), 1)
    if table.dtype != object and most * math.prod(table.shape) * 2**table.ndim >= 1 << 62:
        table = table.astype(object)
    return narrow(centred(table))
