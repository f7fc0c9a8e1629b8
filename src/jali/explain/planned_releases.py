"""List the releases of a plan as they are explained: the ends of an interval together with their quantile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from jali.ir.aggregates import CountRows, Measure
from jali.ir.ownership import most_changes
from jali.mechanisms.measurement import Measurement
from jali.numbers.exact import decimal_above
from jali.planner.measured_query import AxisRelease, MeasuredQuery
from jali.planner.plan import Plan, find_release_sensitivity
from jali.planner.query_sensitivity import QuerySensitivity
from jali.privacy import Event


@dataclass(frozen=True)
class PlannedRelease:
    """One release of one grouping set, and its place in the set."""

    plan: Plan
    part: MeasuredQuery
    index: int
    place: int

    @property
    def mechanism(self) -> Measurement:
        """The mechanism that protects it."""
        return self.part.mechanisms[self.index]

    @property
    def draw(self) -> AxisRelease | None:
        """What is drawn along an axis, if it is that."""
        return self.part.draws[self.index] if self.part.draws else None

    @property
    def measure(self) -> Measure:
        """What is measured with noise; in each cell of an axis it is the weight of the rows."""
        return CountRows() if self.part.draws else self.part.aggregation.measures[self.index]

    @property
    def reach(self) -> QuerySensitivity:
        """How far one unit of the table that the question costs most moves it."""
        return find_release_sensitivity(self.part, self.index, most_changes(self.plan.source))

    @property
    def event(self) -> Event:
        """What it costs the table that the question costs most."""
        return self.mechanism.compute_event(self.reach)

    @property
    def share(self) -> float:
        """What part of the question's loss that is."""
        return float(amount(self.plan, self.event) / self.plan.cost.amount)

    @property
    def resolution(self) -> int:
        """How many units of weight a whole row has."""
        weights = self.part.aggregation.weights
        return 1 if weights is None else weights.resolution


@dataclass(frozen=True)
class NotedRelease:
    """The releases that one note is about, by their places in a set: the value, and the ends around it."""

    place: int
    ends: tuple[int, ...] = ()


def release(plan: Plan, level: int, place: int) -> PlannedRelease:
    """Return one release of one grouping set."""
    part, index = plan.levels[level].releases[place]
    return PlannedRelease(plan, part, index, place)


def list_noted_releases(plan: Plan) -> tuple[NotedRelease, ...]:
    """Return what there is to note, in order; every grouping set has the same releases."""
    draws = list(_draws(plan))
    around: dict[tuple[int, Fraction], tuple[int, ...]] = {}
    for place, (part, draw) in enumerate(draws):
        if draw is not None and draw.end:
            around[part, draw.at] = (*around.get((part, draw.at), ()), place)
    return tuple(
        NotedRelease(place, () if draw is None or draw.kind != "quantile" else around.get((part, draw.at), ()))
        for place, (part, draw) in enumerate(draws)
        if draw is None or not draw.end
    )


def _draws(plan: Plan) -> Iterator[tuple[int, AxisRelease | None]]:
    """Yield what is drawn by each release, if anything, and the number of its part: one axis each."""
    for number, part in enumerate(plan.levels[0].parts):
        yield from ((number, draw) for draw in part.draws or (None,) * len(part.mechanisms))


def note_of(plan: Plan, place: int) -> int:
    """Return the place of the note about a release."""
    return _number_notes(_Same(plan))[place]


class _Same:
    """A plan that equals itself alone: comparing two plans takes as long as reading them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.plan is other.plan

    def __hash__(self) -> int:
        return id(self.plan)


@lru_cache(maxsize=4)
def _number_notes(same: _Same) -> dict[int, int]:
    """Return the place of the note about each release."""
    return {place: i for i, one in enumerate(list_noted_releases(same.plan)) for place in (one.place, *one.ends)}


def amount(plan: Plan, event: Event) -> Fraction:
    """Return a loss in the unit of the question's."""
    if plan.cost.epsilon is None or event.epsilon is None:
        return event.rho
    return event.epsilon


def write_loss(plan: Plan, event: Event) -> str:
    """Write a loss in the unit of the question's."""
    return f"{plan.cost.kind} {decimal_above(amount(plan, event))}"
