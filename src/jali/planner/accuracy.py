"""Find the least privacy loss at which an answer is as accurate as requested, from public facts only.

Statement:
    A trial plans the question at one loss and reads the forecasts of the plan; no data is read. Losses of three
    digits are tried, each of which is above the one before it by 1 % at most: where half-widths fall as the loss
    grows, the least of them that suffices is above the least loss of all by less than 1 %.

Where the law of the error does not depend on the data, each half-width is what the interval of the answer will
have. Of means, moments and quantiles it is a forecast for a public guess of the rows of a group, and no promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from jali.errors import QueryError
from jali.ir.estimators import AnyEstimate, Picked, RatioEstimate, build_estimate
from jali.ir.expressions import Aggregate, Expression, Output, walk
from jali.numbers.search import least_integer
from jali.planner.forecast import forecast_estimate, half_width_at, public_rows
from jali.planner.plan import Plan
from jali.planner.terms import AccuracyTarget, QuestionTerms, TermArguments, drop_accuracy_target, read_terms

Make: TypeAlias = Callable[[QuestionTerms], Plan]
# Losses from 0.000001 to 9990, by 900 steps for each power of ten.
_DECADE = 900
_LEAST, _MOST = -6 * _DECADE, 4 * _DECADE - 1


def plan_for_accuracy(make: Make, given: TermArguments, aim: AccuracyTarget) -> Plan:
    """Plan a question at the least loss for its aim; or at its own loss, with its guess for the forecasts."""
    others = drop_accuracy_target(given)
    if not aim.within:
        return replace(make(read_terms(**others)), aim=aim)

    def at(loss: Fraction) -> Plan:
        both: TermArguments = {**others, "epsilon": loss} if aim.kind == "epsilon" else {**others, "rho": loss}
        return replace(make(read_terms(**both)), aim=aim)

    return _Search(at, aim).least()


def list_targets(plan: Plan) -> Iterator[tuple[Output, AnyEstimate, Fraction]]:
    """Yield the outputs that are to come close, how each is made, and how close."""
    assert plan.aim is not None
    for name, width in plan.aim.within:
        for output in _find_outputs(plan, name):
            yield output, _estimate(plan, output), width


def _find_outputs(plan: Plan, name: str | None) -> list[Output]:
    made = [output for output in plan.question.outputs if _has_aggregate(output.expression)]
    found = made if name is None else [output for output in made if output.name == name]
    if found:
        return found
    names = tuple(output.name for output in made)
    if name is None:
        raise QueryError("within-nothing", aggregates=names)
    raise QueryError("within-not-an-aggregate", output=name, aggregates=names)


def _has_aggregate(expression: Expression) -> bool:
    return any(isinstance(node, Aggregate) for node in walk(expression))


def _estimate(plan: Plan, output: Output) -> AnyEstimate:
    """Return how an output is made, or refuse one whose error has no law of its own."""
    known: dict[Expression, AnyEstimate] = dict(plan.estimates)
    found = known.get(output.expression) or build_estimate(output.expression, _linear(plan))
    if found is None:
        raise QueryError("within-computed-otherwise", output=output.name)
    if isinstance(found, Picked) and forecast_estimate(plan, 0, found).weight_error is not None:
        raise QueryError("within-picked-value", output=output.name)
    return found


def _linear(plan: Plan) -> dict[Aggregate, RatioEstimate]:
    return {aggregate: made for aggregate, made in plan.estimates if isinstance(made, RatioEstimate)}


def measure_excess(plan: Plan) -> float:
    """Return the largest half-width of a plan over the one that is wanted: at most 1 if that suffices."""
    assert plan.aim is not None
    found = [
        _half_width(plan, level, output, estimate) / float(width)
        for output, estimate, width in list_targets(plan)
        for level in range(len(plan.levels))
    ]
    return max(found)


def _half_width(plan: Plan, level: int, output: Output, estimate: AnyEstimate) -> float:
    assert plan.aim is not None
    rows = public_rows(plan, level)
    width = half_width_at(plan, level, estimate, rows, plan.aim.confidence)
    if width is not None:
        return width
    if rows is None:
        raise QueryError("within-needs-group-rows", output=output.name)
    raise QueryError("within-depends-on-data", output=output.name)


@dataclass
class _Search:
    """Looks for the least loss of three digits that suffices."""

    at: Callable[[Fraction], Plan]
    aim: AccuracyTarget
    tried: dict[int, float] = field(default_factory=dict)

    def least(self) -> Plan:
        # What is wrong with the question at any loss is said here, before the search.
        self.tried[0] = measure_excess(self.at(loss_at(0)))
        step = least_integer(self._suffices, *self._bracket(self._guess(self._guess(0))))
        return self.at(loss_at(step))

    def _excess(self, step: int) -> float:
        """Return the excess at a loss; one that is too small or too large for the noise never suffices."""
        if step not in self.tried:
            try:
                self.tried[step] = measure_excess(self.at(loss_at(step)))
            except QueryError:
                self.tried[step] = math.inf
        return self.tried[step]

    def _suffices(self, step: int) -> bool:
        return self._excess(step) <= 1

    def _guess(self, step: int) -> int:
        """Half-widths are about proportional to 1/epsilon, and to 1/sqrt(rho)."""
        found = self._excess(step)
        if not 0 < found < math.inf:
            return step
        power = 1 if self.aim.kind == "epsilon" else 2
        return min(max(step_above(float(loss_at(step)) * found**power), _LEAST), _MOST)

    def _bracket(self, step: int) -> tuple[int, int]:
        """Return a loss that does not suffice and one that does, from a guess outwards by doubled strides."""
        stride, up = 1, not self._suffices(step)
        while self._suffices(step) != up:
            if step == (_MOST if up else _LEAST):
                return self._at_the_end(step)
            near, step = step, min(max(step + (stride if up else -stride), _LEAST), _MOST)
            stride *= 2
        return (near, step) if up else (step, near)

    def _at_the_end(self, step: int) -> tuple[int, int]:
        if step == _LEAST:
            return step - 1, step
        raise QueryError("within-out-of-reach", kind=self.aim.kind, most=loss_at(_MOST))


def loss_at(step: int) -> Fraction:
    """Return a loss of three digits.

    Example:
        >>> from jali.numbers.exact import decimal
        >>> [decimal(loss_at(step)) for step in (-1, 0, 1, 899, 900)]
        ['0.999', '1', '1.01', '9.99', '10']
    """
    decade, place = divmod(step, _DECADE)
    return Fraction(100 + place) * Fraction(10) ** (decade - 2)


def step_above(loss: float) -> int:
    """Return the step of the least loss of three digits that is not below a number, up to rounding.

    Example:
        >>> [step_above(loss) for loss in (0.999, 1.0, 1.001, 9.99, 9.991)]
        [-1, 0, 1, 899, 900]
    """
    if not 0 < loss < math.inf:
        return _LEAST if loss <= 0 else _MOST
    decade = math.floor(math.log10(loss))
    return decade * _DECADE + math.ceil(round(loss / 10.0**decade * 100, 9)) - 100
