"""The noises of a question: which of them depend on each other, and tails of linear forms in all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from jali.mechanisms.cube_tails import coordinate_reach, cube_tail
from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.laws.coordinate import CoordinateLaw
from jali.mechanisms.laws.cube import CubeLaw
from jali.mechanisms.laws.worst import Floats
from jali.mechanisms.tails import Tail, laplace_tail, normal_tail, sum_tail

NoiseLaw: TypeAlias = DiscreteLaplaceLaw | DiscreteGaussianLaw | CoordinateLaw
# Below this rate exp(rate) is close enough to 1, and above this one there is hardly any noise.
_FINE, _STEEP = Fraction(1, 1024), Fraction(64)


@dataclass(frozen=True)
class Independent:
    """Independent noises of one family, each with its scale (Laplace) or standard deviation (Gaussian).

    The integer noise lies within 1 of a continuous one.
    """

    spreads: tuple[float, ...]
    gaussian: bool

    slack = 1.0
    excess = 1.0

    def tail(self, sizes: Sequence[Floats], t: Floats) -> Floats:
        """Return the tail of a form in the continuous noises, of these absolute coefficients."""
        scales = [size * spread for size, spread in zip(sizes, self.spreads, strict=True)]
        return normal_tail(scales, t) if self.gaussian else laplace_tail(scales, t)

    def deviation(self, sizes: Sequence[Floats]) -> Floats:
        """Return the standard deviation of such a form."""
        scales = (size * spread for size, spread in zip(sizes, self.spreads, strict=True))
        return np.asarray(np.sqrt((1 if self.gaussian else 2) * sum(s * s for s in scales)))

    def reach(self, allowed: float) -> list[float]:
        """Return per noise a t that the continuous noise exceeds with probability at most `allowed`."""
        far = -NormalDist().inv_cdf(allowed / 2) if self.gaussian else -math.log(allowed)
        return [spread * far * (1 + 1e-9) for spread in self.spreads]

    def only(self, places: Sequence[int]) -> Independent:
        """Return some of the noises."""
        return Independent(tuple(self.spreads[place] for place in places), self.gaussian)


@dataclass(frozen=True)
class OneCube:
    """Some coordinates of one cube.

    A form in them exceeds t at most `excess` times as often as the same form in continuous ones t - sum |c_i|/2.
    """

    cube: CubeLaw
    count: int

    slack = 0.5

    @property
    def rate(self) -> float:
        """The cube's rate; a law that is hardly any noise is read as a wider one."""
        return float(min(self.cube.rate, _STEEP))

    @property
    def excess(self) -> float:
        """The most that a mass can be over that of the continuous noise in the point's cell."""
        return _excess(self.cube.dimension, min(self.cube.rate, _STEEP))

    def tail(self, sizes: Sequence[Floats], t: Floats) -> Floats:
        """Return the tail of a form in the continuous coordinates, of these absolute coefficients."""
        return cube_tail(self.cube.dimension, sizes, t * self.rate)

    def deviation(self, sizes: Sequence[Floats]) -> Floats:
        """Return the standard deviation of such a form: coordinates are not correlated."""
        d = self.cube.dimension
        return np.asarray(np.sqrt((d + 1) * (d + 2) / 3 * sum(s * s for s in sizes)) / self.rate)

    def reach(self, allowed: float) -> list[float]:
        """Return per coordinate a t that the continuous one exceeds with probability at most `allowed`."""
        return [coordinate_reach(self.cube.dimension, allowed) / self.rate * (1 + 1e-9)] * self.count

    def only(self, places: Sequence[int]) -> OneCube:
        """Return some of the coordinates."""
        return OneCube(self.cube, len(places))


class Block(NamedTuple):
    """Noises that are independent of all others, and their places in a form."""

    noises: Independent | OneCube
    places: tuple[int, ...]


