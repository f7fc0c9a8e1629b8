"""Buffered linear Toeplitz matrices: errors near the least possible, and a few numbers of memory for each key."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen, read_miss_probability, read_natural
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.intervals.weighted_sums import bound_gaussian_quantile
from jali.mechanisms.lattice import add
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.buffer_inverse import BufferInverse
from jali.streams.buffer_measurements import EXACT_DOUBLES, OFF, SPAN, ExactBuffers, places_for
from jali.streams.buffer_parameters import best_parameters, mean_row_square, row_square, row_sum
from jali.streams.buffer_recurrence import POWER_PLACES, BufferRecurrence, read_decays, read_weights
from jali.streams.counter import Counter, Published
from jali.streams.noise_buffer import NoiseBuffer
from jali.streams.participation import Participation
from jali.streams.running_stream import Running, StreamState

# By default roundings add less than 1 in this many to the noise.
_FINE = 1024
_FINEST = 64
# More buffers gain next to nothing, and their parameters take long to find.
_MOST = 8
# Up to this many ticks errors are computed from the coefficients themselves.
_SHORT = 1024
# This many ticks pass at a time; measurements below this size are added up in machine words then.
_PART, _WORDS = 1 << 17, 1 << 45


@dataclass(frozen=True, repr=False)
class BufferedToeplitz(Counter):
    """Measure sums in which the past decays at a few rates, so that few buffers make nearly the least error.

    The strategy C has the coefficients c_0 = 1, c_k = sum_j w_j theta_j^(k-1), the same for every tick: each
    measurement needs one buffer for each rate, and so does each published value, as the inverse has that form too.

    Args:
        horizon: For how many ticks the stream lives.
        rho: The loss of the whole stream in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        buffers: How many rates; four come within 2 % of the best at a million ticks.
        keys: How many keys are counted side by side at most; None for any number of them.
        lattice: Measurements are whole multiples of 2^-lattice; by default so fine that roundings add less than
            0.1 % to the noise.
        decays: The rates theta, falling, between 0 and 1. By default those with the least error for the horizon.
        weights: The weights w that belong to them.

    Guarantee:
        All values together are rho-zCDP for the neighbours that `person` describes; increments may depend on
        values published before.
    Proof:
        docs/proofs/buffered_toeplitz.md, after Dvijotham, McMahan, Pillutla, Steinke and Thakurta 2024.

    Error:
        The standard deviation after tick t is that of one noise times the length of t coefficients of
        1/((1-x) c(x)), and grows with t: 5.564 for unit sensitivity and noise at 2^20 ticks with four buffers.

    Example:
        >>> from jali.streams import BufferedToeplitz, Participation
        >>> counter = BufferedToeplitz(horizon=2**20, rho="1/2", person=Participation(adjacency="add-remove"))
        >>> round(counter.largest, 2), counter.numbers_kept()
        (5.57, 9)
        >>> len(counter.start().extend([1] * 100))
        100
    """

    tag: ClassVar[str] = "BufferedToeplitz"

    horizon: int
    rho: Fraction
    person: Participation
    buffers: int
    keys: int | None
    lattice: int
    decays: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    epsilon = None
    rounding: ClassVar[float] = float(OFF)

    def __init__(
        self,
        *,
        horizon: int,
        rho: Number,
        person: Participation,
        buffers: int = 4,
        keys: int | None = None,
        lattice: int | None = None,
        decays: tuple[Number, ...] | None = None,
        weights: tuple[Number, ...] | None = None,
    ) -> None:
        self._read(horizon, None, rho, person)
        if read_natural(buffers, "buffers") > _MOST:
            raise MechanismError("buffers-too-many", most=_MOST, buffers=buffers)
        self._fill(buffers=int(buffers), keys=None if keys is None else read_natural(keys, "keys"))
        self._fill(lattice=self._lattice(lattice))
        self._fill_parameters(decays, weights)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    def __repr__(self) -> str:
        told = ("horizon", "rho", "person", "buffers", *(["keys"] if self.keys else []), "lattice")
        return f"BufferedToeplitz({', '.join(f'{name}={getattr(self, name)!s}' for name in told)})"

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """What the strategy moves, and two roundings of each measurement of every key that one person moves."""
        moved, scale, off = self.horizon * self._keys_moved, 1 << self.lattice, 2 * OFF
        entered = self.person.entered(self.horizon)
        square = self._recurrence.column_square(self.horizon, entered, self.person.separation)
        square *= self.person.squared_weight * scale**2
        length = _root_above(square) + off * _root_above(Fraction(moved))
        return self.person.weight * entered * scale * self._recurrence.total + off * moved, length**2

    def strategy(self) -> NDArray[Any]:
        """Return 2^lattice C with its entries rounded; measurements are within 3/4 of the exact 2^lattice C x."""
        shift = POWER_PLACES - self.lattice
        column = [c + (1 << shift - 1) >> shift for c in self._recurrence.coefficients(self.horizon)]
        rows = [[column[t - s] if s <= t else 0 for s in range(self.horizon)] for t in range(self.horizon)]
        return np.array(rows, dtype=object)

    def measure(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Return the exact measurements of a short stream, tick after tick."""
        return _Key(self._exact, self._inverse).measurements(increments)

    def influence(self, tick: int) -> Floats:
        """The coefficients of 1/((1-x) c(x)), backwards."""
        return np.ldexp(self._recurrence.inverse(tick)[::-1], -self.lattice)

    def factors(self) -> Floats:
        """The running sums of the squared coefficients."""
        return np.cumsum(np.ldexp(self._recurrence.inverse(self.horizon), -self.lattice) ** 2)

    def stddev(self, tick: int) -> float:
        """Return the standard deviation of the value after a tick, from 1, in closed form."""
        square = row_square(self._recurrence.residues, self._recurrence.poles(), self.numbered(tick))
        return float(self.law.stddev) * math.ldexp(math.sqrt(square), -self.lattice)

    @cached_property
    def rms(self) -> float:
        """The root of the mean squared error over all ticks, in closed form."""
        square = mean_row_square(self._recurrence.residues, self._recurrence.poles(), self.horizon)
        return float(self.law.stddev) * math.ldexp(math.sqrt(square), -self.lattice)

    @cached_property
    def largest(self) -> float:
        """The largest standard deviation over all ticks: of the last."""
        return self.stddev(self.horizon)

    @cached_property
    def worst_tick(self) -> int:
        """The last tick."""
        return self.horizon

    def error(self, confidence: float, *, tick: int | None = None) -> float:
        """Return what the error after one tick stays within, roundings included; by default after the last."""
        number = self.worst_tick if tick is None else self.numbered(tick)
        recurrence = self._recurrence
        sums = math.ldexp(row_sum(recurrence.residues, recurrence.poles(), number), -self.lattice)
        if number <= _SHORT:
            return super().error(confidence, tick=number) + self.rounding * sums
        square = math.ldexp(row_square(recurrence.residues, recurrence.poles(), number), -2 * self.lattice)
        exponent = math.log(2 / read_miss_probability(confidence))
        return bound_gaussian_quantile(self.law.spread**2 * square, sums, exponent) + self.rounding * sums

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Compute all values from the noisy measurements of a whole stream."""
        key, values = _Key(self._exact, self._inverse), np.empty(len(measurements))
        for part in _parts(measurements):
            key.fill(measurements[part], values[part])
        return values

    def _read_width(self, kept: StreamState) -> int:
        return len(kept["keys"])

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        if kept is None and self.keys is not None and noise.width > self.keys:
            raise MechanismError("width-above-keys", keys=self.keys, width=noise.width)
        states = [()] * noise.width if kept is None else kept["keys"]
        keys = [_Key(self._exact, self._inverse, *state) for state in states]
        return _Buffered(self, keys, noise, 0 if kept is None else kept["tick"])

    def numbers_kept(self) -> int:
        """The buffers of both sides, and the noisy sum."""
        return 2 * self.buffers + 1

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams on coarse lattices that differ in one person: there or not, or at another tick."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        one = {"buffers": 1, "decays": ("3/4",), "weights": ("1/2",)}
        two = {"buffers": 2, "decays": ("3/4", "1/4"), "weights": ("1/4", "1/16")}
        return (
            Specimen(
                cls(horizon=2, rho=2, person=once, lattice=2, **one),  # type: ignore[arg-type]
                once.adjacency,
                (((1, 0), (0, 0)), ((1, 0), (1, 1))),
                tight=False,
            ),
            Specimen(
                cls(horizon=2, rho=4, person=moved, lattice=3, **two),  # type: ignore[arg-type]
                moved.adjacency,
                (((1, 0), (0, 1)),),
                tight=False,
            ),
            Specimen(
                cls(horizon=2, rho=4, person=twice, lattice=2, **one),  # type: ignore[arg-type]
                twice.adjacency,
                (((0, 0), (1, 1)),),
                tight=False,
            ),
        )

    @property
    def _keys_moved(self) -> int:
        """How many keys one person moves at most: increments are integers, so that each takes 1 of the L1 norm."""
        moved = max(1, int(self.person.weight * self.person.entered(self.horizon)))
        return moved if self.keys is None else min(moved, self.keys)

    def _lattice(self, given: int | None) -> int:
        if given is not None:
            if read_natural(given, "lattice", least=0) > _FINEST:
                raise MechanismError("lattice-too-fine", finest=_FINEST, lattice=given)
            return int(given)
        wanted = (2 * OFF * _FINE) ** 2 * self.horizon * self._keys_moved / self.person.l2.squared
        return (math.ceil(wanted) - 1).bit_length() + 1 >> 1

    def _fill_parameters(self, decays: tuple[Number, ...] | None, weights: tuple[Number, ...] | None) -> None:
        """Read or choose the parameters, and keep them as the rationals that are used."""
        if decays is None and weights is None:
            entered = self.person.entered(self.horizon)
            chosen = best_parameters(self.horizon, entered, self.person.separation, self.buffers)
            decays, weights = (tuple(map(Fraction, row.tolist())) for row in chosen)
        if decays is None or weights is None:
            raise MechanismError("decays-without-weights")
        kept = read_decays(decays, self.buffers)
        self._fill(decays=kept, weights=read_weights(weights, kept, places_for(kept, self.lattice)))

    @cached_property
    def _recurrence(self) -> BufferRecurrence:
        return BufferRecurrence(self.decays, self.weights)

    @cached_property
    def _exact(self) -> ExactBuffers:
        return ExactBuffers(self._recurrence, self.lattice)

    @cached_property
    def _inverse(self) -> BufferInverse:
        return BufferInverse(self._recurrence, self.lattice)


class _Key:
    """What is kept of one key: the exact buffers, which are secret, and those of the noisy measurements."""

    def __init__(
        self,
        exact: ExactBuffers,
        inverse: BufferInverse,
        buffers: list[int] | None = None,
        noisy: list[float] | None = None,
        total: int = 0,
    ) -> None:
        self.exact, self.inverse, self.total = exact, inverse, total
        size = len(exact.recurrence.decays)
        self.buffers = [0] * size if buffers is None else buffers
        self.noisy = [0.0] * size if noisy is None else noisy

    def measurements(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Return the exact measurements of the next ticks."""
        parts = [self.exact.measure(narrow(increments[part]), self.buffers) for part in _parts(increments)]
        return narrow(np.concatenate([part.astype(object) for part in parts]))

    def advance(self, increments: NDArray[Any], noise: NDArray[Any]) -> tuple[NDArray[Any], Floats]:
        """Pass ticks, part by part: return the noisy measurements, and the values computed from them alone."""
        values = np.empty(len(increments))
        for part in _parts(increments):
            noisy = _add_noise(self.exact.measure(narrow(increments[part]), self.buffers), noise[part])
            if noisy.dtype == object:
                noise = noise.astype(object, copy=False)
            noise[part] = noisy
            self.fill(noise[part], values[part])
        return narrow(noise), values

    def fill(self, noisy: NDArray[Any], values: Floats) -> None:
        """Fill in the values after the next noisy measurements, at most `_PART` of them."""
        small = noisy.dtype != object and int(noisy.min()) > -_WORDS and int(noisy.max()) < _WORDS
        if small and len(noisy) % SPAN == 0:
            self.inverse.spans(noisy, self.total, self.noisy, values)
            self.total += int(noisy.sum())
        else:
            values[:] = [self.value(number) for number in noisy.tolist()]

    def value(self, measured: int) -> float:
        """Return the value after one more noisy measurement."""
        self.total += measured
        return self.inverse.step(measured, self.total, self.noisy)


