"""Sums in balanced digits: the best counter for pure loss, on streams that do not react to it.

Numbers are written in balanced digits, t = sum d_i k^i with |d_i| <= (k-1)/2 for an odd radix k.

Statement:
    Let r_0 = t and r_(i+1) = floor((r_i + (k-1)/2) / k): the number t / k^(i+1), rounded to the nearest. Then
    d_i = r_i - k r_(i+1) are the balanced digits of t, and no others are.
Proof:
    docs/proofs/balanced_digits.md, Lemma 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen, read_natural
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.intervals.weighted_sums import WeightedTerm, bound_weighted_quantile
from jali.mechanisms.lattice import add
from jali.mechanisms.workloads.linear_release import convert_to_doubles
from jali.mechanisms.workloads.workload import Floats
from jali.numbers.search import least_integer
from jali.privacy.rationals import Number
from jali.sampling import BitSource
from jali.streams.counter import Counter, Published
from jali.streams.noise_buffer import NoiseBuffer
from jali.streams.participation import Participation
from jali.streams.running_stream import Running, StreamState, running_sums

# Radices beyond the least that reaches the horizon with this many digits are hardly ever better; a few are tried.
_TRIED = 4


def levels_for(horizon: int, radix: int) -> int:
    """Return how many digits the numbers up to a horizon have: the least h with (k^h - 1) / 2 >= horizon."""
    levels, reached = 1, radix
    while reached // 2 < horizon:
        levels, reached = levels + 1, reached * radix
    return levels


def digits(number: int, radix: int) -> list[int]:
    """Return the digits of one number, lowest first.

    Example:
        >>> digits(14, 3)  # -1 - 3 - 9 + 27
        [-1, -1, -1, 1]
    """
    found = []
    while number:
        above = (number + radix // 2) // radix
        found.append(number - radix * above)
        number = above
    return found


def digit_sums(horizon: int, radix: int) -> NDArray[np.int64]:
    """Return the sum of the sizes of the digits of 1, 2, ..., horizon."""
    numbers = np.arange(1, horizon + 1)
    sums = np.zeros_like(numbers)
    for _ in range(levels_for(horizon, radix)):
        above = (numbers + radix // 2) // radix
        sums += np.abs(numbers - radix * above)
        numbers = above
    return sums


def total_of_digits(horizon: int, radix: int) -> int:
    """Return the sum of the sizes of all digits of 1, 2, ..., horizon, in closed form.

    Statement:
        With p = k^i, r_i is the floor of (t + (p-1)/2) / p: each value above 0 is taken by p numbers in a row, the
        last perhaps by fewer. Digit i is the lowest digit of r_i, and its size repeats with period k.
    """
    total, power = 0, 1
    for _ in range(levels_for(horizon, radix)):
        whole, rest = divmod(horizon + power // 2 + 1, power)
        total += power * _sizes_below(whole, radix) + rest * min(whole % radix, -whole % radix)
        power *= radix
    return total


def _sizes_below(count: int, radix: int) -> int:
    """Return the sum of the sizes of the lowest digits of 0, 1, ..., count - 1."""
    periods, rest = divmod(count, radix)
    half = radix // 2
    begun = (
        rest * (rest - 1) // 2 if rest <= half else half * (half + 1) - (radix - rest) * (radix - rest + 1) // 2
    )
    return periods * half * (half + 1) + begun


@lru_cache(maxsize=256)
def best_radix(horizon: int) -> int:
    """Return the radix with the least h^2 times the mean sum of digits: proportional to the mean squared error.

    Example:
        >>> best_radix(1 << 20)
        19
    """
    least = [_least_radix(horizon, levels) for levels in range(1, horizon.bit_length() + 2)]
    tried = {radix + 2 * more for radix in least for more in range(_TRIED)}
    return min(sorted(tried), key=lambda k: levels_for(horizon, k) ** 2 * total_of_digits(horizon, k))


def _least_radix(horizon: int, levels: int) -> int:
    """Return the least odd k of at least 3 with (k^levels - 1) / 2 >= horizon, by halving."""
    return 2 * least_integer(lambda half: (2 * half + 1) ** levels // 2 >= horizon, 0, horizon) + 1


# Sums below this size are machine words.
_WORD = 1 << 62


@dataclass(frozen=True, repr=False)
class BalancedDigits(Counter):
    """Add and subtract noises of a tree, as the digits of the tick say: Laplace noise, oblivious streams only.

    The number t of a tick is written with digits of both signs, t = sum d_i k^i with |d_i| <= (k-1)/2. The value
    after it is the exact sum, plus the noises of d_i nodes of k^i ticks each, for every i: taken away where d_i
    is below 0. Such nodes reach beyond the tick, so that their noise is used before their items are known: for
    streams whose increments do not depend on published values (`adaptive` is False).

    Args:
        horizon: For how many ticks the stream lives.
        epsilon: The loss of the whole stream.
        person: How one person may enter the stream, and when streams are neighbours.
        radix: The number k, odd and at least 3; by default the one with the least rms error over the horizon.

    Guarantee:
        All values of a stream that is fixed in advance are epsilon-DP together, for the neighbours that `person`
        describes.
    Proof:
        docs/proofs/balanced_digits.md, after Andersson, Pagh, Steiner and Torkamani 2025.

    Error:
        The value after tick t has |d_0| + |d_1| + ... independent noises of scale h d / epsilon, where h is the
        number of digits and d the L1 distance of neighbouring streams.

    Example:
        >>> from jali.streams import BalancedDigits, Participation
        >>> counter = BalancedDigits(horizon=1 << 20, epsilon=1, person=Participation(adjacency="add-remove"))
        >>> counter.radix, counter.levels, counter.adaptive
        (19, 5, False)
        >>> round(counter.largest, 1), round(counter.rms, 1)
        (46.8, 33.8)
    """

    tag: ClassVar[str] = "BalancedDigits"
    adaptive: ClassVar[bool] = False

    horizon: int
    epsilon: Fraction
    person: Participation
    radix: int

    rho = None  # no annotation, hence no field: with Gaussian noise other counters are always better

    def __init__(self, *, horizon: int, epsilon: Number, person: Participation, radix: int | None = None) -> None:
        self._read(horizon, epsilon, None, person)
        chosen = best_radix(self.horizon) if radix is None else read_natural(radix, "radix", least=3)
        if chosen % 2 == 0:
            raise MechanismError("radix-even", radix=chosen)
        self._fill(radix=chosen)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def levels(self) -> int:
        """The number of digits, h."""
        return levels_for(self.horizon, self.radix)

    @property
    def distance(self) -> tuple[Fraction, Fraction]:
        """A tick lies in one node of each level that is ever used, or in none."""
        entered = self.person.entered(self.horizon)
        return (
            self.levels * entered * self.person.weight,
            self.levels * entered * entered * self.person.squared_weight,
        )

    @cached_property
    def nodes(self) -> tuple[NDArray[np.int64], ...]:
        """The numbers of the nodes that are ever used, from 0, for each level from the leaves up."""
        found, last = [], self.horizon
        for _ in range(self.levels):
            found.append(_find_nodes_in_use(last, self.radix))
            last = (last + self.radix // 2) // self.radix
        return tuple(found)

    def strategy(self) -> NDArray[Any]:
        """Return a row for each node that is ever used: 1 for its ticks."""
        starts, stops = self._ends()
        ticks = np.arange(self.horizon)
        return ((starts[:, None] <= ticks) & (ticks < stops[:, None])).astype(np.int64)

    def measure(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Return differences of running sums."""
        sums = np.concatenate([increments[:1] * 0, running_sums(increments)])
        starts, stops = (np.minimum(ends, len(increments)) for ends in self._ends())
        return np.asarray(sums[stops] - sums[starts])

    def influence(self, tick: int) -> Floats:
        """As many noises as the digits say, each added or taken away."""
        written = digits(tick, self.radix)
        return np.concatenate([np.full(abs(digit), np.sign(digit), dtype=np.float64) for digit in written])

    def factors(self) -> Floats:
        """The sums of the sizes of the digits."""
        return digit_sums(self.horizon, self.radix).astype(np.float64)

    def error(self, confidence: float, *, tick: int | None = None) -> float:
        """Return what the error after one tick stays within; by default of the tick with the largest variance."""
        noises = self.influence(self.worst_tick if tick is None else self.numbered(tick))
        return bound_weighted_quantile([WeightedTerm(1.0, len(noises), self.law)], confidence)

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Add nodes up, and take away those beyond the tick: exactly, in integers."""
        numbers = np.arange(1, self.horizon + 1)
        total, start = np.zeros(self.horizon, np.int64), 0
        for used in self.nodes:
            above = (numbers + self.radix // 2) // self.radix
            sums = _sum_nodes(
                measurements[start : start + len(used)], used, int(max(numbers[-1], self.radix * above[-1]))
            )
            total = add(total, add(sums[numbers], -sums[self.radix * above]))
            numbers, start = above, start + len(used)
        return convert_to_doubles(total)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Published:
        """Publish a whole stream at once: all of its ticks, or the first of them."""
        increments = self.read(value)
        exact = self.measure(increments)
        noisy = add(exact, self.sampler.sample(exact.size, bits=bits))
        return Published(self.answer(noisy)[: len(increments)], noisy)

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        if kept is None:
            return _Digits.begin(self, noise)
        tables = [narrow(np.array(table, dtype=object)) for table in kept["tables"]]
        return _Digits(self, noise, kept["tick"], narrow(np.array(kept["sums"], dtype=object)), tables)

    def numbers_kept(self) -> int:
        """The exact sum, and the noises of one block for each level."""
        return 1 + self.levels * self.radix

    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first tick of every used node, from 0, and the first after it."""
        starts = [used * self.radix**level for level, used in enumerate(self.nodes)]
        stops = [(used + 1) * self.radix**level for level, used in enumerate(self.nodes)]
        return np.concatenate(starts), np.concatenate(stops)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person; with radix 3 the second tick takes a node away."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        return (
            Specimen(
                cls(horizon=2, epsilon=8, person=once, radix=3),
                once.adjacency,
                (((1, 0), (0, 0)), ((1, 0), (1, 1))),
            ),
            Specimen(cls(horizon=2, epsilon=3, person=moved, radix=5), moved.adjacency, (((1, 0), (0, 1)),)),
            Specimen(cls(horizon=2, epsilon=2, person=twice, radix=5), twice.adjacency, (((0, 0), (1, 1)),)),
        )


