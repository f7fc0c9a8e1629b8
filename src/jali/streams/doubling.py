"""Running sums of a stream of unknown length: epochs of growing length, each with its own counter."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from jali.mechanisms.base import Specimen, read_natural
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.counter import Counter
from jali.streams.epoch_sensitivity import EpochDistance, calibrate_to, distance_for_any_epochs
from jali.streams.epochs import UNLIMITED, Each, EpochCounter, EpochMemory, Recipe
from jali.streams.noise_quantiles import NoiseTerms
from jali.streams.participation import Participation

# Forecasts that name no tick are over this many.
FORECAST = 1 << 20
# Epochs grow no longer than this, so that every counter can be made.
_LONGEST = 1 << 22


@dataclass(frozen=True, repr=False)
class Doubling(EpochCounter):
    """Running sums without a horizon: epochs of growing length, each with a counter of its own.

    The value is the sum of the last values of the epochs that are over, and of the running one. Epochs that grow
    faster than to twice their length are fewer, so that fewer last values add up; but a counter that is made for
    a longer horizon than is reached has more noise, and may keep more. From 2^22 ticks on they grow no more.

    Args:
        horizon: After how many ticks the stream ends; None if it is unknown.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        each: The counter of an epoch: its name, its class, or a `Recipe`; by default SmoothTree for Laplace noise
            and BufferedToeplitz for Gaussian noise.
        first: How many ticks the first epoch has.
        growth: How many times as long as the one before each epoch is.

    Guarantee:
        All values together, however long the stream lives, are epsilon-DP (rho-zCDP) for the neighbours that
        `person` describes; for adaptive streams where the counter of an epoch is.
    Proof:
        docs/proofs/doubling.md, after the hybrid mechanism of Chan, Shi and Song 2011.

    Error:
        The variances of the last values of the epochs before, and of the running value, add up. `rms`, `largest`
        and `error` without a tick are over the first 2^20 ticks at most; `variances_over` is over any number.

    Example:
        >>> from jali.streams import Doubling, Participation
        >>> counter = Doubling(rho="1/2", person=Participation(adjacency="add-remove"), each="EveryItem")
        >>> [round(counter.stddev(tick) ** 2, 3) for tick in (1, 2, 1000)]
        [1.0, 2.0, 1000.0]
    """

    tag: ClassVar[str] = "Doubling"

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation
    each: Recipe
    first: int
    growth: int

    def __init__(
        self,
        *,
        horizon: int | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        person: Participation,
        each: Each = None,
        first: int = 1,
        growth: int = 16,
    ) -> None:
        self._read(UNLIMITED if horizon is None else horizon, epsilon, rho, person)
        self._fill(horizon=min(UNLIMITED, self.horizon))
        self._fill(
            each=Recipe.of(each, "rho" if self.epsilon is None else "epsilon"), first=read_natural(first, "first")
        )
        self._fill(growth=read_natural(growth, "growth", least=2))
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    def length(self, number: int) -> int:
        """Return how many ticks an epoch has, from 0."""
        steps = min(number, _LONGEST.bit_length())
        return max(self.first, min(_LONGEST, self.first * int(self.growth**steps)))

    @cached_property
    def _epochs_by_length(self) -> dict[int, tuple[EpochDistance, Counter]]:
        return {}

    def _calibrate(self, number: int) -> tuple[EpochDistance, Counter]:
        """Return what the noise of an epoch is made for, and its counter: made once for each length."""
        length = self.length(number)
        if length not in self._epochs_by_length:
            plain = self.each.made(length, self.epsilon, self.rho, self.person)
            distance = distance_for_any_epochs(plain)
            self._epochs_by_length[length] = distance, calibrate_to(plain, distance)
        return self._epochs_by_length[length]

    @property
    def distance(self) -> EpochDistance:
        """What the noise of the first epoch is made for; later ones have noise of their own."""
        return self._calibrate(0)[0]

    def part(self, number: int) -> Counter:
        """Return the counter of an epoch, from 0."""
        return self._calibrate(number)[1]

    def kinds(self) -> tuple[Counter, ...]:
        """Return the counters of the epochs that grow, and with them of all later ones."""
        found, ticks = [self.part(0)], self.first
        while ticks < self.horizon and self.length(len(found)) > found[-1].horizon:
            found.append(self.part(len(found)))
            ticks += found[-1].horizon
        return tuple(found)

    def frozen(self) -> Self:
        """Return the same stream, whose recipe has all parameters of its epochs: none is optimised again."""
        found = super().frozen()
        # They are the same counters, and some are slow to price.
        found._epochs_by_length.update(self._epochs_by_length)
        return found

    def place(self, tick: int) -> tuple[int, int]:
        """Return in which epoch a tick falls, from 0, and which tick of it that is, from 1."""
        epoch = 0
        while tick > self.length(epoch) < max(self.first, _LONGEST):
            epoch, tick = epoch + 1, tick - self.length(epoch)
        more, left = divmod(tick - 1, self.length(epoch))
        return epoch + more, left + 1

    def terms(self, tick: int) -> NoiseTerms:
        """Return the coefficients of the noises in the last values of the epochs before, and in this one."""
        epoch, inside = self.place(tick)
        before = [self.part(number) for number in range(epoch)]
        lasts = [(part.influence(part.horizon), part.law) for part in before]
        return [*lasts, (self.part(epoch).influence(inside), self.part(epoch).law)]

    def variances_over(self, ticks: int) -> Floats:
        """Return the variance of every value over the first ticks."""
        found, before, number = [], 0.0, 0
        left = read_natural(ticks, "ticks")
        while left > 0:
            inside = self.part(number).variances()[:left]
            found.append(before + inside)
            before, left, number = before + float(inside[-1]), left - len(inside), number + 1
        return np.concatenate(found)

    def factors(self) -> Floats:
        """Return the variances of the first 2^20 ticks, in units of that of one noise of the first epoch."""
        return np.asarray(self.variances() / (float(self.law.stddev) ** 2 or 1.0))

    def variances(self) -> Floats:
        """Return the variances of the values after the first 2^20 ticks, or after all where there are fewer."""
        return self.variances_over(min(self.horizon, FORECAST))

    def numbers_kept(self) -> int:
        """What the counter of the epoch of the tick 2^20 or of the last one keeps, and the sum before."""
        return self.part(self.place(min(self.horizon, FORECAST))[0]).numbers_kept() + 1

    def memory(self, width: int, tick: int = 0, kept: list[list[float]] | None = None) -> EpochMemory:  # noqa: ARG002
        """Return the sum of the last values of the epochs that are over: the tick does not matter."""
        return _SoFar(np.array(kept[0]) if kept else np.zeros(width))

    def deviation(self, value: Any, output: Any) -> float:
        """Return the error of the last value of a short stream."""
        return abs(float(self.answer(np.array(output))[-1] - self.read(value).sum()))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: in one epoch, in two, or moved to another."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        tick = {"tick": 3}
        return (
            Specimen(
                cls(epsilon=5, person=once, each="EveryItem", growth=2),
                once.adjacency,
                (((1, 0, 0), (0, 0, 0)), ((1, 0, 1), (1, 0, 0))),
                tick,
            ),
            Specimen(
                cls(epsilon=10, person=moved, each="EveryItem", growth=2),
                moved.adjacency,
                (((1, 0, 0), (0, 1, 0)),),
                tick,
            ),
            Specimen(
                cls(rho=2, person=twice, each="EveryItem", growth=2),
                twice.adjacency,
                (((0, 0, 0), (1, 1, 0)), ((0, 1, 1), (0, 0, 0))),
                tick,
            ),
        )


class _SoFar(EpochMemory):
    """The sum of the last values of the epochs that are over."""

    def __init__(self, before: Floats) -> None:
        self.before = before

    def publish(self, values: Floats, over: bool) -> Floats:
        """Add the epochs before to the values of the running one."""
        found = self.before + values
        if over:
            self.before = found[-1]
        return np.asarray(found)

    def to_rows(self) -> list[list[float]]:
        """Return the sum."""
        return [self.before.tolist()]
