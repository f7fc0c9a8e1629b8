"""Simulate sticky noise in layers, as Diffix had it: the same question always has the same answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Condition, Conditions, Values
from jali.lab.attacks.oracles.generated_secrets import VictimTable
from jali.lab.attacks.oracles.oracle_bases import UnprotectedOracle, VictimOracle
from jali.lab.attacks.subsets.subset_operators import Subsets

_NORMAL = NormalDist()
# So that neither 0 nor 1 is drawn, which have no quantile.
_DIGEST_BITS = 52


@dataclass(frozen=True, eq=False)
class StickyLayers(UnprotectedOracle, VictimOracle):
    """Counts with two normal layers for each condition: one seeded by it, one by it and by who is counted.

    Rules against small counts, rounding and the adjustment of outliers are left out: in a `VictimTable` no count
    is small, and every row is a person.

    Attributes:
        crowd: The table.
        noise: The standard deviation of a layer.
        salt: What keeps the seeds from the analysts.
    """

    crowd: VictimTable
    noise: Noise
    salt: bytes

    @classmethod
    def of(cls, *, n: int, columns: int, noise: Noise, seed: int | None = None) -> StickyLayers:
        """Draw a table to be asked about."""
        if noise.kind != "layers":
            raise CatalogError("attack-noise-not-sticky", noise=noise.kind)
        random = np.random.default_rng(seed)
        return cls(VictimTable.draw(n, columns, random), noise, random.bytes(32))

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"a system with sticky noise {self.noise}"

    def ask(self, questions: Sequence[Conditions]) -> Doubles:
        """Answer all questions."""
        return np.array([self._answer(question) for question in questions], np.float64)

    def _answer(self, conditions: Conditions) -> float:
        people = self._find_people(conditions)
        counted = people.tobytes()
        static = sum(draw_layer(self.salt, str(one)) for one in conditions)
        dynamic = sum(draw_layer(self.salt, str(one), counted) for one in conditions)
        return len(people) + self.noise.size * (static + dynamic)

    def _find_people(self, conditions: Conditions) -> NDArray[np.int64]:
        """Return who meets all conditions, in their order."""
        first, *others = sorted(conditions, key=self._estimate_size)
        people = self._find_people_with(first)
        for one in others:
            people = people[(self.crowd.rows[people, one.column] == one.value) == one.equal]
        return people

    def _estimate_size(self, condition: Condition) -> int:
        return len(self._find_people_with(condition)) if condition.equal else len(self.crowd.rows)

    def _find_people_with(self, condition: Condition) -> NDArray[np.int64]:
        """Return who meets one condition."""
        if not condition.equal:
            return np.flatnonzero(self.crowd.rows[:, condition.column] != condition.value)
        order, values = self._index[condition.column]
        low, high = np.searchsorted(values, [condition.value, condition.value + 1])
        return order[low:high]

    @cached_property
    def _index(self) -> list[tuple[NDArray[np.int64], Values]]:
        """For each column the rows in the order of their values, and these values."""
        orders = [np.argsort(column, kind="stable") for column in self.crowd.rows.T]
        return [(order, self.crowd.rows[order, place]) for place, order in enumerate(orders)]


def draw_sticky_errors(bits: Bits, subsets: Subsets, size: float, salt: bytes) -> Doubles:
    """Return the errors of counts over subsets, each of which is one condition: the same for the same subset."""
    errors = []
    for members in subsets.rows():
        condition, counted = np.packbits(members).tobytes(), np.packbits(members & (bits == 1)).tobytes()
        errors.append(draw_layer(salt, condition) + draw_layer(salt, condition, counted))
    return size * np.array(errors, np.float64)


def draw_layer(salt: bytes, *seeds: str | bytes) -> float:
    """Return a normal number that depends on nothing but a salt and seeds."""
    digest = hashlib.blake2b(key=salt, digest_size=8)
    for seed in seeds:
        part = seed.encode() if isinstance(seed, str) else seed
        digest.update(len(part).to_bytes(8, "big") + part)
    drawn = int.from_bytes(digest.digest(), "big") >> (64 - _DIGEST_BITS)
    return _NORMAL.inv_cdf((drawn + 0.5) / 2**_DIGEST_BITS)