@dataclass(frozen=True)
class Noises:
    """All noises of a form, in independent blocks.

    Statement:
        For a form with coefficients c, Pr[|form| >= t] is at most the product of the blocks' excesses times the
        tail of a sum of independent continuous forms, at t less the sum of |c_i| times the slack of its block.
    Proof:
        docs/proofs/intervals.md, part 2.
    """

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, laws: Sequence[NoiseLaw]) -> Noises:
        """Read the noises of a question; coordinates of equal cubes at different places are of one draw."""
        blocks = [_family(laws, gaussian=False), _family(laws, gaussian=True), *_cubes(laws)]
        return cls(tuple(block for block in blocks if block.places))

    def tail(self, coefficients: Sequence[Floats], threshold: Floats) -> Floats:
        """Return an upper bound on Pr[|sum c_i X_i| >= threshold], elementwise over arrays of coefficients."""
        sizes = [np.abs(c) for c in coefficients]
        parts = [(noises, [sizes[place] for place in places]) for noises, places in self.blocks]
        beyond = np.maximum(0.0, threshold - sum(noises.slack * sum(own) for noises, own in parts))
        # A block without a part in the form is left out; without any, one of them says that there is no noise.
        parts = [part for part in parts if any(size.any() for size in part[1])] or parts[:1]
        tails: list[Tail] = [partial(noises.tail, own) for noises, own in parts]
        if len(tails) == 1:
            smooth = tails[0](beyond)
        else:
            smooth = sum_tail(tails, [noises.deviation(own) for noises, own in parts], beyond)
        return np.minimum(1.0, self._excess * smooth)

    @property
    def _excess(self) -> float:
        return math.prod(noises.excess for noises, _ in self.blocks)

    def reach(self, allowed: float) -> Floats:
        """Return per noise a t with Pr[|noise| >= t] <= allowed: a norm of the unit vectors, slack included."""
        found = np.zeros(sum(len(block.places) for block in self.blocks))
        for noises, places in self.blocks:
            found[list(places)] = np.array(noises.reach(allowed / self._excess)) + noises.slack
        return found

    def only(self, used: Sequence[int]) -> Noises:
        """Return some of the noises, in this order."""
        rank = {place: i for i, place in enumerate(used)}
        blocks = []
        for noises, places in self.blocks:
            kept = [i for i, place in enumerate(places) if place in rank]
            blocks.append(Block(noises.only(kept), tuple(rank[places[i]] for i in kept)))
        return Noises(tuple(block for block in blocks if block.places))


@lru_cache(maxsize=64)
def _excess(dimension: int, rate: Fraction) -> float:
    """Return exp(rate/2) times the integral of exp(-rate max|y_i|) over its sum; at most exp(rate)."""
    if rate <= _FINE:
        return math.exp(rate)
    integral = dimension * math.log(2 / rate) + math.lgamma(dimension + 1)
    exponent = float(rate) / 2 + integral - CubeLaw(dimension, rate).log_normaliser
    return math.exp(min(float(rate), exponent)) * (1 + 1e-9)


def _family(laws: Sequence[NoiseLaw], *, gaussian: bool) -> Block:
    kind = DiscreteGaussianLaw if gaussian else DiscreteLaplaceLaw
    places = tuple(i for i, law in enumerate(laws) if isinstance(law, kind))
    return Block(Independent(tuple(_spread(laws[i]) for i in places), gaussian), places)


def _spread(law: NoiseLaw) -> float:
    if isinstance(law, CoordinateLaw):
        return law.stddev
    return law.sigma if isinstance(law, DiscreteGaussianLaw) else float(law.scale)


def _cubes(laws: Sequence[NoiseLaw]) -> list[Block]:
    """Gather the coordinates of each draw; a place that comes again in an equal cube is of another draw."""
    draws: dict[tuple[CubeLaw, int], list[int]] = {}
    seen: dict[CoordinateLaw, int] = {}
    for i, law in enumerate(laws):
        if isinstance(law, CoordinateLaw):
            again = seen[law] = seen.get(law, -1) + 1
            draws.setdefault((law.cube, again), []).append(i)
    return [Block(OneCube(cube, len(places)), tuple(places)) for (cube, _), places in draws.items()]
