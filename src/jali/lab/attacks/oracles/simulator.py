"""Simulate systems without a budget: counts and means with noise of a chosen law, as many as one likes.

`ERRORS` holds the errors of each kind of noise; the worst ones know the secret and the questions, and mislead an
attack within their bound. `StickyLayers` is noise as Diffix had it: the same question always has the same answer.
`DecoySimulator` is the instance on which the exponential adversary fares as badly as its theorem allows, and
`RationedOracle` answers a number of questions and then no more.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles, Members
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Condition, Conditions, Oracle, Refusal, Spent, Values
from jali.lab.attacks.oracles.generated_secrets import (
    GroupSeats,
    SeatedOracle,
    Secret,
    SecretOracle,
    UnprotectedOracle,
    VictimOracle,
    VictimTable,
)
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows, transform_hadamard
from jali.lab.attacks.subsets.random_subsets import Listed, read_subsets
from jali.lab.attacks.subsets.subset_operators import Subsets
from jali.numbers.search import greatest_integer
from jali.privacy import Adjacency

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


_ROUNDS = 300
_FIRST, _SHARE, _GROWTH = (
    7.0,
    0.75,
    1.03,
)  # Flips to begin with: 7 E^2, or three quarters; then 3 % more at a time.
_FARTHEST = 3.0  # In units of the bound: how far a decoy's counts may be from the secret's.


def choose_errors(bits: Bits, subsets: Subsets, bound: float, random: np.random.Generator) -> Doubles:
    """Return errors within a bound that lead an attack with these questions to a wrong guess."""
    if isinstance(subsets, HadamardRows) and len(subsets) == subsets.people > 1:
        return flip_bits(bits, bound, random)[subsets.order]
    return lure_to_decoy(bits, subsets, bound, random)


def lure_to_decoy(bits: Bits, subsets: Subsets, bound: float, random: np.random.Generator) -> Doubles:
    """Draw the answers towards the counts of a decoy, by as much as the bound allows.

    With z the counts of the decoy less those of the secret, the answers are moved by z cut off at the bound E. A
    point that has gone a part t of the way to the decoy is off by (1 - t) |z| where |z| <= E, and by |t |z| - E|
    beyond. If no |z| is above 3 E, the largest of these falls until t = 1/2 at least, where every bit begins to
    round to the decoy's; where most |z| are below E, sums of squares and of absolute values fall for it too. The
    decoy is as far from the secret as that allows, and has about as many ones, which keeps z small.
    """
    order = _alternate_values(bits, random)

    def stays_near(moved: int) -> bool:
        return bool(np.abs(_move_counts(bits, order[:moved], subsets)).max(initial=0.0) <= _FARTHEST * bound)

    near = greatest_integer(stays_near, 0, len(bits) + 1)
    return np.clip(_move_counts(bits, order[:near], subsets), -bound, bound)


def flip_bits(bits: Bits, bound: float, random: np.random.Generator) -> Doubles:
    """Return errors of the rows of a Hadamard matrix H, in Sylvester's order, that flip many bits.

    Errors e move the estimates by 2 H e / n (those of all but person 0), and a bit flips if it is moved by 1/2. So
    there are two sets to meet: the moves of errors within E, and the moves that flip at least k bits. H / sqrt(n)
    is orthogonal, so the nearest point of either is found at once: cut the errors off, or push on the k bits that
    are closest to flipping. Douglas and Rachford's iteration between the two finds a common point; then k grows.
    The squares of the moves sum to at most 4 E^2, which allows 16 E^2 flips; it finds 11 E^2 while these are few.
    """
    n = len(bits)
    wrong = 1.0 - 2.0 * bits
    wrong[0] = 0.0
    aim = max(1.0, min(_FIRST * bound**2, _SHARE * (n - 1)))
    point = np.where(random.random(n) < aim / n, 0.6 * wrong, 0.0)
    best, most = np.zeros(n), 0
    for _ in range(_ROUNDS):
        errors = np.clip(transform_hadamard(point) / 2, -bound, bound)
        moves = transform_hadamard(errors) * (2 / n)
        flips = int(np.count_nonzero(wrong * moves > 0.5))
        if flips > most:
            best, most = errors, flips
        if flips >= int(aim):
            aim = min(n - 1.0, max(aim + 1, aim * _GROWTH))
        point += _push_flips(2 * moves - point, wrong, int(aim)) - moves
    return best


def _push_flips(moves: Doubles, wrong: Doubles, count: int) -> Doubles:
    """Return the nearest moves that flip this many bits, by a little more than it takes."""
    progress = wrong * moves
    progress[0] = -np.inf  # Person 0 is in every subset, and is not moved like the others.
    last = len(progress) - count
    closest = progress >= np.partition(progress, last)[last]
    return np.where(closest & (progress < 0.505), 0.505 * wrong, moves)


def _alternate_values(bits: Bits, random: np.random.Generator) -> NDArray[np.int64]:
    """Put people in a random order in which zeros and ones take turns for as long as there are both."""
    turn = np.empty(len(bits), np.int64)
    for value in (0, 1):
        people = random.permutation(np.flatnonzero(bits == value))
        turn[people] = np.arange(len(people))
    return np.argsort(turn, kind="stable")


def _move_counts(bits: Bits, flipped: NDArray[np.int64], subsets: Subsets) -> Doubles:
    """Return by how much the counts move if some bits are flipped."""
    change = np.zeros(len(bits))
    change[flipped] = 1.0 - 2.0 * bits[flipped]
    return np.asarray(subsets.matvec(change), np.float64)


def _draw_none(_: Simulator, __: Subsets, counts: Doubles) -> Doubles:
    return np.zeros(len(counts))


def _draw_uniform(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.uniform(-place.noise.size, place.noise.size, len(counts))


def _draw_worst(place: Simulator, subsets: Subsets, _: Doubles) -> Doubles:
    return choose_errors(place.secret.bits, subsets, place.noise.size, place.random)


def _draw_gaussian(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.normal(0, place.noise.size, len(counts))


def _draw_laplace(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.laplace(0, place.noise.size, len(counts))


def _draw_geometric(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    """Draw from the discrete Laplace law: the difference of two geometric numbers."""
    if place.noise.size == 0:
        return np.zeros(len(counts))
    stop = -math.expm1(-1 / place.noise.size)
    up, down = place.random.geometric(stop, (2, len(counts)))
    return np.asarray(up - down, np.float64)


def _draw_layers(place: Simulator, subsets: Subsets, _: Doubles) -> Doubles:
    return draw_sticky_errors(place.secret.bits, subsets, place.noise.size, place.salt)


def _round_counts(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    if place.noise.size == 0:
        return np.zeros(len(counts))
    return np.round(counts / place.noise.size) * place.noise.size - counts


def _draw_garbage(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    """Replace a share of the answers by anything between 0 and n."""
    made_up = place.random.random(len(counts)) < place.noise.size
    return np.where(made_up, place.random.uniform(0, place.n, len(counts)) - counts, 0.0)


ERRORS: dict[str, Callable[[Simulator, Subsets, Doubles], Doubles]] = {
    "none": _draw_none,
    "uniform": _draw_uniform,
    "worst": _draw_worst,
    "gaussian": _draw_gaussian,
    "laplace": _draw_laplace,
    "geometric": _draw_geometric,
    "layers": _draw_layers,
    "rounding": _round_counts,
    "garbage": _draw_garbage,
}


@dataclass(frozen=True, eq=False)
class Simulator(UnprotectedOracle, SecretOracle):
    """Adds noise of a law to exact counts of generated bits."""

    secret: Secret
    noise: Noise
    random: np.random.Generator

    @classmethod
    def of(cls, *, n: int, noise: Noise, prior: float = 0.5, seed: int | None = None) -> Simulator:
        """Draw a secret to be asked about."""
        random = np.random.default_rng(seed)
        return cls(Secret.draw(n, random, prior), noise, random)

    @cached_property
    def salt(self) -> bytes:
        """What sticky noise depends on besides questions and people, drawn when it is first needed."""
        return self.random.bytes(32)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"a simulator with noise {self.noise}"

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions."""
        subsets = read_subsets(questions, self.n)
        counts = subsets.matvec(self.secret.bits.astype(np.float64))
        return np.asarray(counts, np.float64) + ERRORS[self.noise.kind](self, subsets, counts)


