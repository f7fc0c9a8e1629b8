"""Interception: all randomness of the package is replaced, and what would have met it is written down.

Samplers give numbers that the data has no part in; what comes back to the caller is checked to be the exact number
and this noise, and is then replaced by a constant. So whatever else differs between two runs has leaked past the
noise. A sampler that is reached from anywhere else, and every random bit, is an error: nothing is drawn unseen.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.loss.chosen import Threshold, decimal
from tests.loss.marks import Aim
from tests.loss.seen import Choice, Draw, Joint, Noise, Pick, Quantile

import jali.mechanisms.additive.l_infinity
import jali.mechanisms.partition_selection.optimal_keys
import jali.mechanisms.partition_selection.thresholded_counts
from jali.sampling.cube_radius import CubeRadius

# Far above every threshold, so that a noisy count passes.
_FAR = 1 << 40
_RADIUS = 1 << 20
# To so many bits the chances of coins are read.
_BITS = 320


@dataclass
class _Sampled:
    """One call of a sampler: its law, and what it gave."""

    kind: str
    law: Any
    gave: Any


@dataclass
class Watch:
    """What was seen since `begin`.

    Attributes:
        draws: One for each plan that was drawn.
        bits: How often random bits were asked for; it stays 0.
    """

    draws: list[Draw] = field(default_factory=list)
    _inner: list[_Sampled] | None = None
    _forced: Any = None

    def begin(self) -> None:
        """Forget what was seen."""
        self.draws = []

    # Samplers.

    def _give(self, kind: str, law: Any, size: int) -> np.ndarray:
        """Give different numbers that nothing of the data is in."""
        gave = np.arange(size, dtype=np.int64) * 7919 + _FAR if self._forced is None else self._forced
        assert len(gave) == size, "another number of noises than were expected"
        self._note(_Sampled(kind, law, gave))
        return np.array(gave, dtype=np.int64)

    def _note(self, sampled: _Sampled) -> None:
        assert self._inner is not None, f"{sampled.kind} noise is drawn where none is expected"
        self._inner.append(sampled)

    def _within(self, run: Callable[[], Any], forced: Any = None) -> tuple[Any, list[_Sampled]]:
        """Run something, and return what samplers did in it."""
        assert self._inner is None or forced is not None, "noise within noise"
        before, self._inner, self._forced = (self._inner, self._forced), [], forced
        try:
            return run(), self._inner
        finally:
            self._inner, self._forced = before

    # Releases.

    def release_integers(self, kind: str, honest: Any, mechanism: Any, values: np.ndarray) -> np.ndarray:
        """Independent noise on integers."""
        noisy, sampled = self._within(lambda: honest(mechanism, values))
        (one,) = sampled
        assert one.kind == kind
        exact, added = [int(value) for value in values.ravel()], one.gave.tolist()
        assert [int(n) for n in noisy.ravel()] == [a + b for a, b in zip(exact, added, strict=True)], "other noise"
        self._draw.calls.append(Noise(kind, one.law, tuple(exact)))
        return np.array(self._constants(len(exact)), dtype=object).reshape(noisy.shape)

    def together(self, honest: Any, part: Any, rows: Any, first: int) -> dict[int, tuple[int, ...]]:
        """Joint noise on the rows of several measures."""
        noisy, sampled = self._within(lambda: honest(part, rows, first))
        if not sampled:
            assert not any(noisy.values()), "joint numbers without noise"
            return dict(noisy)
        (one,) = sampled
        (dimension, rate), noise = one.law, one.gave
        places = {i: part.mechanisms[i].place for i in noisy}
        assert sorted(places.values()) == list(range(dimension)) == list(range(noise.shape[1])), (
            "a noise used twice"
        )
        columns = [[n - z for n, z in zip(noisy[i], noise[:, p].tolist(), strict=True)] for i, p in places.items()]
        self._draw.calls.append(Joint(rate, tuple(zip(*columns, strict=True))))
        return {i: tuple(self._constants(len(noisy[i]))) for i in noisy}

    def cube(self, honest: Any, mechanism: Any, rows: int, columns: int) -> Any:
        """The noise of so many cubes: a radius each, then points that are uniform in them."""
        radii: list[tuple[int, Fraction]] = []

        def radius(law: CubeRadius, size: int, *, bits: Any = None) -> np.ndarray:
            radii.append((law.dimension, law.rate))
            assert size == rows
            return np.full(size, _RADIUS, np.int64)

        points = np.arange(rows * columns, dtype=np.int64) * 31 % (2 * _RADIUS + 1)

        def uniform(bounds: np.ndarray, *, bits: Any = None) -> np.ndarray:
            assert (bounds == 2 * _RADIUS + 1).all()
            assert bounds.shape == points.shape
            return points.copy()

        with (
            patch.object(CubeRadius, "draw", radius),
            patch.object(jali.mechanisms.additive.l_infinity, "uniform_below_each", uniform),
        ):
            noise = honest(mechanism, rows, columns)
        assert (noise == (points - _RADIUS).reshape(rows, columns)).all(), "not the noise of a cube"
        (law,) = radii
        self._note(_Sampled("cube", law, noise))
        return noise

    def quantile(self, honest: Any, mechanism: Any, value: Any) -> int:
        """One mark near a quantile."""
        released, sampled = self._within(lambda: honest(mechanism, value))
        (one,) = sampled
        ranks, rate = one.law
        assert released == one.gave, "another mark than was drawn"
        column = tuple(sorted((int(m), int(w)) for m, w in zip(*value, strict=True)))
        aim = Aim(mechanism.at, mechanism.offset, mechanism.window, ranks.first, ranks.last)
        self._draw.calls.append(Quantile(one.kind, rate, aim, column, ranks, id(mechanism)))
        return int(released)

    def mark(self, kind: str, law: Any) -> int:
        """Give one mark."""
        gave = (int(law.ranks.first) + int(law.ranks.last)) // 3
        self._note(_Sampled(kind, (law.ranks, law.rate), gave))
        return gave

    def pick(self, honest: Any, mechanism: Any, value: Any) -> int:
        """One candidate."""
        released, sampled = self._within(lambda: honest(mechanism, value))
        (one,) = sampled
        assert released == one.gave
        assert len(one.law) == len(value)
        self._draw.calls.append(Pick(one.kind, one.law, mechanism.scale, id(mechanism)))
        return int(released)

    def place(self, kind: str, exponents: Any) -> np.ndarray:
        """Give one place, the same whatever the exponents are."""
        gave = len(exponents) // 2
        law = tuple(exponents.exact(i) for i in range(len(exponents)))
        self._note(_Sampled(kind, law, gave))
        return np.array([gave], dtype=np.intp)

    # Groups.

    def choose(self, honest: Any, mechanism: Any, counts: np.ndarray) -> np.ndarray:
        """Coins: show all groups that may be shown."""
        tossed: list[Fraction] = []

        def toss(kinds: Any, bounds: Any, bits: Any, **_: Any) -> np.ndarray:
            tossed.extend(Fraction(sum(bounds(int(kind), _BITS)), 2 << _BITS) for kind in kinds)
            return np.full(len(kinds), answer, np.bool_)

        with patch.object(jali.mechanisms.partition_selection.optimal_keys, "draw_by_kind", toss):
            answer = True
            able = np.asarray(honest(mechanism, counts))
            answer, chances = False, iter(tuple(tossed))
            sure = np.asarray(honest(mechanism, counts))
        people = tuple(int(count) for count in counts[able])
        found = tuple(decimal(1 if s else next(chances)) for a, s in zip(able, sure, strict=True) if a)
        assert next(chances, None) is None, "a coin for a group that is not shown"
        self._chose(Choice(("coins",), found, people))
        return able

    def tell(self, honest: Any, mechanism: Any, counts: np.ndarray) -> Any:
        """Noisy counts: show all groups that may be shown."""
        (able, noisy), sampled = self._within(lambda: honest(mechanism, counts))
        (one,) = sampled
        people = tuple(int(count) for count in counts[able])
        assert noisy.tolist() == [n + z for n, z in zip(people, one.gave[able].tolist(), strict=True)], (
            "other noise"
        )
        threshold = self._threshold(honest, mechanism, one)
        self._chose(Choice(("told", threshold), tuple(map(threshold.shown, people)), people, threshold))
        return able, np.full(len(people), 100, np.int64)

    def _threshold(self, honest: Any, mechanism: Any, seen: _Sampled) -> Threshold:
        """Find out by trying which noisy counts of a large group pass, and which by a coin of what chance."""
        coins: list[Fraction] = []

        def coin(chance: Fraction, size: int, *, bits: Any = None) -> np.ndarray:
            coins.extend([chance] * size)
            return np.zeros(size, np.bool_)

        large, claimed = 1 << 50, int(mechanism.threshold)
        tried = np.array([*range(claimed - 300, claimed + 300), -(1 << 45), 1 << 45], dtype=np.int64)
        with patch.object(jali.mechanisms.partition_selection.thresholded_counts, "bernoulli", coin):
            counts = np.full(len(tried), large, np.int64)
            (passed, _), sampled = self._within(lambda: honest(mechanism, counts), tried - large)
        assert [(one.kind, one.law) for one in sampled] == [(seen.kind, seen.law)]
        told = sorted(tried[passed].tolist())
        assert told == sorted(t for t in tried.tolist() if t >= told[0]), "no threshold"
        assert len(coins) <= 1
        return Threshold(seen.kind, seen.law, told[0], coins[0] if coins else Fraction(0))

    def _chose(self, choice: Choice) -> None:
        assert self._draw.choice is None, "groups are chosen twice"
        assert not self._draw.calls, "something is released before the groups are chosen"
        self._draw.choice = choice

    def public_order(self, honest: Any, keys: Any) -> list[Any]:
        """The chosen groups, and the order in which they leave."""
        found: list[Any] = honest(keys)
        choice = self._draw.choice
        assert choice is not None
        choice.names, self._draw.order = tuple(map(repr, keys)), tuple(map(repr, found))
        assert len(set(choice.names)) == len(choice.people), "two groups of one name"
        assert sorted(choice.names) == sorted(self._draw.order)
        return found

    # Plans.

    def draw(self, honest: Any, plan: Any, run: Any) -> Any:
        """Everything that one plan draws."""
        self.draws.append(Draw())
        found = honest(plan, run)
        choice = self._draw.choice
        if choice is not None and not choice.names:
            assert len(choice.people) <= 1
            choice.names = self._draw.order = ("()",) * len(choice.people)
        return found

    @property
    def _draw(self) -> Draw:
        assert self.draws, "noise is drawn outside of a plan"
        return self.draws[-1]

    def _constants(self, size: int) -> list[int]:
        """Return numbers that depend on places alone; of chosen groups, on their names."""
        order = self._draw.order or ("()",)
        if self._draw.choice is None or not size:
            return [41 + 3 * i % 4001 for i in range(size)]
        width, rest = divmod(size, len(order))
        assert not rest, "other numbers than one or more for each chosen group"
        return [41 + 3 * i % 4001 + zlib.crc32(name.encode()) % 997 for name in order for i in range(width)]
