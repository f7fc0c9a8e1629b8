"""Float reachability: outputs that are possible under one neighbour and impossible under the other.

Noise that is computed and added in floating point gives only some doubles, and other ones for other inputs
(Mironov 2012). The tester tries events that tell them apart: how small the last binary digit is; that no double
added to the neighbour's value gives the output; that numpy's Laplace noise on it never does. Each is an event like
any other: it is chosen on some outputs, and its rates are bounded on fresh ones, so that an honest subject is not
accused more often than was said, whatever it computes with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from jali.audit.effort import Effort
from jali.audit.events.event import Event
from jali.audit.events.low_bits import LowBits, lowest_bits
from jali.audit.events.out_of_reach import OutOfReach, beyond_addition, beyond_numpy_laplace
from jali.audit.events.promise import Aim
from jali.audit.finding import Finding
from jali.audit.subject import Outputs, Pair, Subject
from jali.audit.testers.rates import Choice, Sources, choice, count, finding
from jali.audit.testers.tester import Progress, Tester, silent
from jali.privacy import Loss

# Outputs on which an event is chosen, for each input of a pair, and on which it is tried, for both together.
_CHOOSING, _TRYING = 2_000, 400_000
_MOST_PAIRS, _MOST_COLUMNS = 8, 16
# What people multiply the scale with: nothing, or 2 for replacing one.
_TIMES = (1, 2)
_HUGE = 1e300
# Numbers on a lattice that is no finer were rounded after the noise, or drawn on it.
_COARSE = -32


def share_out_of_reach(outputs: Outputs, value: float, scale: float | None = None) -> float:
    """Return the share of numbers that floating-point noise on a value could not have given.

    Args:
        outputs: Numbers, of any shape.
        value: What the noise would be added to.
        scale: For numpy's Laplace noise, its scale; for noise of any kind if it is None.

    Example:
        >>> noise = np.random.default_rng(1).laplace(0.0, 1.0, 1000)
        >>> share_out_of_reach(noise, 1.0, scale=1.0) > 0.75, share_out_of_reach(noise, 0.0, scale=1.0)
        (True, 0.0)
    """
    values = np.asarray(outputs, np.float64).ravel()
    beyond = beyond_addition(values, value) if scale is None else beyond_numpy_laplace(values, value, scale)
    return float(np.mean(beyond))


class Reachability(Tester):
    """Looks for the traces that floating-point noise leaves in the doubles of an output."""

    name: ClassVar[str] = "reachability"

    def applies(self, subject: Subject) -> bool:
        """Return whether there are neighbours."""
        return bool(subject.pairs)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Choose an event on some outputs of a few pairs, and bound its rates on fresh ones."""
        sources = Sources.of(effort.seed)
        pairs = subject.pairs[:_MOST_PAIRS]
        each = max(1, min(_CHOOSING, effort.samples // (4 * len(pairs))))
        looked = 2 * each * len(pairs)
        progress(f"looking at the digits of {looked} outputs")
        total = max(2, min(_TRYING, effort.samples) - looked)
        aim = Aim(subject.claim, total // 2, effort.confidence)
        best = max(_choices(subject, pairs, each, sources.random, aim), key=lambda chosen: chosen.promise)
        progress(f"trying on {total} outputs: {best.event}")
        found = finding(subject, best, count(subject, best, total, sources), effort, self.name)
        tried = f"the digits of the outputs of {len(pairs)} pairs; then one event"
        return replace(found, samples=looked + total, tried=tried)


def _choices(
    subject: Subject, pairs: tuple[Pair, ...], each: int, random: np.random.Generator, aim: Aim
) -> Iterator[Choice]:
    """Yield the events for each pair, with what they promise."""
    for pair in pairs:
        one, other = (subject.draw(value, each, random) for value in pair)
        for event in _events(subject.claim, (one, other), pair):
            yield choice(event, pair, (one, other), aim)


def _events(claim: Loss, drawn: tuple[Outputs, Outputs], pair: Pair) -> Iterator[Event]:
    """Yield what may be likelier under one of two inputs than under the other."""
    width = min(drawn[0].shape[1], drawn[1].shape[1])
    # Never on a lattice; something has to be tried.
    yield LowBits(0, _COARSE)
    for column in range(min(width, _MOST_COLUMNS)):
        if not any((lowest_bits(outputs[:, column]) < _COARSE).any() for outputs in drawn):
            continue
        yield from _digits(drawn, column)
        for one, other in _centres(_numbers(pair[0]), _numbers(pair[1]), column):
            yield from _sums(claim, column, one, other)


def _centres(one: list[float], other: list[float], column: int) -> set[tuple[float, float]]:
    """Return what noise may have been added to: the input's own number, or the sum, size or mean of a table."""
    if not one or not other:
        return set()
    own = {(one[column], other[column])} if column < min(len(one), len(other)) else set()
    tables = {(sum(one), sum(other)), (len(one), len(other)), (sum(one) / len(one), sum(other) / len(other))}
    return own if column else own | tables


def _digits(drawn: tuple[Outputs, Outputs], column: int) -> Iterator[Event]:
    """Yield the events of last digits that occur; one below another is among them as its complement."""
    last = np.concatenate([lowest_bits(outputs[:, column]) for outputs in drawn])
    for exponent in np.unique(last).tolist():
        yield LowBits(column, exponent, below=False)
        yield LowBits(column, exponent)


def _sums(claim: Loss, column: int, one: float, other: float) -> Iterator[Event]:
    """Yield that a number is out of reach of one value or of the other."""
    if one == other:
        return
    for value in (one, other):
        yield OutOfReach(column, value)
        for scale in _scales(claim, abs(one - other)):
            yield OutOfReach(column, value, scale)


def _scales(claim: Loss, distance: float) -> list[float]:
    """Return the scales that Laplace noise for a claim may have, rounded in the ways that people round."""
    epsilon = claim.event.epsilon
    if not epsilon:
        return []
    steps = {times * part for times in _TIMES for part in (Fraction(1), Fraction(distance))}
    return sorted({float(step / epsilon) for step in steps} | {float(step) / float(epsilon) for step in steps})


def _numbers(value: Any) -> list[float]:
    """Return the finite numbers that an input is, one for each number of the output; nothing if it is no such."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    parts = list(value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(part, int | float | Fraction | np.number) for part in parts):
        return []
    return [float(part) if abs(part) < _HUGE else 0.0 for part in parts]
