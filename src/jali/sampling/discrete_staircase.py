"""Draw from the discrete staircase law on the integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.sampling.bits import BitSource, system_bits
from jali.sampling.discrete_laplace import LARGEST_SCALE, Geometric
from jali.sampling.exp_bounds import Bounds, exp_bounds
from jali.sampling.interval_bernoulli import draw_booleans
from jali.sampling.parameters import positive_rational, size_of_sample
from jali.sampling.uniform import uniform_below

_PRECISION = 128
_SAFE = 1 << 62


@dataclass(frozen=True)
class DiscreteStaircase:
    """The law with weights exp(-level(|x|)/scale), where level(y) = floor(y/period) + [y mod period >= tread].

    Args:
        scale: A rational in (0, 2**60]: one over epsilon.
        period: The sensitivity, an integer from 1 to 2**60.
        tread: The width of the first level, an integer from 1 to the period.

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent; no tail is cut. Added to an
        integer of sensitivity `period`, a sample makes a (1/scale)-DP release.
    Proof:
        docs/proofs/staircase.md.

    Error:
        As `jali.mechanisms.additive.staircase_mechanism.StaircaseLaw` computes it.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling.discrete_staircase import DiscreteStaircase
        >>> DiscreteStaircase(Fraction(1), period=10, tread=4).sample(3).dtype
        dtype('int64')
    """

    scale: Fraction
    period: int
    tread: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", self.scale, LARGEST_SCALE))
        if not 1 <= self.tread <= self.period <= LARGEST_SCALE:
            raise MechanismError("staircase-treads-wrong")

    def sample(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw `size` independent integers: int64, or Python ints if one of them does not fit.

        Args:
            size: How many.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        source, missing = system_bits() if bits is None else bits, size_of_sample(size)
        kept: list[NDArray[Any]] = [np.zeros(0, np.int64)]
        while missing:
            drawn = self._round(missing + missing // 2 + 2, source)[:missing]
            missing -= len(drawn)
            kept.append(drawn)
        return np.concatenate(kept)

    def _round(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw candidates, and return those that are kept: |x| from its place and its block, then a sign."""
        places = self._places(count, bits)
        blocks = Geometric(self.scale).sample(len(places), bits=bits)
        if len(blocks) and (int(blocks.max()) + 1) * self.period >= _SAFE:
            blocks = blocks.astype(object)
        sizes = blocks * self.period + places
        negative = bits.integers(len(places), 1) == 1
        # Zero has one sign only: half of the zeros are dropped.
        kept: NDArray[Any] = np.where(negative, -sizes, sizes)[~(negative & (sizes == 0))]
        return kept

    def _places(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw places in a block: each of the first `tread` with weight 1, the others with exp(-1/scale)."""
        places = uniform_below(self.tread + self._tickets, count, bits=bits)
        lower = np.flatnonzero(places >= self.tread)
        if len(lower):
            others = self.tread + uniform_below(self.period - self.tread, len(lower), bits=bits)
            places[lower] = np.where(draw_booleans(self._lower_share, len(lower), bits), others, -1)
        return places[places >= 0]

    @cached_property
    def _tickets(self) -> int:
        """The least whole number that surely is at least (period - tread) exp(-1/scale)."""
        return -(-(self.period - self.tread) * exp_bounds(1 / self.scale, _PRECISION)[1] >> _PRECISION)

    def _lower_share(self, precision: int) -> Bounds:
        """Bound (period - tread) exp(-1/scale) / tickets."""
        below = self.period - self.tread
        lo, hi = exp_bounds(1 / self.scale, precision + below.bit_length())
        shift = below.bit_length()
        return lo * below // self._tickets >> shift, -(-hi * below // self._tickets >> shift)
