"""What there is to say about a plan, as data. Public facts only: a plan knows nothing else."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from jali.display.numbers import show_amount
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.planner.plan import Plan
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.show_expression import show_aggregate, show_expression, show_value
from jali.privacy import Adjacency, decimal
from jali.query.aggregation import CountPeople, Measure, SumValues
from jali.query.estimate import Estimate, Linear
from jali.query.nodes import Aggregate, Column

CONFIDENCE = 0.95
_SHOWN_KEYS = 8
_PAGES = {
    "Laplace": "docs/proofs/laplace.md (Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1)",
    "Gaussian": "docs/proofs/gaussian.md (Canonne, Kamath and Steinke 2020, Theorem 14)",
}
_WEIGHTS_PAGE = "docs/proofs/weights.md"


@dataclass(frozen=True)
class Alternative:
    """Another way that was considered, and what it would have given."""

    name: str
    outcome: str
    half_width: float | None = None


@dataclass(frozen=True)
class MeasureNote:
    """One noisy number per group: how far a person can move it, and the noise that hides that."""

    name: str
    meaning: str
    sensitivity: float
    norm: str
    because: str
    mechanism: str
    scale: float
    stddev: float
    loss: str
    exact_loss: str
    share: float
    half_width: float
    alternatives: tuple[Alternative, ...]
    theorems: tuple[str, ...]


@dataclass(frozen=True)
class AggregateNote:
    """One aggregate of the question: which measures it is made of, and how wide its interval will be.

    `half_width` is None where it depends on the number n of rows in a group; then it lies between
    `least_per_row / n` and `most_per_row / n`, and `guess` is the n that public facts suggest.
    """

    name: str
    formula: str
    measures: tuple[int, ...]
    half_width: float | None
    least_per_row: float | None = None
    most_per_row: float | None = None
    guess: float | None = None
    doubtful_below: float | None = None


@dataclass(frozen=True)
class Explanation:
    """A plan, explained."""

    table: str
    unit: str | None
    person: str
    adjacency: str
    neighbours: str
    contribution: str
    where: str | None
    keys: tuple[tuple[str, int, tuple[str, ...]], ...]
    groups: int
    loss: str
    exact_loss: str
    split: str
    confidence: float
    measures: tuple[MeasureNote, ...]
    aggregates: tuple[AggregateNote, ...]
    afterwards: tuple[str, ...]
    sql: str

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; a number beyond all doubles is null."""
        return {name: _finite(value) for name, value in asdict(self).items()}


