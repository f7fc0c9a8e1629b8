"""Find which noise has the least error at which number of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from jali.privacy.budget import Budget
from jali.privacy.planning.count_forecast import ErrorMeasure
from jali.privacy.planning.count_noise import CountNoise
from jali.privacy.planning.plan_queries import noises_at
from jali.privacy.planning.safe_search import MOST, best_of, better, most, plannable
from jali.privacy.rationals import Number

# Up to here every k is looked at. Beyond, Laplace and l_inf noise grow like k and Gaussian noise like sqrt(k), or
# sqrt(k ln k) for the worst count, so that each change of the better one is the last, and is searched.
_LOOKED_AT = 64


@dataclass(frozen=True)
class Wins:
    """A range of k in which one noise has the least error.

    Attributes:
        noise: Its name.
        first: The least k of the range.
        last: The largest k; None: it wins from `first` on.
    """

    noise: str
    first: int
    last: int | None

    def __str__(self) -> str:
        if self.last is None:
            return f"{self.noise} from k={self.first:,}"
        if self.first == self.last:
            return f"{self.noise} at k={self.first:,}"
        return f"{self.noise} for k={self.first:,} to {self.last:,}"


@dataclass(frozen=True)
class Overtakes:
    """From which k on one noise has less error than another.

    Attributes:
        noise: The one that wins from there on.
        other: The one that loses.
        first: The least k from which it wins at every larger k as well; None where it never does.
    """

    noise: str
    other: str
    first: int | None


@dataclass(frozen=True)
class Crossover:
    """Which noise wins at which number of queries. Print it to read it.

    Attributes:
        budget: What all queries together may spend.
        measure: What is meant by an error.
        wins: The ranges of k with their winners, in order.
        overtakes: The same for each pair of noises.
    """

    budget: Budget
    measure: ErrorMeasure
    wins: tuple[Wins, ...]
    overtakes: tuple[Overtakes, ...]

    def best(self, k: int) -> str:
        """Return the name of the noise with the least error on k counts."""
        return next(range_.noise for range_ in self.wins if range_.last is None or k <= range_.last)

    @property
    def sentence(self) -> str:
        """Who wins where, in words."""
        return f"least {self.measure}: {', '.join(str(range_) for range_ in self.wins)}"

    def __repr__(self) -> str:
        return f"<{self.budget}: {self.sentence}>"

    def __str__(self) -> str:
        return f"{self.sentence[0].upper()}{self.sentence[1:]}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "measure": str(self.measure),
            "wins": [{"noise": w.noise, "first": w.first, "last": w.last} for w in self.wins],
            "overtakes": [{"noise": o.noise, "other": o.other, "first": o.first} for o in self.overtakes],
        }


def crossover(budget: Budget, *, confidence: Number | None = 0.95, simultaneous: bool = False) -> Crossover:
    """Return which noise has the least error on k counts, for every k.

    Args:
        budget: What all queries together may spend.
        confidence: As in `plan_queries`; None compares standard deviations.
        simultaneous: As in `plan_queries`.

    Guarantee:
        No sensitivity is asked for: every error is proportional to it. For standard deviations l_inf noise
        beats Gaussian noise as long as (k+1)(k+2) / (3 epsilon^2) < k sigma_1^2.

    Example:
        >>> print(crossover(Budget(1, 1e-6), confidence=None))
        Least standard deviation: Laplace at k=1, l_inf for k=2 to 50, Gaussian from k=51.
    """
    errors = _Errors(plannable(budget), ErrorMeasure(confidence, simultaneous=simultaneous))
    kinds = tuple(noises_at(errors.budget.delta))
    pairs = [(b, a) for i, a in enumerate(kinds) for b in kinds[i + 1 :]]
    made = tuple(Overtakes(noise.name, other.name, errors.overtakes(noise, other)) for noise, other in pairs)
    return Crossover(budget, errors.measure, _ranges(errors, kinds), made)


@dataclass(frozen=True)
class _Errors:
    """The errors of noises within one budget."""

    budget: Budget
    measure: ErrorMeasure

    def at(self, kind: type[CountNoise], k: int) -> float:
        return self.measure(kind.within(self.budget, k, Fraction(1)))

    def best(self, kinds: tuple[type[CountNoise], ...], k: int) -> str:
        return kinds[best_of([self.at(kind, k) for kind in kinds])].name

    def overtakes(self, noise: type[CountNoise], other: type[CountNoise]) -> int | None:
        """Return the least k from which one noise is better at every larger k."""

        def wins(k: int) -> bool:
            return better(self.at(noise, k), self.at(other, k))

        if wins(_LOOKED_AT):
            return next((k + 1 for k in range(_LOOKED_AT, 0, -1) if not wins(k)), 1)
        return _first_beyond(wins)


def _ranges(errors: _Errors, kinds: tuple[type[CountNoise], ...]) -> tuple[Wins, ...]:
    last = kinds[-1].name
    winners = [errors.best(kinds, k) for k in range(1, _LOOKED_AT + 1)]
    change = None if winners[-1] == last else _first_beyond(lambda k: errors.best(kinds, k) == last)
    ranges, first = [], 1
    for name, group in groupby(winners):
        count = len(list(group))
        ranges.append(Wins(name, first, first + count - 1))
        first += count
    ends = Wins(ranges[-1].noise, ranges[-1].first, None if change is None else change - 1)
    return (*ranges[:-1], ends, *(() if change is None else (Wins(last, change, None),)))


def _first_beyond(holds: Callable[[int], bool]) -> int | None:
    """Return the least k at which a condition holds that does not hold before; None where there is none."""
    found = _LOOKED_AT + most(lambda more: not holds(_LOOKED_AT + more)) + 1
    return None if found > MOST else found
