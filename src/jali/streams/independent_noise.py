"""Independent noise for every prefix or for every item: the two simple programs of the lecture on partial sums."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.base import Specimen
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.lattice import add
from jali.mechanisms.workloads.linear_release import convert_to_doubles
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.counter import Counter, Published
from jali.streams.noise_buffer import NoiseBuffer
from jali.streams.participation import Participation
from jali.streams.running_stream import Running, StreamState, running_sums


@dataclass(frozen=True, repr=False)
class EveryItem(Counter):
    """Add noise to the increment of every tick, once; the running sums are post-processing.

    Args:
        horizon: For how many ticks the stream lives.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.

    Guarantee:
        All values together are epsilon-DP (rho-zCDP) for the neighbours that `person` describes; increments may
        depend on values published before.
    Proof:
        docs/proofs/every_item.md.

    Error:
        The noises of t increments add up: the standard deviation after tick t is sqrt(t) times that of one.

    Example:
        >>> from jali.streams import EveryItem, Participation
        >>> counter = EveryItem(horizon=100, epsilon=1, person=Participation(adjacency="add-remove"))
        >>> round(counter.stddev(100), 2)
        13.57
        >>> len(counter.start().extend([1] * 100))
        100
    """

    tag: ClassVar[str] = "EveryItem"

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation

    def __init__(
        self, *, horizon: int, epsilon: Number | None = None, rho: Number | None = None, person: Participation
    ) -> None:
        self._read(horizon, epsilon, rho, person)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def distance(self) -> tuple[Fraction, Fraction]:
        """One measurement for each tick that one person enters."""
        entered = self.person.entered(self.horizon)
        return entered * self.person.weight, entered * self.person.squared_weight

    def strategy(self) -> NDArray[Any]:
        """Return the identity."""
        return np.eye(self.horizon, dtype=np.int64)

    def influence(self, tick: int) -> Floats:
        """Every noise so far enters as it is."""
        return np.ones(tick)

    def factors(self) -> Floats:
        """After tick t, t noises."""
        return np.arange(1.0, self.horizon + 1)

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Add up the noisy increments."""
        return convert_to_doubles(running_sums(measurements))

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        return _IndependentSums(self, noise, kept)

    def numbers_kept(self) -> int:
        """The noisy sum."""
        return 1

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: present or not, or at another tick."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        return (
            Specimen(
                cls(horizon=2, epsilon="1/2", person=once), once.adjacency, (((1, 0), (0, 0)), ((1, 0), (1, 1)))
            ),
            Specimen(cls(horizon=2, epsilon=2, person=moved), moved.adjacency, (((1, 0), (0, 1)),)),
            Specimen(cls(horizon=2, rho="1/2", person=twice), twice.adjacency, (((0, 0), (1, 1)),)),
        )


@dataclass(frozen=True, repr=False)
class EveryPrefix(Counter):
    """Add fresh noise to every running sum.

    It is here for comparison: one person is in up to as many running sums as there are ticks, and every one of
    them is paid for.

    Args:
        horizon: For how many ticks the stream lives.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.

    Guarantee:
        All values together are epsilon-DP (rho-zCDP) for the neighbours that `person` describes; increments may
        depend on values published before. With noise of scale b the loss is horizon/b for a person in one tick,
        and no less.
    Proof:
        docs/proofs/every_prefix.md.

    Error:
        One noise in every value. For one tick its scale is horizon/epsilon, its variance horizon/(2 rho).

    Example:
        >>> from jali.streams import EveryPrefix, Participation
        >>> counter = EveryPrefix(horizon=100, epsilon=1, person=Participation(adjacency="add-remove"))
        >>> round(counter.stddev(1), 1), round(counter.stddev(100), 1)
        (141.4, 141.4)
        >>> len(counter.start().extend([1] * 100))
        100
    """

    tag: ClassVar[str] = "EveryPrefix"

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation

    def __init__(
        self, *, horizon: int, epsilon: Number | None = None, rho: Number | None = None, person: Participation
    ) -> None:
        self._read(horizon, epsilon, rho, person)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def distance(self) -> tuple[Fraction, Fraction]:
        """The earliest pattern moves most: k of a person's ticks are in the running sums from the k-th on."""
        ticks = self.person.pattern(self.horizon)
        first = sum(self.horizon - tick for tick in ticks)
        # With k ticks passed a sum has moved by k, and k^2 - (k-1)^2 = 2k - 1.
        second = sum((2 * k + 1) * (self.horizon - tick) for k, tick in enumerate(ticks))
        return first * self.person.weight, second * self.person.squared_weight

    def strategy(self) -> NDArray[Any]:
        """Return the lower triangle of ones."""
        return np.tri(self.horizon, dtype=np.int64)

    def influence(self, tick: int) -> Floats:  # noqa: ARG002 - it is the same for all
        """Each value has a noise of its own."""
        return np.ones(1)

    def factors(self) -> Floats:
        """One noise in every value."""
        return np.ones(self.horizon)

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """The measurements are the values."""
        return convert_to_doubles(measurements)

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        return _IndependentSums(self, noise, kept)

    def numbers_kept(self) -> int:
        """The exact sum."""
        return 1

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: present or not, or with other increments."""
        once, twice = Participation(adjacency="add-remove"), Participation(adjacency="add-remove", ticks=2)
        signed = Participation(adjacency="replace-one", signed=True)
        return (
            Specimen(cls(horizon=2, epsilon=1, person=once), once.adjacency, (((1, 0), (0, 0)), ((1, 0), (1, 1)))),
            Specimen(cls(horizon=2, epsilon=3, person=signed), signed.adjacency, (((1, 0), (-1, 0)),)),
            Specimen(cls(horizon=2, rho="1/2", person=twice), twice.adjacency, (((0, 0), (1, 1)),)),
        )


class _IndependentSums(Running):
    """The sums so far, noisy ones of `EveryItem` and exact ones of `EveryPrefix`."""

    def __init__(self, counter: EveryItem | EveryPrefix, noise: NoiseBuffer, kept: StreamState | None) -> None:
        self.counter, self.width, self.noise = counter, noise.width, noise
        self.tick = 0 if kept is None else kept["tick"]
        self.sums = (
            np.zeros(self.width, np.int64) if kept is None else narrow(np.array(kept["sums"], dtype=object))
        )

    def advance(self, increments: NDArray[Any]) -> Published:
        """Add noise to each increment and add them up; or add up exactly, and add noise to each sum."""
        rows = increments.reshape(len(increments), self.width)
        noise = self.noise.take(len(rows))
        items = add(rows, noise) if isinstance(self.counter, EveryItem) else rows
        sums = add(running_sums(items), np.broadcast_to(self.sums, rows.shape))
        noisy, values = (items, sums) if isinstance(self.counter, EveryItem) else (add(sums, noise),) * 2
        self.sums, self.tick = sums[-1].copy() if len(sums) else self.sums, self.tick + len(rows)
        return Published(
            convert_to_doubles(values.ravel()).reshape(increments.shape), noisy.reshape(increments.shape)
        )

    def state(self) -> str:
        """Return the sums and the noise drawn ahead."""
        kept = {"tick": self.tick, "width": self.width, "ahead": self.noise.ahead}
        return json.dumps({**kept, "sums": self.sums.tolist(), "left": self.noise.list_unused()})
