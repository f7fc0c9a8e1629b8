"""A race: every candidate's score plus real noise, of which only as many digits are drawn as it takes to tell."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.selection.scores import FAR, Exponents
from jali.mechanisms.selection.selection import Places
from jali.noise import BitSource, Geometric
from jali.noise.blocks import BlockSampler, Plan
from jali.noise.digits import further_digits
from jali.noise.doubles import Doubles

_TABLE = 1 << 18
_LOOSE = 2.0**-48


@dataclass(frozen=True)
class Race:
    """Finds which of the real numbers noise_i - X_i is largest; ties have probability 0.

    The noise is exponential of scale 1, with a random sign if `two_sided` (Laplace). All digits of all noises
    would be the ideal; the answer is the same, for a candidate is given up only when it is surely behind.

    Args:
        two_sided: Whether the noise has a sign.
        precision: The digits behind the point that every candidate gets at first. Speed depends on this and the
            next two, the law does not.
        digits: How many more are drawn at a time for those that are still in the race.
        plan: How the first digits are sampled, if not as usual.
        word_bits: How many bits the coins of further digits draw at a time.

    Proof:
        docs/proofs/noisy_max.md, Theorem 2.
    """

    two_sided: bool
    precision: int = 20
    digits: int = 32
    plan: Plan | None = None
    word_bits: int = 64

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Run `size` independent races and return the winners."""
        rows = max(1, _TABLE // len(exponents))
        parts = [min(rows, size - start) for start in range(0, size, rows)]
        won = [self._winners(exponents, part, bits) for part in parts]
        return np.concatenate(won) if won else np.empty(0, np.intp)

    def _winners(self, exponents: Exponents, rows: int, bits: BitSource) -> Places:
        shape = rows, len(exponents)
        noise = self._first_digits(rows * len(exponents), bits).reshape(shape)
        signs = self._signs(rows * len(exponents), bits).reshape(shape)
        ahead = self._contenders(exponents.doubles, noise, signs)
        winners = np.asarray(ahead.argmax(axis=1))
        for row in np.flatnonzero(np.count_nonzero(ahead, axis=1) > 1).tolist():
            places = np.flatnonzero(ahead[row]).tolist()
            runners = [
                _Runner(place, exponents.exact(place), int(noise[row, place]), int(signs[row, place]))
                for place in places
            ]
            winners[row] = self._finish(runners, bits)
        return winners

    def _first_digits(self, count: int, bits: BitSource) -> NDArray[Any]:
        law = Geometric(Fraction(1 << self.precision))
        return (
            law.sample(count, bits=bits) if self.plan is None else BlockSampler(law, self.plan).sample(count, bits)
        )

    def _signs(self, count: int, bits: BitSource) -> NDArray[np.int8]:
        if not self.two_sided:
            return np.ones(count, np.int8)
        return 1 - 2 * bits.integers(count, 1).astype(np.int8)

    def _contenders(self, x: Doubles, noise: NDArray[Any], signs: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Tell which candidates the first digits leave in each race: all that may win, in double."""
        width = 2.0**-self.precision
        size = noise.astype(np.float64) * width
        low = size * signs
        low -= x
        low -= (signs < 0) * width
        size += x + 1
        size *= _LOOSE  # more than the error of low
        # A candidate beyond FAR may be further behind than x tells: it sets no mark for the others.
        mark = np.where(x < FAR / 2, low - size, -np.inf).max(axis=1, keepdims=True)
        return np.asarray(low + (width + size) >= mark)

    def _finish(self, runners: list[_Runner], bits: BitSource) -> int:
        """Give more digits to those still in the race until one is left."""
        precision = self.precision
        while True:
            mark = max(runner.low(precision) for runner in runners)
            runners = [runner for runner in runners if runner.high(precision) > mark]
            if len(runners) == 1:
                return runners[0].place
            for runner in runners:
                runner.noise = further_digits(
                    runner.noise, precision, self.digits, bits=bits, word_bits=self.word_bits
                )
            precision += self.digits


@dataclass
class _Runner:
    """A candidate: its noise lies in [noise, noise + 1) / 2**precision, times its sign; its score is -x."""

    place: int
    x: Fraction
    noise: int
    sign: int

    def low(self, precision: int) -> Fraction:
        return Fraction(self.noise if self.sign > 0 else -self.noise - 1, 1 << precision) - self.x

    def high(self, precision: int) -> Fraction:
        return self.low(precision) + Fraction(1, 1 << precision)
