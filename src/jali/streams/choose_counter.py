"""Choose the counter of a stream: all of them side by side, with their forecast errors.

`lower_bound` is the error that no counter for running sums can be below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from jali.errors import CatalogError, MechanismError, Phrase
from jali.mechanisms.base import read_natural, read_parameter
from jali.numbers.exact import decimal_above
from jali.privacy.conversions import largest_rho
from jali.privacy.planning.plan_table import amount, write_count
from jali.privacy.rationals import Number, probability
from jali.streams.counter import Counter
from jali.streams.counter_candidates import (
    CONFIDENCE,
    Alternative,
    By,
    CounterCandidate,
    candidates,
    candidates_of_name,
    counters,
    forecast,
    has_noise,
    name_of,
)
from jali.streams.participation import Participation
from jali.streams.windows import Window

__all__ = ["Alternative", "Choices", "choose", "counters", "name_of", "named"]


# Of counters whose errors are this close, the one that keeps fewer numbers is taken.
_CLOSE = 1.01
_UNPROVED = Phrase("counter-unproved")


@dataclass(frozen=True, repr=False)
class Choices:
    """All counters that were considered, the best first. Its text is a table.

    Attributes:
        counter: The one to take.
        alternatives: Those that may be taken, from the least error up; then those left out, with the reason.
        title: What they were chosen for.
        by: Which figure was made small: "largest" or "rms".
    """

    counter: Counter
    alternatives: tuple[Alternative, ...]
    title: str
    by: By

    @property
    def best(self) -> Alternative:
        """The alternative that is taken."""
        return next(row for row in self.alternatives if row.counter is self.counter)

    @property
    def left_out(self) -> tuple[Alternative, ...]:
        """The alternatives that may not be taken."""
        return tuple(row for row in self.alternatives if row.counter is None)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the table."""
        return ("counter", "noise", "largest", "rms", "± 95 %", "keeps", "")

    def cells(self) -> list[tuple[str, ...]]:
        """Return the table as text: a row for each counter whose errors are known."""
        return [self._row(row) for row in self.alternatives if row.largest is not None]

    def _row(self, row: Alternative) -> tuple[str, ...]:
        mark = "*" if row.counter is self.counter else "" if row.counter is not None else "left out"
        errors = (amount(row.largest), amount(row.rms), amount(row.error))
        return (row.name, row.noise, *errors, f"{row.numbers_kept:,}", mark)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why some were left out, in sentences: those of one reason together."""
        told: dict[str, list[str]] = {}
        for row in self.left_out:
            names = told.setdefault(row.said, [])
            names += [] if row.name in names else [row.name]
        return tuple(f"{', '.join(names)}: {said}" for said, names in told.items())

    @property
    def advice(self) -> str:
        """One sentence on what to take."""
        best = self.best
        error = f"within {amount(best.error)} of the truth at {100 * CONFIDENCE:g} %"
        spread = f"off by a standard deviation of {amount(best.largest)} at most"
        return (
            f"Take {best.name} with {best.noise} noise: each value is {spread if best.error is None else error}."
        )

    def __repr__(self) -> str:
        rows = [self.headings, *self.cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(_pad(row, widths)).rstrip() for row in rows]
        return "\n".join([self.title, *lines, *(f"Left out: {reason}" for reason in self.reasons), self.advice])


def choose(
    *,
    horizon: int | None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    person: Participation,
    adaptive: bool = True,
    memory: int | None = None,
    by: By = "largest",
    last: int | None = None,
    restart: int | None = None,
) -> Choices:
    """Choose a counter by the errors that are forecast: no data is read, and the same is chosen every time.

    Args:
        horizon: For how many ticks the stream lives; None if it is unknown.
        epsilon: The loss of the whole stream.
        delta: If it is above 0, Gaussian noise competes: at the largest rho that implies (epsilon, delta).
        rho: The loss in zCDP instead, by Gaussian noise.
        person: How one person may enter the stream.
        adaptive: Whether increments may depend on values published before. Then only counters that are proved
            for such streams are taken.
        memory: How many numbers a running stream may keep, for each key.
        by: What is to be small: the "largest" standard deviation over all ticks, or the "rms" of all.
        last: The values are over the last `last` ticks, not over all so far. Then, and with
        restart: where sums begin again after a number of ticks, the counter has no end, whatever the horizon is.

    Of counters within 1 % of the least error the one that keeps the fewest numbers is taken.

    Example:
        >>> choices = choose(horizon=365, epsilon=1, person=Participation(adjacency="add-remove"))
        >>> choices.counter.loss
        Pure(1)
    """
    if by not in ("largest", "rms"):
        raise MechanismError("counter-goal-unknown", by=by, name="by")
    asked = _read_request(horizon, epsilon, delta, rho, person, Window.read(last, restart))
    considered = [_judge(row, adaptive, memory) for row in asked.forecasts(asked.candidates())]
    fit = sorted((row for row in considered if row.counter is not None), key=lambda row: row.score(by))
    if not fit:
        first = considered[0]
        raise MechanismError("counter-none-fits", reason=first.obstacle, possible=first.made is not None)
    near = [row for row in fit if row.score(by) <= _CLOSE * fit[0].score(by)]
    best = min(near, key=lambda row: row.numbers_kept or 0)
    others = sorted((row for row in considered if row.counter is None), key=lambda row: row.score(by))
    return Choices(_require_counter(best), _one_of_each(best, [*fit, *others]), str(asked), by)


def named(
    name: str,
    *,
    horizon: int | None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    person: Participation,
    adaptive: bool = True,
    last: int | None = None,
    restart: int | None = None,
) -> Counter:
    """Return the counter of a name, with whichever noise has the smaller largest error.

    With `last` or `restart` it is the counter inside of the windows that is named.

    Example:
        >>> named("every-item", horizon=10, epsilon=1, person=Participation(adjacency="add-remove"))
        EveryItem(horizon=10, epsilon=1, person=Participation(adjacency='add-remove'))
    """
    asked = _read_request(horizon, epsilon, delta, rho, person, Window.read(last, restart))
    rows = [
        _judge(row, adaptive, None)
        for row in asked.forecasts(candidates_of_name(name, asked.horizon, asked.window))
    ]
    fit = [row for row in rows if row.counter is not None]
    if not fit:
        raise MechanismError(
            "counter-not-taken", counter=name, reason=rows[0].obstacle, advice=_advise(rows[0].obstacle)
        )
    return _require_counter(min(fit, key=lambda row: row.score("largest")))


@dataclass(frozen=True)
class _CounterRequest:
    """What a counter is chosen for, checked."""

    horizon: int | None
    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    person: Participation
    window: Window | None

    def candidates(self) -> Iterator[CounterCandidate]:
        """Return what competes."""
        return candidates(self.horizon, self.window)

    def losses(self) -> dict[str, Fraction]:
        """Return what each noise may spend, by the name of the parameter."""
        if self.epsilon is None:
            return {"rho": self.rho or Fraction(0)}
        implied = largest_rho(self.epsilon, self.delta)
        return {"epsilon": self.epsilon, "rho": implied} if implied else {"epsilon": self.epsilon}

    def forecasts(self, those: Iterable[CounterCandidate]) -> list[Alternative]:
        """Make every candidate with every noise; that it lacks one is no news where it has the other."""
        losses = self.losses()
        rows = {
            (one, loss): forecast(one, self.horizon, loss, value, self.person)
            for one in those
            for loss, value in losses.items()
        }
        return [row for (one, loss), row in rows.items() if len(losses) == 1 or has_noise(one, loss)]

    def __str__(self) -> str:
        life = (
            "No horizon (2^20 ticks are forecast)" if self.horizon is None else write_count(self.horizon, "tick")
        )
        if self.window is not None:
            life = f"Values {self.window},"
        delta = f", delta={decimal_above(self.delta)}" if self.delta else ""
        loss = (
            f"epsilon={decimal_above(self.epsilon)}{delta}"
            if self.epsilon
            else f"rho={decimal_above(self.rho or self.delta)}"
        )
        return f"{life} within {loss}; {_describe_person(self.person)}"


def _read_request(
    horizon: int | None,
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    person: Participation,
    window: Window | None,
) -> _CounterRequest:
    """Check what was asked for, before any counter is made."""
    if not isinstance(person, Participation):
        raise MechanismError("person-not-a-participation", person=person)
    life = None if horizon is None or window is not None else read_natural(horizon, "horizon")
    if (epsilon is None) == (rho is None):
        raise MechanismError("epsilon-or-rho")
    if rho is not None and delta is not None:
        raise MechanismError("stream-delta-with-rho", name="delta")
    pure, concentrated = (
        None if value is None else read_parameter(value, name)
        for value, name in ((epsilon, "epsilon"), (rho, "rho"))
    )
    return _CounterRequest(life, pure, _probability(delta), concentrated, person, window)


def _probability(delta: Number | None) -> Fraction:
    try:
        return probability(0 if delta is None else delta, "delta")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None


def _require_counter(row: Alternative) -> Counter:
    """Return the counter of an alternative that may be taken."""
    assert row.counter is not None
    return row.counter


def _one_of_each(best: Alternative, rows: list[Alternative]) -> tuple[Alternative, ...]:
    """Keep one variant of each counter and noise: what is taken, or else the first."""
    kept: dict[tuple[str, str], Alternative] = {}
    for row in rows:
        kept.setdefault((row.name, row.noise), row)
    kept[best.name, best.noise] = best
    return tuple(kept.values())


def _judge(row: Alternative, adaptive: bool, memory: int | None) -> Alternative:
    """Leave a counter out that may not be taken; its forecast stays, so that people see what it would give."""
    obstacle = _objection(row, adaptive, memory)
    return replace(row, obstacle=obstacle) if obstacle else row


def _objection(row: Alternative, adaptive: bool, memory: int | None) -> Phrase | None:
    room = None if memory is None else read_natural(memory, "memory")
    if row.counter is None:
        return row.obstacle
    if adaptive and not row.counter.adaptive:
        return _UNPROVED
    if room is not None and row.numbers_kept is not None and row.numbers_kept > room:
        return Phrase("counter-keeps-too-much", most=room)
    return None


def _advise(obstacle: Phrase | None) -> Phrase:
    """Describe what would let a counter be taken that was asked for by its name."""
    if obstacle == _UNPROVED:
        return Phrase("counter-promise-oblivious")
    if obstacle is not None and obstacle.code == "counter-without-noise":
        return Phrase("counter-add-delta" if obstacle.fields["loss"] == "epsilon" else "counter-give-epsilon")
    return Phrase("counter-take-another")


def _describe_person(person: Participation) -> str:
    """Describe how one person enters the stream."""
    where = "one tick" if person.ticks == 1 else f"{person.ticks} ticks"
    apart = f", {person.separation} apart" if person.separation > 1 and person.ticks > 1 else ""
    most = "" if person.l1 == 1 else f" by up to {decimal_above(person.l1)}"
    return f"{person.adjacency}, each person in {where}{apart}{most}"


def _pad(row: tuple[str, ...], widths: list[int]) -> list[str]:
    """Set names to the left and numbers to the right."""
    return [
        cell.rjust(width) if 1 < j < len(widths) - 1 else cell.ljust(width)
        for j, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def lower_bound(horizon: int) -> float:
    """Return what neither the rms nor the largest standard deviation of noisy running sums can be below.

    It is told for measurements that one person moves by at most 1 in L2 norm, entering one tick by 1, with
    independent noises of standard deviation 1 and values that are unbiased and linear in the measurements.

    Statement:
        Let A be the matrix that sums up n ticks, with singular values 1 / (2 sin((2j-1) pi / (4n+2))). If A = B C
        and no column of C is longer than 1, then the mean squared length of the rows of B is at least the square
        of the mean of these singular values.
    Proof:
        docs/proofs/toeplitz_root.md, Theorem 4; after Li and Miklau 2013, Theorem 3.

    Example:
        >>> round(lower_bound(1024), 6)
        2.909584
    """
    n = read_natural(horizon, "horizon")
    angles = (2 * np.arange(n) + 1) * (np.pi / (4 * n + 2))
    return float((0.5 / np.sin(angles)).mean())
