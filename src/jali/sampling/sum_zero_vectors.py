"""Draw integer vectors with sum 0, as differences of two compositions of one total."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.sampling.bits import BitSource, system_bits
from jali.sampling.cube_radius import with_exponential
from jali.sampling.exp_bounds import Bounds
from jali.sampling.log_concave import LogConcave
from jali.sampling.uniform import uniform_subsets

_GUARD = 40


@dataclass(frozen=True)
class BalancedTotal(LogConcave):
    """The law Pr[N] proportional to C(N + cells - 1, cells - 1)**2 exp(-rate N) on N = 0, 1, 2, ...

    Args:
        cells: At least 2.
        rate: A rational above 0.

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent.
    Proof:
        docs/proofs/conditioned_laplace.md, Lemma 1.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling.sum_zero_vectors import BalancedTotal
        >>> all(total >= 0 for total in BalancedTotal(4, Fraction(1)).sample(5))
        True
    """

    cells: int
    rate: Fraction

    def ratio(self, at: int, base: int, precision: int) -> Bounds:
        """Return lo <= 2**precision w(at)/w(base) <= hi."""
        exponent = self.rate * (at - base)
        work = precision + _GUARD + self.cells.bit_length() + self._growth(at, base, exponent)
        lo, hi = self._binomials(at, base, work)
        return with_exponential((lo * lo >> work, -(-hi * hi >> work)), exponent, work, precision)

    def _growth(self, at: int, base: int, exponent: Fraction) -> int:
        """Return how many digits the binomials take: no more than they have where the exponential is small."""
        digits, more = 2 * int(abs(exponent)), self.cells - 1
        if at < base:
            return digits
        # As many factors as in the shorter of two products, each at most its first one.
        factors, above = min((at - base, base + 1 + more), (more, at + 1))
        return min(digits, 2 * factors * (above.bit_length() - (base + 1).bit_length() + 1))

    def _binomials(self, at: int, base: int, work: int) -> Bounds:
        """Bound 2**work C(at + c - 1, c - 1) / C(base + c - 1, c - 1), by the shorter of two products."""
        more = self.cells - 1
        lo = hi = 1 << work
        if abs(at - base) < more:
            low, high = sorted((at, base))
            factors = ((i + more, i) if at > base else (i, i + more) for i in range(low + 1, high + 1))
        else:
            factors = ((at + i, base + i) for i in range(1, more + 1))
        for above, below in factors:
            lo, hi = lo * above // below, -(-hi * above // below)
        return lo, hi


def sum_zero_noise(cells: int, rate: Fraction, rows: int, *, bits: BitSource | None = None) -> NDArray[Any]:
    """Draw `rows` integer vectors with sum 0, with probabilities proportional to exp(-rate/2 sum |z_i|).

    Guarantee:
        The vectors are independent and have exactly this law if the bits are uniform and independent.
    Proof:
        docs/proofs/conditioned_laplace.md, Theorem 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling.sum_zero_vectors import sum_zero_noise
        >>> sum_zero_noise(5, Fraction(1), 3).sum(axis=1)
        array([0, 0, 0])
    """
    source = system_bits() if bits is None else bits
    totals = BalancedTotal(cells, rate).sample(rows, bits=source)
    drawn = np.zeros((rows, cells), np.int64)
    for total in set(totals):
        places = np.flatnonzero(np.array([t == total for t in totals]))
        risen = _compositions(total, cells, len(places), source)
        drawn[places] = risen - _compositions(total, cells, len(places), source)
    return drawn


def _compositions(total: int, cells: int, rows: int, bits: BitSource) -> NDArray[np.int64]:
    """Draw `rows` vectors of `cells` integers >= 0 with a given sum, all of them equally likely.

    Such a vector is a row of `total` stars and `cells - 1` bars in some order.
    """
    if total < cells:
        stars = uniform_subsets(total, total + cells - 1, rows, bits=bits) - np.arange(total)
        counts = np.zeros((rows, cells), np.int64)
        np.add.at(counts, (np.arange(rows)[:, None], stars), 1)
        return counts
    bars = uniform_subsets(cells - 1, total + cells - 1, rows, bits=bits)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + cells - 1)))
    return np.asarray(np.diff(edges, axis=1) - 1)