class _Digits(Running):
    """The exact sums, and for each level the noise that every digit adds in the block of the tick.

    Block b of a level has the nodes from k b - (k-1)/2 to k b + (k-1)/2 - 1: those between k b and the places that
    balanced digits can lead to from there. Its noises are drawn when the first tick comes to it, and not again.
    """

    counter: BalancedDigits

    def __init__(
        self,
        counter: BalancedDigits,
        noise: NoiseBuffer,
        tick: int,
        sums: NDArray[Any],
        tables: list[NDArray[Any]],
    ) -> None:
        self.counter, self.width, self.tick = counter, noise.width, tick
        self.radix, self.noise, self.sums, self.tables = counter.radix, noise, sums, tables
        self.blocks = self._blocks_at(tick)
        self.above = self._noise_above()
        self._line = self._write_noise()

    @classmethod
    def begin(cls, counter: BalancedDigits, noise: NoiseBuffer) -> _Digits:
        """Begin before the first tick, with the noises of the first block of each level."""
        tables = [_draw_blocks(noise, counter.radix, counter.levels, 1)[0] for _ in range(counter.levels)]
        return cls(counter, noise, 0, np.zeros(noise.width, np.int64), tables)

    def append(self, increment: Any) -> Any:
        """Pass one tick and return the noisy sum so far; plain integers of one key within a block go fast."""
        place = self._place(0, self.tick + 1)
        if self.width == 1 and place < self.radix and type(increment) is int and not self.exhausted:
            total = int(self.sums[0]) + increment
            if -_WORD < total < _WORD:
                self.sums, self.tick = np.array([total]), self.tick + 1
                return float(total + self._line[place])
        return super().append(increment)

    def advance(self, increments: NDArray[Any]) -> Published:
        """Add up exactly, and add what the digits of the ticks say."""
        rows = increments.reshape(len(increments), self.width)
        if not len(rows):
            return Published(np.zeros(increments.shape), increments)
        sums = add(running_sums(rows), self.sums)
        noisy = add(sums, self._noises(0, self.tick + 1, self.tick + len(rows)))
        self.sums, self.tick = sums[-1], self.tick + len(rows)
        self._line = self._write_noise()
        return Published(
            convert_to_doubles(noisy.ravel()).reshape(increments.shape), noisy.reshape(increments.shape)
        )

    def state(self) -> str:
        """Return the exact sums, the noises of the blocks of the tick, and those drawn ahead."""
        kept = {
            "tick": self.tick,
            "width": self.width,
            "ahead": self.noise.ahead,
            "left": self.noise.list_unused(),
        }
        tables = [table.tolist() for table in self.tables]
        return json.dumps({**kept, "sums": self.sums.tolist(), "tables": tables})

    def draw(self, level: int, first: int, count: int) -> NDArray[Any]:  # noqa: ARG002 - tests give noises by place
        """Return what the digits add in new blocks of a level: tables of shape (count, radix, width)."""
        return _draw_blocks(self.noise, self.radix, self.counter.levels, count)

    def _noises(self, level: int, first: int, last: int) -> NDArray[Any]:
        """Return the noise of this and all higher digits, for the numbers of a level from first to last."""
        place, known = self._place(level, first), self.blocks[level]
        begun: NDArray[Any] = self.tables[level][place : place + last - first + 1] + self.above[level]
        until = (last + self.radix // 2) // self.radix
        if until == known:
            return begun
        tables = self.draw(level, known + 1, until - known)
        above = self._noises(level + 1, known + 1, until)
        self.tables[level], self.blocks[level], self.above[level] = tables[-1], until, above[-1:]
        fresh = (tables + above[:, None, :]).reshape(-1, self.width)[: last - first + 1 - len(begun)]
        return np.concatenate([begun, fresh]) if len(begun) else fresh

    def _place(self, level: int, number: int) -> int:
        """Return where a number stands in the block of its level: from 0 to k - 1, or k if it begins the next."""
        return number + self.radix // 2 - self.radix * self.blocks[level]

    def _blocks_at(self, tick: int) -> list[int]:
        """Return the number of the block of each level."""
        blocks = []
        for _ in self.tables:
            tick = (tick + self.radix // 2) // self.radix
            blocks.append(tick)
        return blocks

    def _noise_above(self) -> list[NDArray[Any]]:
        """Return the noise of all digits above each level."""
        above = [np.zeros((1, self.width), np.int64)]
        for level in range(len(self.tables) - 1, 0, -1):
            place = self._place(level, self.blocks[level - 1])
            above.append(above[-1] + self.tables[level][place : place + 1])
        return above[::-1]

    def _write_noise(self) -> list[int]:
        """Return the noise of every tick of the block, as Python ints."""
        line: list[int] = (self.tables[0][:, 0] + self.above[0][0, 0]).tolist()
        return line


def _draw_blocks(noise: NoiseBuffer, radix: int, levels: int, count: int) -> NDArray[Any]:
    """Draw the noises of the nodes of new blocks, and return what each digit adds: below 0, taken away.

    Noises are added up once for all blocks; differences of such sums are exact even if the sums wrap around.
    """
    nodes = noise.take(count * (radix - 1))
    if nodes.dtype != object and max(int(nodes.max()), -int(nodes.min())) * radix * levels >= _WORD:
        nodes = nodes.astype(object)
    sums = np.zeros((len(nodes) + 1, noise.width), nodes.dtype)
    np.cumsum(nodes, axis=0, out=sums[1:])
    blocks = sliding_window_view(sums, radix, axis=0)[:: radix - 1].transpose(0, 2, 1)
    return np.asarray(blocks - blocks[:, radix // 2 : radix // 2 + 1])


def _find_nodes_in_use(last: int, radix: int) -> NDArray[np.int64]:
    """Return the nodes of a level that numbers from 1 to `last` use: from the nearest block's centre to them."""
    half = radix // 2
    nodes = np.arange(radix * ((last + half) // radix) + half)
    block, place = np.divmod(nodes + half, radix)
    begun = np.where(place >= half, nodes + 1, radix * block - half)
    return nodes[(place < radix - 1) & (begun <= last)]


def _sum_nodes(measurements: NDArray[Any], used: NDArray[np.int64], count: int) -> NDArray[Any]:
    """Return running sums over all nodes of a level, from 0, where those never used are 0."""
    nodes = np.zeros(count + 1, measurements.dtype)
    nodes[used + 1] = measurements
    return running_sums(nodes)