def explanation(plan: Plan) -> Explanation:
    """Say everything about a plan that a reader may want to know."""
    table, aggregation = plan.table, plan.aggregation
    return Explanation(
        table=table.name,
        unit=table.unit,
        person=_person(plan),
        adjacency=table.adjacency.value,
        neighbours=_neighbours(plan),
        contribution=_contribution(plan),
        where=None if aggregation.where is None else show_expression(aggregation.where),
        keys=tuple((k.column, len(k.values), tuple(map(_key, k.values[:_SHOWN_KEYS]))) for k in aggregation.keys),
        groups=aggregation.groups,
        loss=str(plan.cost),
        exact_loss=str(plan.cost.amount),
        split=_split(plan),
        confidence=CONFIDENCE,
        measures=tuple(_measure_note(plan, index) for index in range(len(plan.mechanisms))),
        aggregates=tuple(_aggregate_note(plan, a, e) for a, e in plan.estimates),
        afterwards=tuple(_afterwards(plan)),
        sql=plan.sql,
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# The whole question.


def _person(plan: Plan) -> str:
    return "row" if plan.table.unit is None else plan.table.unit


def _key(value: Any) -> str:
    return value if isinstance(value, str) else show_value(value)


def _neighbours(plan: Plan) -> str:
    who = _person(plan)
    rows = "one row" if plan.table.unit is None else f"all rows of one {who}"
    if plan.table.adjacency is Adjacency.ADD_REMOVE:
        return f"the answer is nearly as likely with {rows} as without"
    other = "any other row" if plan.table.unit is None else f"the rows of any other {who}"
    return f"the answer is nearly as likely with {rows} as with {other} instead; how many there are is public"


def _contribution(plan: Plan) -> str:
    weights = plan.aggregation.weights
    if weights is None:
        return "each row is a person of its own and counts once"
    rows, who = _plural(weights.max_rows, "row"), plan.table.unit
    asked = "that pass the filter " if plan.aggregation.where is not None else ""
    return (
        f"one {who} counts for at most {rows}: of c rows {asked}each weighs min(1, {weights.max_rows}/c), "
        f"rounded down to a multiple of 1/{weights.resolution:,}. Nothing is sampled"
    )


def _split(plan: Plan) -> str:
    if len(plan.mechanisms) == 1:
        return "one measure takes all of it"
    root = "square" if plan.cost.epsilon is None else "cube"
    return (
        f"shares are proportional to the {root} root of how much a measure matters (1 for each aggregate it "
        "carries, 1/3 below a mean), which makes the forecast squared error least"
    )


def _afterwards(plan: Plan) -> list[str]:
    question = plan.question
    made = [o for o in question.outputs if not isinstance(o.expression, Aggregate | Column)]
    notes = [f"{o.name} = {show_expression(o.expression)}" for o in made]
    if question.having is not None:
        notes.append(f"HAVING {show_expression(question.having)}")
    if question.order_by:
        terms = (show_expression(o.expression) + " DESC" * o.descending for o in question.order_by)
        notes.append(f"ORDER BY {', '.join(terms)}")
    if question.limit is not None:
        notes.append(f"LIMIT {question.limit}" + (f" OFFSET {question.offset}" if question.offset else ""))
    return notes


# One measure.


def _measure_note(plan: Plan, index: int) -> MeasureNote:
    measure, mechanism = plan.aggregation.measures[index], plan.mechanisms[index]
    worth = plan.aggregation.unit(measure)
    laplace = isinstance(mechanism, Laplace)
    scale = mechanism.scale if isinstance(mechanism, Laplace) else math.sqrt(mechanism.variance)
    pages = (_PAGES["Laplace" if laplace else "Gaussian"], _WEIGHTS_PAGE)
    return MeasureNote(
        name=measure_name(plan, measure),
        meaning=_meaning(plan, measure),
        sensitivity=_sensitivity(plan, measure, squared=not laplace),
        norm="L1" if laplace else "L2",
        because=_because(plan, measure),
        mechanism="discrete Laplace" if laplace else "discrete Gaussian",
        scale=float(scale) * float(worth),
        stddev=mechanism.law.stddev * float(worth),
        loss=str(mechanism.loss.event),
        exact_loss=str(mechanism.loss.event.amount),
        share=float(mechanism.loss.event.amount / plan.cost.amount),
        half_width=_quantile(mechanism.law, worth),
        alternatives=tuple(_alternatives(plan, measure, mechanism)),
        theorems=pages[: 1 if plan.aggregation.weights is None else 2],
    )


def measure_name(plan: Plan, measure: Measure) -> str:
    """Write a measure as the aggregate it is."""
    if isinstance(measure, CountPeople):
        return f"COUNT(DISTINCT {plan.table.unit})"
    if isinstance(measure, SumValues):
        center = f" - {show_center(measure.center)}" if measure.center else ""
        return f"SUM({show_expression(measure.value)}{center})"
    return "COUNT(*)" if measure.present is None else f"COUNT({show_expression(measure.present)})"


def show_center(center: Fraction) -> str:
    """Write the middle of a range, in brackets where it is negative."""
    return decimal(center) if center >= 0 else f"({decimal(center)})"


def _meaning(plan: Plan, measure: Measure) -> str:
    people = plan.aggregation.weights is not None
    if isinstance(measure, CountPeople):
        spread = "" if plan.aggregation.groups == 1 else ", spread over the groups they appear in"
        return f"how many different {plan.table.unit} have a row{spread}"
    if isinstance(measure, SumValues):
        low, high = decimal(measure.low), decimal(measure.high)
        center = f", less {decimal(measure.center)} (the middle)" if measure.center else ""
        step = "whole numbers" if measure.steps == 1 else f"multiples of 1/{measure.steps}"
        return (
            f"{'weighted ' if people else ''}sum of {show_expression(measure.value)} clamped to [{low}, {high}]"
            f"{center}, in {step}; NULL and NaN count 0"
        )
    present = "" if measure.present is None else f" where {show_expression(measure.present)} is not NULL"
    return f"{'weighted ' if people else ''}number of rows{present}"


def _sensitivity(plan: Plan, measure: Measure, *, squared: bool) -> float:
    worth = float(plan.aggregation.unit(measure))
    if squared:
        return math.sqrt(squared_l2_sensitivity(plan.aggregation, measure)) * worth
    return float(l1_sensitivity(plan.aggregation, measure)) * worth


def _because(plan: Plan, measure: Measure) -> str:
    weights, who = plan.aggregation.weights, _person(plan)
    if isinstance(measure, CountPeople):
        groups = 1 if weights is None or plan.aggregation.groups == 1 else weights.max_groups
        reach = f"one {who} counts in at most {_plural(groups, 'group')}"
    else:
        each = f" of at most {show_amount(_largest(measure))} each" if isinstance(measure, SumValues) else ""
        reach = (
            f"{_plural(1, 'row')}{each}"
            if weights is None
            else f"one {who}: {_plural(weights.max_rows, 'row')}{each}"
        )
    if plan.table.adjacency is Adjacency.ADD_REMOVE:
        return reach
    return f"{reach}; taken away and put in elsewhere"


def _largest(measure: SumValues) -> float:
    return float(max(abs(measure.least), abs(measure.most)) / measure.steps)


def _alternatives(plan: Plan, measure: Measure, mechanism: Laplace | Gaussian) -> list[Alternative]:
    found = [_other_noise(plan, measure, mechanism)]
    if plan.aggregation.weights is not None and not isinstance(measure, CountPeople):
        most = plan.aggregation.weights.max_rows
        found.append(
            Alternative(
                f"sampling {most} rows a person",
                "the same noise, plus an error of its own from the draw, and a sort of the table",
                _quantile(mechanism.law, plan.aggregation.unit(measure)),
            )
        )
    if isinstance(measure, SumValues) and measure.center and _largest(measure):
        found.append(_without_centre(plan, measure, mechanism))
    return found


def _other_noise(plan: Plan, measure: Measure, mechanism: Laplace | Gaussian) -> Alternative:
    worth = plan.aggregation.unit(measure)
    if isinstance(mechanism, Laplace):
        rho = mechanism.epsilon**2 / 2
        width = _quantile(
            DiscreteGaussianLaw(squared_l2_sensitivity(plan.aggregation, measure) / (2 * rho)), worth
        )
        return Alternative(
            "discrete Gaussian",
            f"± {show_amount(width)} at rho = epsilon²/2 = {decimal(rho)}, but no pure epsilon: "
            "ask with rho for it, on a budget with a delta",
            width,
        )
    epsilon = math.sqrt(2 * mechanism.rho)
    law = DiscreteLaplaceLaw(l1_sensitivity(plan.aggregation, measure) / Fraction(epsilon))
    width = _quantile(law, worth)
    return Alternative(
        "discrete Laplace",
        f"± {show_amount(width)} at epsilon = sqrt(2 rho) = {show_amount(epsilon)}, the same rho",
        width,
    )


def _without_centre(plan: Plan, measure: SumValues, mechanism: Laplace | Gaussian) -> Alternative:
    factor = float(max(abs(measure.low), abs(measure.high))) / _largest(measure)
    width = _quantile(mechanism.law, plan.aggregation.unit(measure)) * factor
    return Alternative("values not centred", f"± {show_amount(width)}, {factor:.2g} times the noise", width)


def _quantile(law: DiscreteLaplaceLaw | DiscreteGaussianLaw, worth: Fraction) -> float:
    return law.quantile(CONFIDENCE) * float(worth)


# One aggregate.


def _aggregate_note(plan: Plan, aggregate: Aggregate, estimate: Estimate) -> AggregateNote:
    name = show_aggregate(aggregate)
    if estimate.denominator is None:
        index, factor = estimate.numerator.terms[0]
        half_width = plan.mechanisms[index].law.quantile(CONFIDENCE) * float(factor)
        return AggregateNote(name, f"[{index + 1}]", estimate.measures, half_width)
    return _mean_note(plan, name, estimate, estimate.denominator)


def _mean_note(plan: Plan, name: str, estimate: Estimate, below: Linear) -> AggregateNote:
    """A mean is the middle plus a centred sum over a count: error about (sum's - (mean - middle) count's) / n."""
    count, worth = below.terms[0]
    top = next((i for i, _ in estimate.numerator.terms if i != count), count)
    measure = plan.aggregation.measures[top]
    assert isinstance(measure, SumValues)
    middle = _per_row(plan, top, count, 0.0)
    end = _per_row(plan, top, count, _largest(measure))
    rows = plan.table.rows
    return AggregateNote(
        name=name,
        formula=(f"{decimal(measure.center)} + " if measure.center else "") + f"[{top + 1}] / [{count + 1}]",
        measures=estimate.measures,
        half_width=None,
        least_per_row=middle,
        most_per_row=end,
        guess=None if rows is None else rows / plan.aggregation.groups,
        doubtful_below=_quantile(plan.mechanisms[count].law, worth),
    )


def _per_row(plan: Plan, top: int, count: int, distance: float) -> float:
    """Return the 95 % quantile of |sum's noise - distance * count's noise|: the half-width times n."""
    from jali.mechanisms.combined import linear_quantile

    measures, laws = plan.aggregation.measures, [plan.mechanisms[i].law for i in (top, count)]
    worths = [float(plan.aggregation.unit(measures[i])) for i in (top, count)]
    if distance == 0:
        return laws[0].quantile(CONFIDENCE) * worths[0]
    return float(linear_quantile([worths[0], -distance * worths[1]], laws, CONFIDENCE))


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
