"""The square root of summing: a counter for Gaussian noise that comes near the best there is.

Both of its matrices are causal filters, sums over the past with fixed coefficients.

Statement:
    Let c and x be vectors of a cyclic convolution of length 2^L that is computed by fast transforms in doubles,
    u = 2^-53. Its entries err by at most ((1+u)^(3L) (1+u sqrt(5))^(3L+1) (1+b)^(3L) - 1) |c| |x| where b bounds
    the error of the roots of unity (Percival 2003, Theorem 5.1): with b <= 2u and L >= 6 below 16.1 L u |c| |x|.
    Nearly twice that is allowed here, and integers x are cut into digits so short that it is at most 1/4:
    rounding is exact.
Proof:
    docs/proofs/toeplitz_root.md, Lemma 2.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen, read_natural
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.lattice import add
from jali.mechanisms.workloads.factorization import compute_square_root
from jali.mechanisms.workloads.linear_release import convert_to_doubles
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.counter import Counter, Published
from jali.streams.noise_buffer import NoiseBuffer
from jali.streams.participation import Participation
from jali.streams.running_stream import Running, StreamState

# So few ticks are summed one by one: a product for each tick of the past.
_FEW = 32
# A quarter of 2^53 / 32: the error of a transform of length 2^L is at most 32 L |c| |x| / 2^53.
_ALLOWED = float(1 << 46)


class CausalFilter:
    """The sums y_t = c_0 x_t + c_1 x_(t-1) + ... + c_t x_0.

    Args:
        column: The coefficients c: integers of at most 2^24, or doubles.
    """

    def __init__(self, column: NDArray[Any]) -> None:
        self.column = column
        self._backwards = column[::-1].copy()
        self._transform = lru_cache(maxsize=1)(self._transform_column)

    @cached_property
    def roomy(self) -> int:
        """Below this size of all x the sums are machine words."""
        return (1 << 62) // max(1, int(np.abs(self.column).sum()))

    def integers(self, past: NDArray[Any], start: int) -> NDArray[Any]:
        """Return the sums from one tick on, exactly, of machine words that are `roomy` or of Python ints.

        Args:
            past: All increments, those of the new ticks included.
            start: How many ticks have been summed before.
        """
        if len(past) - start <= _FEW:
            return self._one_by_one(past, start, self._backwards.astype(past.dtype, copy=False))
        bits = self._bits(len(past), start)
        total = np.zeros(len(past) - start, past.dtype)
        for digits in reversed(_cut(past, bits)):
            part = np.rint(self._product(digits.astype(np.float64), start)).astype(np.int64)
            total = (total << bits) + part
        return total

    def doubles(self, past: Floats, start: int) -> Floats:
        """Return the sums from one tick on, in doubles."""
        few = len(past) - start <= _FEW
        return self._one_by_one(past, start, self._backwards) if few else self._product(past, start)

    def _one_by_one(self, past: NDArray[Any], start: int, backwards: NDArray[Any]) -> NDArray[Any]:
        sums = [backwards[len(backwards) - t :] @ past[:t] for t in range(start + 1, len(past) + 1)]
        return np.array(sums, past.dtype)

    def _product(self, past: Floats, start: int) -> Floats:
        """Convolve on a circle so long that nothing wraps around to the ticks that are asked for."""
        size = _length(len(past), start)
        product = np.fft.irfft(self._transform(size, len(past)) * np.fft.rfft(past, size), size)
        return np.asarray(product[start : len(past)])

    def _transform_column(self, size: int, ticks: int) -> NDArray[np.complex128]:
        return np.fft.rfft(self.column[:ticks].astype(np.float64), size)

    def _bits(self, ticks: int, start: int) -> int:
        """Return how long digits may be, in bits."""
        levels = _length(ticks, start).bit_length() - 1
        length = float(np.linalg.norm(self.column.astype(np.float64)))
        return 1 + math.floor(math.log2(_ALLOWED / (levels * length * math.sqrt(ticks))))


def _length(ticks: int, start: int) -> int:
    """Return the length of the circle: a power of 2."""
    return 1 << (2 * ticks - start - 2).bit_length()


def _cut(integers: NDArray[Any], bits: int) -> list[NDArray[Any]]:
    """Return digits from -2^(bits-1) to 2^(bits-1) - 1, lowest first: integers are the sum of d_i 2^(i bits)."""
    half, parts, rest = 1 << (bits - 1), [], integers
    while rest.any():
        digit = ((rest + half) & (2 * half - 1)) - half
        parts.append(digit)
        rest = (rest - digit) >> bits
    return parts


class GrowingRows:
    """One row for each key, one column for each tick; it only grows, and not by copying at every tick.

    Args:
        known: What it begins with.
    """

    def __init__(self, known: NDArray[Any]) -> None:
        self._room, self.ticks = known, known.shape[1]

    @property
    def rows(self) -> NDArray[Any]:
        """Everything so far."""
        return self._room[:, : self.ticks]

    def grow(self, new: NDArray[Any]) -> None:
        """Add ticks; Python integers make Python integers of all."""
        end, kind = self.ticks + new.shape[1], np.result_type(self._room, new)
        if end > self._room.shape[1] or kind != self._room.dtype:
            room = np.zeros((len(self._room), max(end, 2 * self.ticks)), kind)
            room[:, : self.ticks] = self.rows
            self._room = room
        self._room[:, self.ticks : end] = new
        self.ticks = end


_LONGEST = 1 << 22
_FINEST = 1 << 24


@dataclass(frozen=True, repr=False)
class ToeplitzRoot(Counter):
    """Measure the square root of the running sums, with Gaussian noise, and apply it once more.

    The matrix that sums is the square of the one with f_0 = 1, f_k = f_(k-1) (1 - 1/(2k)) on its diagonals. These
    are rounded to integers once; what is measured, and how far one person moves it, is exact. All of the past is
    kept, and summed at every tick.

    Args:
        horizon: For how many ticks the stream lives: at most 2^22.
        rho: The loss of the whole stream in zCDP.
        person: How one person may enter the stream, and when streams are neighbours.
        grain: How many integer steps stand for 1 in the rounded matrix.

    Guarantee:
        All values together are rho-zCDP for the neighbours that `person` describes; increments may depend on
        values published before.
    Proof:
        docs/proofs/toeplitz_root.md, after Henzinger, Upadhyay and Upadhyay 2023, and Kalinin and Lampert 2024
        for people who take part more than once.

    Error:
        With noise of standard deviation 1 for increments that one person moves by 1 once, the standard deviation
        after the last of n ticks is nearly (ln n + 0.57722 + 4 ln 2) / pi. Values are unbiased.

    Example:
        >>> from jali.streams import Participation, ToeplitzRoot
        >>> counter = ToeplitzRoot(horizon=1024, rho="1/2", person=Participation(adjacency="add-remove"))
        >>> round(counter.largest, 6)
        3.272554
        >>> len(counter.start().extend([1] * 1024))
        1024
    """

    tag: ClassVar[str] = "ToeplitzRoot"

    horizon: int
    rho: Fraction
    person: Participation
    grain: int

    epsilon = None  # no annotation, hence no field: Laplace noise is never worth it here

    def __init__(self, *, horizon: int, rho: Number, person: Participation, grain: int = 1 << 20) -> None:
        self._read(horizon, None, rho, person)
        self._fill(grain=read_natural(grain, "grain"))
        if self.horizon > _LONGEST:
            raise MechanismError("toeplitz-horizon-too-long", name="horizon")
        if self.grain > _FINEST:
            raise MechanismError("toeplitz-grain-too-fine")
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """The columns of the earliest pattern, added up: in both norms, exactly.

        Proof:
            docs/proofs/toeplitz_root.md, Lemma 1.
        """
        moved = _add_pattern_columns(self.column, self.person)
        total, squares = int(moved.sum()), _sum_of_squares(moved)
        return total * self.person.weight, squares * self.person.squared_weight

    @property
    def column(self) -> NDArray[Any]:
        """The first column of the matrix that is measured; it never increases."""
        return _filters(self.horizon, self.grain)[0].column

    @property
    def back(self) -> Floats:
        """The first column of the matrix that makes running sums of measurements."""
        return _filters(self.horizon, self.grain)[1].column

    def strategy(self) -> NDArray[Any]:
        """Return the rounded square root of the matrix of ones below the diagonal."""
        return _below_the_diagonal(self.column)

    def influence(self, tick: int) -> Floats:
        """The noise of k ticks before enters as the running sum of what it changes."""
        return self.back[tick - 1 :: -1]

    def factors(self) -> Floats:
        """Sums of squares."""
        return np.cumsum(self.back**2)

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Apply the inverse of what was measured, and add up."""
        return _filters(self.horizon, self.grain)[1].doubles(convert_to_doubles(measurements), 0)

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        width = noise.width
        if kept is None:
            empty = np.zeros((width, 0), np.int64)
            return _Root(self, GrowingRows(empty), GrowingRows(empty.astype(np.float64)), noise)
        increments = narrow(np.array(kept["increments"], dtype=object).reshape(width, -1))
        measured = np.array(kept["measured"], dtype=np.float64).reshape(width, -1)
        return _Root(self, GrowingRows(self.fitting(increments)), GrowingRows(measured), noise)

    def fitting(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Return increments as machine words where all sums of such are, else as Python ints."""
        most = _filters(self.horizon, self.grain)[0].roomy
        roomy = not increments.size or (int(increments.max()) < most and int(increments.min()) > -most)
        return increments.astype(np.int64 if roomy else object)

    def numbers_kept(self) -> int:
        """Every increment and every measurement, to the end."""
        return 2 * self.horizon

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person, on a coarse grain: noise of a few steps."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        return (
            Specimen(
                cls(horizon=2, rho="1/2", person=once, grain=2),
                once.adjacency,
                (((1, 0), (0, 0)), ((1, 0), (1, 1))),
            ),
            Specimen(
                cls(horizon=2, rho=1, person=moved, grain=2), moved.adjacency, (((1, 0), (0, 1)),), tight=False
            ),
            Specimen(cls(horizon=2, rho=2, person=twice, grain=2), twice.adjacency, (((0, 0), (1, 1)),)),
        )


class _Root(Running):
    def __init__(
        self, counter: ToeplitzRoot, increments: GrowingRows, measured: GrowingRows, noise: NoiseBuffer
    ) -> None:
        self.counter, self.width, self.tick = counter, noise.width, increments.ticks
        self._forward, self._back = _filters(counter.horizon, counter.grain)
        self._fitting = counter.fitting
        self.increments, self.measured, self.noise = increments, measured, noise

    def advance(self, increments: NDArray[Any]) -> Published:
        """Measure the past and the new ticks together, add noise, and sum up what was measured."""
        rows, start = increments.reshape(len(increments), self.width), self.tick
        noise = self.noise.take(len(rows))  # first: where no bits can be had, nothing has passed
        self.increments.grow(self._fitting(rows.T))
        exact = np.stack([self._forward.integers(past, start) for past in self.increments.rows], axis=1)
        noisy = add(exact, noise)
        self.measured.grow(convert_to_doubles(noisy.ravel()).reshape(rows.shape).T)
        values = np.stack([self._back.doubles(past, start) for past in self.measured.rows], axis=1)
        self.tick += len(rows)
        return Published(values.reshape(increments.shape), noisy.reshape(increments.shape))

    def state(self) -> str:
        """Return the increments, the measurements and the noise drawn ahead."""
        kept = {"width": self.width, "ahead": self.noise.ahead, "left": self.noise.list_unused()}
        past = {"increments": self.increments.rows.tolist(), "measured": self.measured.rows.tolist()}
        return json.dumps({**kept, **past})


@lru_cache(maxsize=2)
def _filters(horizon: int, grain: int) -> tuple[CausalFilter, CausalFilter]:
    """Return what is measured, and what makes running sums of it."""
    root = compute_square_root(horizon, grain)
    return CausalFilter(root.first), CausalFilter(root.back)


def _add_pattern_columns(column: NDArray[Any], person: Participation) -> NDArray[Any]:
    """Return how far entering each tick of the earliest pattern by 1 moves the measurements."""
    period, n = person.separation, len(column)
    if period >= n:
        return column
    padded = np.concatenate([column, np.zeros(-n % period, np.int64)])
    endless = np.cumsum(padded.reshape(-1, period), axis=0).ravel()[:n]
    stop = min(n, person.ticks * period)
    endless[stop:] -= endless[: n - stop].copy()
    return endless


def _sum_of_squares(numbers: NDArray[Any]) -> int:
    """Add up squares of integers from 0 to 2^62: exactly."""
    if int(numbers.max()) ** 2 * len(numbers) < 1 << 62:
        return int(numbers @ numbers)
    return sum(number * number for number in numbers.tolist())


def _below_the_diagonal(column: NDArray[Any]) -> NDArray[Any]:
    lag = np.subtract.outer(np.arange(len(column)), np.arange(len(column)))
    return np.where(lag >= 0, column[np.maximum(lag, 0)], 0)
