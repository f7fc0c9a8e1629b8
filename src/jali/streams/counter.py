"""The base class of counters: noisy running sums over a horizon, and the strategy that is measured."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import LogMasses, read_natural
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.workloads.linear_release import CalibratedRelease, build_product_law
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.sampling import BitSource
from jali.streams.noise_buffer import NoiseBuffer, read_unused
from jali.streams.noise_quantiles import value_quantile
from jali.streams.participation import Participation
from jali.streams.running_stream import Running, StreamState, increments_in, read_state

# Noises of this many ticks are drawn at once.
AHEAD = 1024


@dataclass(frozen=True, eq=False)
class Published:
    """What a stream publishes over some ticks.

    Attributes:
        values: The noisy running sums after each tick: one row for each, and one column for each key where the
            stream has several.
        measurements: The noisy integers behind them. The values are computed from these alone.
    """

    values: Floats
    measurements: NDArray[Any]


class Counter(CalibratedRelease):
    """Noisy running sums of a stream of integers, tick after tick, over its whole life.

    A counter measures integer combinations of the increments (its strategy), each with independent noise of one
    law, and computes every published value from these noisy integers. `start` begins a stream.
    """

    # What it is called where streams are stored, and, with dashes, in `mechanism=`. It never changes.
    tag: ClassVar[str]
    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False
    # Whether later increments may depend on what was published before.
    adaptive: ClassVar[bool] = True
    # How many noises each tick of a key takes.
    _noises_each: ClassVar[int] = 1
    # How far a measurement may be from the strategy times the increments: 0 but for counters that round.
    rounding: ClassVar[float] = 0.0

    horizon: int
    person: Participation

    def moved_by(self, person: Participation) -> tuple[Fraction, Fraction]:
        """Return how far neighbours by another person would be apart, measured by this very strategy."""
        other: Counter = replace(self, person=person)  # type: ignore[type-var]
        return other.distance

    @abstractmethod
    def strategy(self) -> NDArray[Any]:
        """Return the integer matrix that is measured, one column for each tick: for small horizons and proofs."""

    @abstractmethod
    def influence(self, tick: int) -> Floats:
        """Return the coefficients of the noises in the value after a tick, from 1; zeros may be left out."""

    @abstractmethod
    def factors(self) -> Floats:
        """Return, for every tick, the sum of the squared coefficients of the noises in its value."""

    def start(self, *, width: int = 1, ahead: int = AHEAD, bits: BitSource | None = None) -> Running:
        """Begin a stream: one release of this mechanism, spread over its ticks.

        Args:
            width: How many keys are counted side by side.
            ahead: Noises of this many ticks are drawn at once.
            bits: Where random bits come from.
        """
        noises = self._noises_each * read_natural(width, "width")
        return self._make_running(NoiseBuffer(self.sampler, noises, read_natural(ahead, "ahead"), bits=bits), None)

    def resume(self, state: str, *, bits: BitSource | None = None) -> Running:
        """Continue a stream from its stored state."""
        kept = read_state(state)
        noises = self._noises_each * self._read_width(kept)
        unused = read_unused(kept["left"], noises)
        return self._make_running(NoiseBuffer(self.sampler, noises, kept["ahead"], unused, bits), kept)

    def _read_width(self, kept: StreamState) -> int:
        """Return how many keys a stored stream has."""
        return int(kept["width"])

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        """Return a stream that uses these noises: a new one, or one that continues from its stored state."""
        raise NotImplementedError

    @abstractmethod
    def numbers_kept(self) -> int:
        """Return about how many numbers a running stream of one key keeps, besides noise drawn ahead."""

    def variances(self) -> Floats:
        """Return the variance of every value, tick after tick."""
        return np.asarray(self.factors() * float(self.law.stddev) ** 2)

    def stddev(self, tick: int) -> float:
        """Return the standard deviation of the value after a tick, from 1."""
        row = self.influence(self.numbered(tick))
        return float(self.law.stddev) * math.sqrt(float(row @ row))

    @cached_property
    def rms(self) -> float:
        """The root of the mean squared error over all ticks."""
        return math.sqrt(float(self.variances().mean()))

    @cached_property
    def largest(self) -> float:
        """The largest standard deviation over all ticks."""
        return math.sqrt(float(self.variances().max()))

    @cached_property
    def worst_tick(self) -> int:
        """The tick, from 1, whose value has the largest variance: the one that `error` is about by default."""
        return int(np.argmax(self.factors())) + 1

    def error(self, confidence: float, *, tick: int | None = None) -> float:
        """Return what the error after one tick stays within; by default of the tick with the largest variance."""
        return value_quantile(
            self.influence(self.worst_tick if tick is None else self.numbered(tick)), self.law, confidence
        )

    def release(self, value: Any, *, bits: BitSource | None = None) -> Published:
        """Publish a whole stream at once: all of its ticks, or the first of them."""
        return self.start(bits=bits).advance(self.read(value))

    def measure(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Return the exact measurements of a short stream, in the order of the strategy's rows."""
        given = increments.tolist()
        rows = self.strategy().tolist()
        exact = [sum(a * x for a, x in zip(row, given, strict=True)) for row in rows]
        return narrow(np.array(exact, dtype=object))

    def deviation(self, value: Any, output: Any) -> float:
        """Return the error of the value with the largest variance, where `output` is what `answer` takes."""
        truth = self.read(value)[: self.worst_tick].sum()
        return abs(float(self.answer(np.array(output))[self.worst_tick - 1] - truth))

    @abstractmethod
    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Compute all values from the noisy measurements of a whole stream: post-processing, in doubles."""

    def outcome(self, released: Published) -> Hashable:
        """Return the noisy measurements: the values are post-processing."""
        return tuple(released.measurements.tolist())

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the noisy measurements of a short stream: a product of independent laws."""
        exact = self.measure(self.read(value)).tolist()
        return build_product_law(exact, self.law, math.isqrt(int(self.distance[1])) + 1)

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the noisy measurements of many streams at once."""
        exact = self.measure(self.read(value))
        noise = self.sampler.sample(size * exact.size, bits=bits).reshape(size, exact.size)
        return [tuple(row) for row in (exact + noise).tolist()]

    def read(self, increments: Any) -> NDArray[Any]:
        """Return increments as an array of integers, one for each tick; other types and lengths are refused."""
        array = increments_in(increments)
        if array.ndim != 1 or not 0 < array.size <= self.horizon:
            raise MechanismError("counter-stream-wrong", horizon=self.horizon)
        return array

    def numbered(self, tick: int) -> int:
        """Check the number of a tick, from 1."""
        if read_natural(tick, "tick") > self.horizon:
            raise MechanismError("tick-beyond-horizon", horizon=self.horizon, tick=tick)
        return int(tick)

    def _read(
        self, horizon: int, epsilon: Number | None, rho: Number | None, person: Participation | None
    ) -> None:
        """Check and keep the parameters that all counters share."""
        if not isinstance(person, Participation):
            raise MechanismError("person-not-a-participation", person=person)
        self._fill(horizon=read_natural(horizon, "horizon"), person=person)
        self._read_loss(epsilon, rho)
