"""The square root of summing: a counter for Gaussian noise that comes near the best there is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.lattice import add
from jali.mechanisms.mechanism import Specimen, natural
from jali.mechanisms.values import narrow
from jali.mechanisms.workloads.linear import doubles
from jali.mechanisms.workloads.strategies import square_root
from jali.mechanisms.workloads.workload import Floats
from jali.noise import BitSource
from jali.privacy.rationals import Number
from jali.streams.ahead import NoiseAhead, read_left
from jali.streams.causal import Causal
from jali.streams.counter import AHEAD, Counter, Published
from jali.streams.participation import Participation
from jali.streams.past import Past
from jali.streams.running import Running, read_state

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
        self._fill(grain=natural(grain, "grain"))
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
        moved = _moved(self.column, self.person)
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
        return _filters(self.horizon, self.grain)[1].doubles(doubles(measurements), 0)

    def start(self, *, width: int = 1, ahead: int = AHEAD, bits: BitSource | None = None) -> Running:
        """Begin a stream of one or several keys."""
        width, ahead = natural(width, "width"), natural(ahead, "ahead")
        noise = NoiseAhead(self.sampler, width, ahead, bits=bits)
        return _Root(self, Past(np.zeros((width, 0), np.int64)), Past(np.zeros((width, 0))), noise)

    def resume(self, state: str, *, bits: BitSource | None = None) -> Running:
        """Go on with a stream from its stored state."""
        kept = read_state(state)
        left = read_left(kept["left"], kept["width"])
        increments = narrow(np.array(kept["increments"], dtype=object).reshape(kept["width"], -1))
        measured = np.array(kept["measured"], dtype=np.float64).reshape(kept["width"], -1)
        noise = NoiseAhead(self.sampler, kept["width"], kept["ahead"], left, bits)
        return _Root(self, Past(self.fitting(increments)), Past(measured), noise)

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
    def __init__(self, counter: ToeplitzRoot, increments: Past, measured: Past, noise: NoiseAhead) -> None:
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
        self.measured.grow(doubles(noisy.ravel()).reshape(rows.shape).T)
        values = np.stack([self._back.doubles(past, start) for past in self.measured.rows], axis=1)
        self.tick += len(rows)
        return Published(values.reshape(increments.shape), noisy.reshape(increments.shape))

    def state(self) -> str:
        """Return the increments, the measurements and the noise drawn ahead."""
        kept = {"width": self.width, "ahead": self.noise.ahead, "left": self.noise.left()}
        past = {"increments": self.increments.rows.tolist(), "measured": self.measured.rows.tolist()}
        return json.dumps({**kept, **past})


@lru_cache(maxsize=2)
def _filters(horizon: int, grain: int) -> tuple[Causal, Causal]:
    """Return what is measured, and what makes running sums of it."""
    root = square_root(horizon, grain)
    return Causal(root.first), Causal(root.back)


def _moved(column: NDArray[Any], person: Participation) -> NDArray[Any]:
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
