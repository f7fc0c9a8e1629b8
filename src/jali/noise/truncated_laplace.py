"""The discrete Laplace law, cut off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.noise.bernoulli import bernoulli_exp_array
from jali.noise.bits import BitSource, system_bits
from jali.noise.checks import size_of_sample
from jali.noise.laplace import DiscreteLaplace
from jali.noise.uniform import uniform_below


@dataclass(frozen=True)
class TruncatedLaplace(DiscreteLaplace):
    """The law with weights exp(-|x|/scale) on -limit .. limit.

    Args:
        scale: A rational in (0, 2**60].
        limit: An integer, at least 0.

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent.
    Proof:
        docs/proofs/truncated_laplace.md: discrete Laplace samples, or uniform ones with a coin, kept where they
        should be.

    Error:
        With q = exp(-1/scale), Pr[|X| > t] = 2 (q**(t+1) - q**(limit+1)) / (1 + q - 2 q**(limit+1)).

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise.truncated_laplace import TruncatedLaplace
        >>> bool((abs(TruncatedLaplace(Fraction(10), limit=20).sample(1000)) <= 20).all())
        True
    """

    limit: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit < 0:
            raise MechanismError("parameter-below-zero", value=self.limit, name="limit")

    def sample(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw `size` independent integers: int64, or Python ints if one of them does not fit.

        Args:
            size: How many.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        source, missing = system_bits() if bits is None else bits, size_of_sample(size)
        draw = self._cut if self.limit >= self.scale else self._thinned
        kept: list[NDArray[Any]] = [np.zeros(0, np.int64)]
        while missing:
            drawn = draw(missing + missing // 2 + 2, source)[:missing]
            missing -= len(drawn)
            kept.append(drawn)
        return np.concatenate(kept)

    def _cut(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw discrete Laplace noise and drop what lies outside: little, if the limit is above the scale."""
        drawn = DiscreteLaplace(self.scale).sample(count, bits=bits)
        inside: NDArray[Any] = drawn[np.abs(drawn) <= self.limit]
        return inside

    def _thinned(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw uniformly and keep x with probability exp(-|x|/scale): most, if the limit is below the scale."""
        drawn = uniform_below(2 * self.limit + 1, count, bits=bits) - self.limit
        exponents = np.abs(drawn).astype(object) * self.scale.denominator
        return drawn[bernoulli_exp_array(exponents, self.scale.numerator, bits=bits)]
