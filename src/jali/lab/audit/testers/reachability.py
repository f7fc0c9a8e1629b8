"""Float reachability: outputs that are possible under one neighbour and impossible under the other.

Noise that is computed and added in floating point gives only some doubles, and other ones for other inputs
(Mironov 2012). The tester tries events that distinguish them: how small the last binary digit is; that no double
added to the neighbour's value gives the output; that numpy's Laplace noise on it never does. Each is an event like
any other: it is chosen on some outputs, and its rates are bounded on fresh ones, so that an honest subject is not
accused more often than was said, whatever it computes with.

A sum in floating point is rounded, and a logarithm of a random number of 53 bits takes few of the values that
a double can have. So noise on x reaches only some doubles, and mostly others than noise on x' does: one output
then tells which of the two it was. As an event, "out of reach of x'" is sound whatever made the outputs: if
they are not floating-point noise, it is as likely under both, up to the loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.events.event_rates import (
    EventAim,
    EventChoice,
    RandomSources,
    choose_direction,
    count_choice,
    make_finding,
)
from jali.lab.audit.events.output_event import OutputEvent
from jali.lab.audit.subject import Effort, Finding, Outputs, Pair, Progress, Subject, Tester, silent
from jali.privacy import Loss

_MANTISSA = 53
# Zero, infinities and NaN have no last digit that is one; this is above that of every double.
NO_BIT = 2000


def find_lowest_bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the exponent e of the last binary digit 2^e of each number that is one.

    Example:
        >>> find_lowest_bits(np.array([1.0, 0.75, 6.0, 0.1])).tolist()
        [0, -2, 1, -55]
    """
    some = np.isfinite(values) & (values != 0)
    fraction, exponent = np.frexp(np.where(some, values, 1.0))
    whole = np.ldexp(fraction, _MANTISSA).astype(np.int64)
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(some, exponent.astype(np.int64) - _MANTISSA + last, NO_BIT)


@dataclass(frozen=True)
class LowBits(OutputEvent):
    """The last binary digit of a number is smaller than a power of two, or is not.

    Noise that is added in floating point to 0 keeps digits which the same noise added to 1 has lost to rounding
    (Mironov 2012).

    Attributes:
        column: Which number of the output.
        exponent: The last digit is below 2^exponent.
        below: That it is, or that it is not.

    Example:
        >>> LowBits(0, -1).contains(np.array([[0.5], [0.25]])).tolist()
        [False, True]
    """

    kind: ClassVar[str] = "low bits"

    column: int
    exponent: int
    below: bool = True

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        last = find_lowest_bits(outputs[:, self.column])
        return np.asarray(last < self.exponent if self.below else last >= self.exponent)

    def __str__(self) -> str:
        if self.exponent == NO_BIT:
            said = "has a last binary digit" if self.below else "is 0 or not finite"
            return f"number {self.column + 1} of the output {said}"
        where = "below" if self.below else "at or above"
        return f"the last binary digit of number {self.column + 1} of the output is {where} 2^{self.exponent}"


Doubles = NDArray[np.float64]

# numpy's SIMD logarithm may differ from the C library's, which its generators call, in the last place.
_log = np.frompyfunc(math.log, 1, 1)
# An exponential, a difference and a quotient are off by less than two steps of the random number.
_AROUND = np.arange(-3.0, 4.0)
_AT_ONCE = 1 << 16


def is_beyond_addition(outputs: Doubles, value: float) -> NDArray[np.bool_]:
    """Return which outputs are no rounded sum of the value and a double.

    Statement:
        If y = fl(value + n) for a double n, then the double nearest to y - value, or the one beside it towards n,
        is such a number too: it lies between y - value and n, and rounding is monotone. Three doubles are tried.

    Example:
        >>> is_beyond_addition(np.array([0.5, 1e-20]), 1.0).tolist()
        [False, True]
    """
    with np.errstate(all="ignore"):
        nearest = outputs - value
        tried = (nearest, np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf))
        return np.asarray(np.all([value + noise != outputs for noise in tried], axis=0))


