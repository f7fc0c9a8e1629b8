"""Convolve discretised privacy-loss distributions by Fourier transform.

The masses are first tilted by e^(tilt * loss), so that the outcomes which decide delta are the likely ones: every
error is then relative to delta, however small it is. Only the frequencies that a k-fold product leaves above e^-36
are kept, and delta is a sum over them in closed form (geometric series): no inverse transform is needed.

Everything that is left out is bounded and added to the pessimistic side, or taken from the optimistic one: losses
outside the window (Chernoff), the rounding of the transform, and the frequencies dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.privacy.pld.discretize import Masses
from jali.privacy.pld.loss_distribution import Array, dot

Complex: TypeAlias = NDArray[np.complex128]
# The tilted probability that may lie beyond each end of the window.
_BEYOND = 1e-10
# Chernoff bounds are taken at these powers of two times the step that is best for a normal law.
_MOVES = (-2, -1.5, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 1)
_DROPPED = -36.0
# A radix FFT of doubles errs by less than this, times log2(size) and the Euclidean norm of its result.
_UNIT = 1e-15


@dataclass(frozen=True, eq=False)
class Tilted:
    """One part of a sum: its masses, tilted to sum to 1, and how often it occurs."""

    first: int
    values: Array
    log_total: float
    count: int


@dataclass(frozen=True, eq=False)
class Convolution:
    """The law of a sum of losses, ready to answer delta at any epsilon.

    Attributes:
        step: The step of the mesh.
        tilt: The tilt.
        log_total: ln of the sum of all tilted masses.
        first: The index of the first point of the window.
        size: The number of points of the window.
        waves: The frequencies that are kept.
        terms: The transform of the tilted law at those frequencies.
        errors: A bound on the error of each term.
        beyond: Bounds on the tilted probability below and above the window.
        infinite: The probability that one of the losses is infinite.
        slip: How far the sum may lie on the wrong side of its point.
    """

    step: float
    tilt: float
    log_total: float
    first: int
    size: int
    waves: NDArray[np.int64]
    terms: Complex
    errors: Array
    beyond: tuple[float, float]
    infinite: float
    slip: float

    def above(self, epsilon: float) -> float:
        """Return a bound from above on delta at epsilon, for pessimistic masses."""
        moved = epsilon - self.slip
        total, error, scale = self._sum(moved)
        bound = max(total, 0.0) + error + self._outside(moved, scale)
        finite = _exp(self.log_total - self.tilt * scale) * bound
        return min(1.0, self.infinite + finite * (1 + self._rounding(scale)))

    def below(self, epsilon: float) -> float:
        """Return a bound from below on delta at epsilon, for optimistic masses."""
        moved = epsilon + self.slip
        total, error, scale = self._sum(moved)
        wrapped = sum(self.beyond) * self._largest_weight(moved, scale)
        finite = _exp(self.log_total - self.tilt * scale) * max(0.0, total - error - wrapped)
        return max(0.0, self.infinite + finite * (1 - self._rounding(scale)))

    def _rounding(self, scale: float) -> float:
        """Return the relative error of e^(log_total - tilt scale): that of its exponent."""
        return 1e-12 + 4e-16 * (abs(self.log_total) + abs(self.tilt * scale))

    def _outside(self, epsilon: float, scale: float) -> float:
        """Return a bound on what losses outside the window add."""
        under, over = self.beyond
        largest = self._largest_weight(epsilon, scale)
        last = self.tilt * (self._stop * self.step - scale)
        lower = under * largest if epsilon < self.first * self.step else 0.0
        return lower + over * min(largest, _exp(-last))

    @property
    def _stop(self) -> int:
        return self.first + self.size - 1

    def _largest_weight(self, epsilon: float, scale: float) -> float:
        """Return the largest of e^(-tilt (l - scale)) (1 - e^(epsilon - l)) over all losses l."""
        rest = self.tilt * math.log(self.tilt) - (1 + self.tilt) * math.log1p(self.tilt)
        return _exp(rest - self.tilt * (epsilon - scale))

    def _sum(self, epsilon: float) -> tuple[float, float, float]:
        """Return sum and error of e^(-tilt (l - scale)) (1 - e^(epsilon - l)) over the window, and the scale."""
        start = max(math.floor(epsilon / self.step) + 1, self.first)
        scale = start * self.step
        count = self._stop - start + 1
        if count <= 0:
            return 0.0, 0.0, scale
        here, there, slow, fast = self._turn(start), *self._series
        lost = math.exp(epsilon - scale)
        weights = (there * math.exp(-self.tilt * self.step * count) - here) * slow
        weights -= (there * math.exp(-(self.tilt + 1) * self.step * count) - here) * (lost * fast)
        total = float(np.sum((self.terms * weights).real))
        rounding = 2e-15 * (self._largest[0] + lost * self._largest[1])
        dropped = math.exp(_DROPPED) * min(count, 1 / -math.expm1(-self.tilt * self.step))
        return total, float(dot(np.abs(weights), self.errors)) + rounding + dropped, scale

    def _turn(self, index: int) -> Complex:
        """Return the waves at one point of the mesh."""
        turned: Complex = np.exp((2j * math.pi / self.size) * ((index * self.waves) % self.size))
        return turned

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """Return the sums of the sizes of all terms of both series."""
        _, slow, fast = self._series
        sizes = np.abs(self.terms)
        return dot(sizes, np.abs(slow)), dot(sizes, np.abs(fast))

    @cached_property
    def _series(self) -> tuple[Complex, Complex, Complex]:
        """Return the waves beyond the window, and 1/(z-1) over the size for the ratios z of both geometric series.

        Frequencies other than 0 and the middle stand for two.
        """
        twice = np.where((self.waves == 0) | (2 * self.waves == self.size), 1.0, 2.0) / self.size
        angles = (2j * math.pi / self.size) * self.waves
        slow = twice / np.expm1(angles - self.tilt * self.step)
        fast = twice / np.expm1(angles - (self.tilt + 1) * self.step)
        return self._turn(self._stop + 1), slow, fast


def convolve(parts: Sequence[tuple[Masses, int]], step: float, tilt: float) -> Convolution:
    """Return the law of the sum of `count` independent losses of each part."""
    tilted = [_tilt(masses, count, step, tilt) for masses, count in parts]
    first, size, beyond = _window(parts, step, tilt)
    waves, terms, errors = _transform(tilted, size)
    log_infinite = sum(count * math.log1p(-masses.infinite) for masses, count in parts if masses.infinite < 1)
    certain = any(masses.infinite >= 1 for masses, _ in parts)
    return Convolution(
        step=step,
        tilt=tilt,
        log_total=sum(part.count * part.log_total for part in tilted),
        first=first,
        size=size,
        waves=waves,
        terms=terms,
        errors=errors,
        beyond=beyond,
        infinite=1.0 if certain else -math.expm1(log_infinite),
        slip=sum(count * masses.slip for masses, count in parts),
    )


def cumulant(parts: Sequence[tuple[Masses, int]], step: float, tilt: float) -> float:
    """Return ln E[e^(tilt L)] of the sum L of finite losses."""
    return sum(count * _log_total(masses, step, tilt) for masses, count in parts)


def _log_total(masses: Masses, step: float, tilt: float) -> float:
    exponents = tilt * step * (masses.first + np.arange(len(masses.values)))
    top = float(np.max(exponents, where=masses.values > 0, initial=-math.inf))
    return top + math.log(float(dot(masses.values, np.exp(np.minimum(exponents - top, 0.0)))))


def _tilt(masses: Masses, count: int, step: float, tilt: float) -> Tilted:
    log_total = _log_total(masses, step, tilt)
    exponents = tilt * step * (masses.first + np.arange(len(masses.values))) - log_total
    some = masses.values > 0
    values = np.zeros(len(some))
    # In logarithms: a light mass may have a weight that no double holds.
    values[some] = np.exp(np.minimum(exponents[some] + np.log(masses.values[some]), 0.0))
    return Tilted(masses.first, values, log_total, count)


def _window(parts: Sequence[tuple[Masses, int]], step: float, tilt: float) -> tuple[int, int, tuple[float, float]]:
    """Return the first index and the size of a window, and bounds on the tilted probability outside of it."""
    base, rest = cumulant(parts, step, tilt), -math.log(_BEYOND)
    spread = math.sqrt(max(_variance(parts, step, tilt), step**2))
    moves = [
        math.sqrt(2 * rest) / spread * 2.0**power for power in (-2, -1.5, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 1)
    ]
    upper = min((cumulant(parts, step, tilt + s) - base + rest) / s for s in moves)
    lower = max((base - cumulant(parts, step, tilt - s) - rest) / s for s in moves)
    least = sum(masses.first * count for masses, count in parts)
    most = sum((masses.first + len(masses.values) - 1) * count for masses, count in parts)
    first, last = max(math.floor(lower / step), least), min(math.ceil(upper / step), most)
    size = _fast_size(last - first + 1)
    return first, size, (_BEYOND if first > least else 0.0, _BEYOND if first + size - 1 < most else 0.0)


def _variance(parts: Sequence[tuple[Masses, int]], step: float, tilt: float) -> float:
    """Return the variance of the tilted sum."""
    total = 0.0
    for masses, count in parts:
        part = _tilt(masses, count, step, tilt)
        losses = step * (part.first + np.arange(len(part.values), dtype=np.float64))
        mean = float(dot(part.values, losses))
        total += count * float(dot(part.values, (losses - mean) ** 2))
    return total


def _fast_size(least: int) -> int:
    """Return the least even size at or above `least` with no prime factor above 5."""
    odds = [3**three * 5**five for three in range(14) for five in range(10) if 3**three * 5**five <= max(least, 1)]
    sizes = [odd * 2 ** max(1, math.ceil(math.log2(-(-least // odd)))) for odd in odds]
    return int(min(sizes))


def _transform(tilted: Sequence[Tilted], size: int) -> tuple[NDArray[np.int64], Complex, Array]:
    """Return the product of the parts' transforms, each to its power, where it is not negligible."""
    spectra = [np.fft.rfft(_fold(part, size)) for part in tilted]
    slack = [_UNIT * math.log2(size) * math.sqrt(size * float(dot(part.values, part.values))) for part in tilted]
    logs = np.zeros(size // 2 + 1)
    for part, spectrum, error in zip(tilted, spectra, slack, strict=True):
        logs += part.count * np.log(np.abs(spectrum) + error)
    waves = np.flatnonzero(logs > _DROPPED)
    exponents = np.zeros(len(waves), complex)
    for part, spectrum in zip(tilted, spectra, strict=True):
        kept = spectrum[waves]
        exponents += part.count * np.log(np.where(kept == 0, 1e-300, kept))
    terms = np.exp(exponents)
    bounds = np.exp(logs[waves])
    turns = sum(part.count for part in tilted) * 1e-15
    return waves, terms, bounds - np.abs(terms) + turns * bounds


def _fold(part: Tilted, size: int) -> Array:
    """Return the masses by index modulo `size`."""
    index = (part.first + np.arange(len(part.values))) % size
    return np.bincount(index, part.values, size).astype(float)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