def _add_noise(exact: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """Add noise to integers, exactly: in doubles, where they come in doubles and the noise is small too."""
    if exact.dtype != np.float64:
        return add(exact, noise)
    if noise.dtype == object or int(noise.min()) <= -EXACT_DOUBLES or int(noise.max()) >= EXACT_DOUBLES:
        return add(exact.astype(np.int64), noise)
    exact += noise
    return exact


def _parts(rows: NDArray[Any]) -> list[slice]:
    """Cut ticks into parts of whole spans, and a rest."""
    whole = len(rows) - len(rows) % SPAN
    places = [*range(0, whole, _PART), whole, len(rows)]
    return [slice(start, stop) for start, stop in pairwise(places) if start < stop]


class _Buffered(Running):
    def __init__(self, counter: BufferedToeplitz, keys: list[_Key], noise: NoiseBuffer, tick: int) -> None:
        self.counter, self.width, self.tick = counter, len(keys), tick
        self.keys, self.noise = keys, noise

    def append(self, increment: Any) -> Any:
        """Pass one tick and return the noisy sum so far: a number, or an array with one for each key."""
        if self.width > 1 or type(increment) is not int or self.tick >= self.counter.horizon:
            return super().append(increment)
        (noise,) = self.noise.one()  # first: where no bits can be had, nothing has passed
        key = self.keys[0]
        measured = key.exact.step(increment, key.buffers)
        self.tick += 1
        return key.value(measured + noise)

    def advance(self, increments: NDArray[Any]) -> Published:
        """Measure, add noise, and compute the values from the noisy measurements alone: key by key."""
        rows = increments.reshape(len(increments), self.width)
        noise = self.noise.take(len(rows))
        found = [key.advance(rows[:, k], noise[:, k]) for k, key in enumerate(self.keys)]
        self.tick += len(rows)
        noisy, values = (each[0] if self.width == 1 else np.stack(each, 1) for each in zip(*found, strict=True))
        return Published(values.reshape(increments.shape), noisy.reshape(increments.shape))

    def state(self) -> str:
        """Return the buffers of every key and the noise drawn ahead."""
        keys = [(key.buffers, key.noisy, key.total) for key in self.keys]
        kept = {"tick": self.tick, "ahead": self.noise.ahead, "keys": keys}
        return json.dumps({**kept, "left": self.noise.list_unused()})


def _root_above(value: Fraction) -> Fraction:
    """Return a rational above the square root, by less than 2^-40."""
    return Fraction(math.isqrt(math.ceil(value * 4**40)) + 1, 2**40)