def is_beyond_numpy_laplace(outputs: Doubles, value: float, scale: float) -> NDArray[np.bool_]:
    """Return which outputs numpy's Laplace noise of a scale on the value never gives.

    Statement:
        numpy draws U = k 2^-53 and returns value + scale ln(U + U) if U < 1/2, otherwise
        value - scale ln((2 - U) - U), all in doubles. The k that could give an output is known up to a few, and
        all of those are tried. (Where a compiler fuses the product with the sum, others are out of reach.)
    """
    parts = [outputs[start : start + _AT_ONCE] for start in range(0, len(outputs), _AT_ONCE)]
    return np.concatenate([np.zeros(0, np.bool_), *(_is_beyond(part, value, scale) for part in parts)])


def _is_beyond(outputs: Doubles, value: float, scale: float) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        tail = np.nan_to_num(np.exp(-np.abs(outputs - value) / scale))
    steps = np.clip(np.rint(np.ldexp(tail, 52))[:, None] + _AROUND, 1.0, 2.0**52)
    low = np.ldexp(steps, -53)
    high = 1.0 - low
    below = (outputs < value)[:, None]
    noise = scale * _log(np.where(below, low + low, (2.0 - high) - high)).astype(np.float64)
    return np.asarray(np.all(value + np.where(below, noise, -noise) != outputs[:, None], axis=1))


@dataclass(frozen=True)
class OutOfReach(OutputEvent):
    """A number of the output cannot come from floating-point noise on a value.

    Attributes:
        column: Which number of the output.
        value: What the noise would be added to.
        scale: For numpy's Laplace noise, its scale; None for noise of any kind that is added in floating point.

    Example:
        >>> OutOfReach(0, 1.0).contains(np.array([[0.5], [1e-20]])).tolist()
        [False, True]
    """

    kind: ClassVar[str] = "out of reach"

    column: int
    value: float
    scale: float | None = None

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        values = outputs[:, self.column]
        if self.scale is None:
            return is_beyond_addition(values, self.value)
        return is_beyond_numpy_laplace(values, self.value, self.scale)

    def __str__(self) -> str:
        noise = "a double" if self.scale is None else f"numpy's Laplace noise of scale {self.scale:g}"
        return f"number {self.column + 1} of the output is no floating-point sum of {self.value:g} and {noise}"


# Outputs on which an event is chosen, for each input of a pair, and on which it is tried, for both together.
_CHOOSING, _TRYING = 2_000, 400_000
_MOST_PAIRS, _MOST_COLUMNS = 8, 16
# What people multiply the scale with: nothing, or 2 for replacing one.
_TIMES = (1, 2)
_HUGE = 1e300
# Numbers on a lattice that is no finer were rounded after the noise, or drawn on it.
_COARSE = -32


def measure_out_of_reach(outputs: Outputs, value: float, scale: float | None = None) -> float:
    """Return the share of numbers that floating-point noise on a value could not have given.

    Args:
        outputs: Numbers, of any shape.
        value: What the noise would be added to.
        scale: For numpy's Laplace noise, its scale; for noise of any kind if it is None.

    Example:
        >>> noise = np.random.default_rng(1).laplace(0.0, 1.0, 1000)
        >>> measure_out_of_reach(noise, 1.0, scale=1.0) > 0.75, measure_out_of_reach(noise, 0.0, scale=1.0)
        (True, 0.0)
    """
    values = np.asarray(outputs, np.float64).ravel()
    beyond = is_beyond_addition(values, value) if scale is None else is_beyond_numpy_laplace(values, value, scale)
    return float(np.mean(beyond))


