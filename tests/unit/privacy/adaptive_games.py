"""Games between an adversary and a filter or an odometer, played out exactly: every transcript, in rationals.

A mechanism is known by the laws of its answer on two neighbours x and x'. The adversary chooses each mechanism
after seeing all earlier answers. `damage` and `crossing` try every strategy over a menu, so what they return is
the worst that any adversary can do with that menu.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from typing import Protocol, TypeVar

from jali.privacy.event import NOTHING, Event
from jali.privacy.filters import Rule
from jali.privacy.loss import Loss
from jali.privacy.losses.finite_mechanism import Finite

Law = tuple[Fraction, ...]
Spent = TypeVar("Spent", bound=Hashable)


@dataclass(frozen=True)
class Mechanism:
    """The laws of the answer on x and on x', and the loss that is charged."""

    p: Law
    q: Law
    loss: Loss

    @cached_property
    def event(self) -> Event:
        return self.loss.event

    @property
    def swapped(self) -> Mechanism:
        return Mechanism(self.q, self.p, self.loss)


def pair(p: Law, q: Law) -> Mechanism:
    return Mechanism(p, q, Finite.from_pair(p, q))


def response(odds: Fraction | int, weight: Fraction | int = 1) -> Mechanism:
    """Randomized response whose truth has these odds; with probability 1 - weight it says nothing."""
    lie, rest = Fraction(weight) / (1 + odds), Fraction(1 - weight)
    truth = odds * lie
    return pair((truth, lie, rest), (lie, truth, rest)) if rest else pair((truth, lie), (lie, truth))


def leak(chance: Fraction) -> Mechanism:
    """Tell everything with this probability, nothing otherwise."""
    p, q = (1 - chance, chance, Fraction(0)), (1 - chance, Fraction(0), chance)
    return Mechanism(p, q, Finite.from_pair(p, q).at(chance))


class Gate(Protocol[Spent]):
    """A filter, right or wrong: what it remembers, whether it admits, and what it remembers then."""

    @property
    def start(self) -> Spent: ...
    def admits(self, spent: Spent, mechanism: Mechanism) -> bool: ...
    def add(self, spent: Spent, mechanism: Mechanism) -> Spent: ...


@dataclass(frozen=True)
class Sums:
    """The gate of a rule on sums of events."""

    rule: Rule
    start: Event = NOTHING

    def admits(self, spent: Event, mechanism: Mechanism) -> bool:
        return self.rule.admits(spent, mechanism.event)

    def add(self, spent: Event, mechanism: Mechanism) -> Event:
        return spent + mechanism.event


def exp_below(power: Fraction | float) -> Fraction:
    """Return a rational just below e to a power (and 1 at 0), which makes every adversary a little stronger."""
    if power == 0:
        return Fraction(1)
    with localcontext(Context(prec=60)):
        fraction = Fraction(power)
        exact = (Decimal(fraction.numerator) / Decimal(fraction.denominator)).exp()
        return Fraction(exact * (1 - Decimal("1e-45")))


def hockey_stick(transcripts: Iterable[tuple[Fraction, Fraction]], odds: Fraction) -> Fraction:
    """Return sum max(0, P - odds Q) over transcripts given by their probabilities P on x and Q on x'."""
    return sum((max(Fraction(0), p - odds * q) for p, q in transcripts), Fraction(0))


def played(
    gate: Gate[Spent], strategy: Callable[[tuple[int, ...]], Mechanism], rounds: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield P and Q of every transcript of one strategy; it ends when the gate refuses or the rounds are over."""

    def go(seen: tuple[int, ...], spent: Spent, p: Fraction, q: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
        mechanism = strategy(seen)
        if len(seen) == rounds or not gate.admits(spent, mechanism):
            yield p, q
            return
        after = gate.add(spent, mechanism)
        for answer, (a, b) in enumerate(zip(mechanism.p, mechanism.q, strict=True)):
            yield from go((*seen, answer), after, p * a, q * b)

    return go((), gate.start, Fraction(1), Fraction(1))


def optimum(
    gate: Gate[Spent], menu: list[Mechanism], worth: Callable[[Fraction], Fraction], rounds: int
) -> Fraction:
    """Return the largest expectation under x of a worth of Q/P, over all strategies on the menu."""

    @cache
    def best(ratio: Fraction, spent: Spent, left: int) -> Fraction:
        found = worth(ratio)
        for mechanism in menu if left else []:
            if gate.admits(spent, mechanism):
                after = gate.add(spent, mechanism)
                answers = zip(mechanism.p, mechanism.q, strict=True)
                values = [a * best(ratio * b / a, after, left - 1) for a, b in answers if a]
                found = max(found, sum(values, Fraction(0)))
        return found

    return best(Fraction(1), gate.start, rounds)


def damage(gate: Gate[Spent], menu: list[Mechanism], odds: Fraction, rounds: int) -> Fraction:
    """Return the largest hockey-stick divergence at these odds that any strategy over the menu reaches."""
    return optimum(gate, menu, lambda ratio: max(Fraction(0), 1 - odds * ratio), rounds)


def worst_damage(gate: Gate[Spent], menu: list[Mechanism], odds: Fraction, rounds: int) -> Fraction:
    """Return the damage in the worse of the two directions."""
    swapped = [mechanism.swapped for mechanism in menu]
    return max(damage(gate, menu, odds, rounds), damage(gate, swapped, odds, rounds))


class Meter(Protocol[Spent]):
    """An odometer, right or wrong: what it remembers, and its reading."""

    @property
    def start(self) -> Spent: ...
    def add(self, spent: Spent, mechanism: Mechanism) -> Spent: ...
    def reading(self, spent: Spent) -> float: ...


def crossing(meter: Meter[Spent], menu: list[Mechanism], rounds: int) -> Fraction:
    """Return the largest probability, over strategies, that the loss exceeds the reading at some time."""

    @cache
    def limit(spent: Spent) -> Fraction:
        return exp_below(meter.reading(spent))

    @cache
    def best(ratio: Fraction, spent: Spent, left: int) -> Fraction:
        if ratio * limit(spent) < 1:
            return Fraction(1)
        found = Fraction(0)
        for mechanism in menu if left else []:
            after = meter.add(spent, mechanism)
            answers = zip(mechanism.p, mechanism.q, strict=True)
            values = [a * best(ratio * b / a, after, left - 1) for a, b in answers if a]
            found = max(found, sum(values, Fraction(0)))
        return found

    return best(Fraction(1), meter.start, rounds)