@dataclass(frozen=True, eq=False)
class DecoySimulator(Simulator):
    """Answers as if each of some people, the decoys, had half of the trait.

    Among d = 2 floor(2E) decoys, which are 4E where 2E is whole, half have the trait. A count is wrong by half the
    difference of those with and those without it among its decoys: at most d/4 <= E. All C(d, d/2) ways to give
    half of the decoys the trait have the same answers, nothing else is consistent with them, and the opposite
    of the secret on the decoys is wrong in d bits.

    The secret is the last of these ways by the order of the people, so that an attack that takes the first of what
    it cannot distinguish is wrong in all d.

    Attributes:
        decoys: Who they are.
    """

    decoys: Members

    @classmethod
    def of(cls, *, n: int, noise: Noise, prior: float = 0.5, seed: int | None = None) -> DecoySimulator:
        """Draw a secret and its decoys; at most all people, if their number is even."""
        random = np.random.default_rng(seed)
        secret = Secret.draw(n, random, prior)
        count = min(2 * math.floor(2 * noise.size), n - n % 2)
        chosen = np.sort(random.permutation(n)[:count])
        secret.bits[chosen] = np.arange(count) >= count // 2
        return cls(secret, noise, random, np.isin(np.arange(n), chosen))

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"an oracle with {np.count_nonzero(self.decoys)} decoys and errors up to {self.noise.size:g}"

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions."""
        subsets = read_subsets(questions, self.n)
        return np.asarray(subsets.matvec(np.where(self.decoys, 0.5, self.secret.bits)), np.float64)


@dataclass(frozen=True, eq=False)
class SimulatedMeans(UnprotectedOracle, SeatedOracle):
    """Publishes n times the mean of every attribute over the members, with independent noise."""

    seats: GroupSeats
    noise: Noise
    random: np.random.Generator

    @classmethod
    def of(cls, *, n: int, attributes: int, noise: Noise, seed: int | None = None) -> SimulatedMeans:
        """Draw a group to be asked about."""
        if noise.stddev is None:
            raise CatalogError("tracing-noise-wrong", noise=noise.kind)
        random = np.random.default_rng(seed)
        return cls(GroupSeats.draw(n, attributes, random), noise, random)

    @cached_property
    def _noisy(self) -> Simulator:
        """What draws the errors; sticky ones are the same for the same question."""
        return Simulator(self.seats.secret, self.noise, self.random)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"means of counts with noise {self.noise}" if self.noise.size else "exact means"

    def ask(self) -> Doubles:
        """Answer how many members have each attribute."""
        having = Listed.of(self.seats.members.T)
        counts = np.asarray(having.matvec(np.ones(self.n)), np.float64)
        return counts + ERRORS[self.noise.kind](self._noisy, having, counts)


@dataclass(frozen=True, eq=False)
class RationedOracle:
    """Passes the first questions to another oracle.

    Attributes:
        inner: The other one.
        most: How many questions it answers.
        refuses: Whether it says that it refuses the rest, as a ledger does; otherwise nobody asked them.
    """

    inner: Oracle
    most: int
    refuses: bool = False
    _asked: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"{self.inner.name}, {self.most:,} answers"

    @property
    def n(self) -> int:
        """How many people there are."""
        return self.inner.n

    @property
    def prior(self) -> float:
        """The probability that a bit is 1."""
        return self.inner.prior

    @property
    def noise(self) -> Noise:
        """The law of the noise."""
        return self.inner.noise

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the other oracle."""
        return self.inner.adjacency

    def ask(self, subsets: Subsets) -> Doubles:
        """Answer the first questions."""
        left = min(len(subsets), self.most - sum(self._asked))
        self._asked.append(left)
        return self.inner.ask(subsets.first(left)) if left else np.empty(0)

    def spent(self) -> Spent | None:
        """What the other oracle counts."""
        return self.inner.spent()

    def refusal(self) -> Refusal | None:
        """Return where it refuses."""
        return Refusal(sum(self._asked), "No more questions are answered.") if self.refuses else None

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self.inner.mark(guess)