class Reachability(Tester):
    """Looks for the traces that floating-point noise leaves in the doubles of an output."""

    name: ClassVar[str] = "reachability"

    def applies(self, subject: Subject) -> bool:
        """Return whether there are neighbours."""
        return bool(subject.pairs)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Choose an event on some outputs of a few pairs, and bound its rates on fresh ones."""
        sources = RandomSources.of(effort.seed)
        pairs = subject.pairs[:_MOST_PAIRS]
        each = max(1, min(_CHOOSING, effort.samples // (4 * len(pairs))))
        looked = 2 * each * len(pairs)
        progress(f"looking at the digits of {looked} outputs")
        total = max(2, min(_TRYING, effort.samples) - looked)
        aim = EventAim(subject.claim, total // 2, effort.confidence)
        best = max(_propose_choices(subject, pairs, each, sources.random, aim), key=lambda chosen: chosen.promise)
        progress(f"trying on {total} outputs: {best.event}")
        found = make_finding(subject, best, count_choice(subject, best, total, sources), effort, self.name)
        tried = f"the digits of the outputs of {len(pairs)} pairs; then one event"
        return replace(found, samples=looked + total, tried=tried)


def _propose_choices(
    subject: Subject, pairs: tuple[Pair, ...], each: int, random: np.random.Generator, aim: EventAim
) -> Iterator[EventChoice]:
    """Yield the events for each pair, with what they promise."""
    for pair in pairs:
        one, other = (subject.draw(value, each, random) for value in pair)
        for event in _propose_events(subject.claim, (one, other), pair):
            yield choose_direction(event, pair, (one, other), aim)


def _propose_events(claim: Loss, drawn: tuple[Outputs, Outputs], pair: Pair) -> Iterator[OutputEvent]:
    """Yield what may be likelier under one of two inputs than under the other."""
    width = min(drawn[0].shape[1], drawn[1].shape[1])
    # Never on a lattice; something has to be tried.
    yield LowBits(0, _COARSE)
    for column in range(min(width, _MOST_COLUMNS)):
        if not any((find_lowest_bits(outputs[:, column]) < _COARSE).any() for outputs in drawn):
            continue
        yield from _propose_digits(drawn, column)
        for one, other in _list_centres(_read_numbers(pair[0]), _read_numbers(pair[1]), column):
            yield from _propose_sums(claim, column, one, other)


def _list_centres(one: list[float], other: list[float], column: int) -> set[tuple[float, float]]:
    """Return what noise may have been added to: the input's own number, or the sum, size or mean of a table."""
    if not one or not other:
        return set()
    own = {(one[column], other[column])} if column < min(len(one), len(other)) else set()
    tables = {(sum(one), sum(other)), (len(one), len(other)), (sum(one) / len(one), sum(other) / len(other))}
    return own if column else own | tables


def _propose_digits(drawn: tuple[Outputs, Outputs], column: int) -> Iterator[OutputEvent]:
    """Yield the events of last digits that occur; one below another is among them as its complement."""
    last = np.concatenate([find_lowest_bits(outputs[:, column]) for outputs in drawn])
    for exponent in np.unique(last).tolist():
        yield LowBits(column, exponent, below=False)
        yield LowBits(column, exponent)


def _propose_sums(claim: Loss, column: int, one: float, other: float) -> Iterator[OutputEvent]:
    """Yield that a number is out of reach of one value or of the other."""
    if one == other:
        return
    for value in (one, other):
        yield OutOfReach(column, value)
        for scale in _list_scales(claim, abs(one - other)):
            yield OutOfReach(column, value, scale)


def _list_scales(claim: Loss, distance: float) -> list[float]:
    """Return the scales that Laplace noise for a claim may have, rounded in the ways that people round."""
    epsilon = claim.event.epsilon
    if not epsilon:
        return []
    steps = {times * part for times in _TIMES for part in (Fraction(1), Fraction(distance))}
    return sorted({float(step / epsilon) for step in steps} | {float(step) / float(epsilon) for step in steps})


def _read_numbers(value: Any) -> list[float]:
    """Return the finite numbers that an input is, one for each number of the output; nothing if it is no such."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    parts = list(value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(part, int | float | Fraction | np.number) for part in parts):
        return []
    return [float(part) if abs(part) < _HUGE else 0.0 for part in parts]
