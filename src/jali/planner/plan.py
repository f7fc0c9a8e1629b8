"""The plan: everything that is decided about a question before any data is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from jali.errors import JaliError
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.lattice import Lattice
from jali.planner.choose_mechanisms import aggregation_of
from jali.planner.draft import Draft, Mechanism
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.privacy import NOTHING, Adjacency, Budget, Event
from jali.query.aggregation import Aggregation, CountPeople, CountRows, KeySet, SumValues, Weights
from jali.query.bounds import Bounds
from jali.query.catalog import Field, Keys, Kind, Range, Source, Table
from jali.query.estimate import Estimate, Linear
from jali.query.nodes import Aggregate, Call, Column, Literal, Ordering, Output, Question


@dataclass(frozen=True)
class Plan:
    """A frozen plan: the engine's query, the noise, the loss, and how the answer is made from the releases.

    Attributes:
        question: The question, with every name resolved.
        aggregation: The exact integer aggregate to run.
        sql: The same, in the engine's own words.
        mechanisms: One per measure.
        estimates: How each aggregate is made from the noisy measures.
        cost: The loss of the whole question.
    """

    question: Question
    aggregation: Aggregation
    estimates: tuple[tuple[Aggregate, Estimate], ...]
    mechanisms: tuple[Mechanism, ...]
    cost: Event
    sql: str = ""

    @property
    def table(self) -> Table:
        """The protected table."""
        return self.aggregation.table

    @property
    def events(self) -> tuple[Event, ...]:
        """The loss of each measure."""
        return tuple(mechanism.loss.event for mechanism in self.mechanisms)

    def __str__(self) -> str:
        from jali.planner.explain import explain

        return explain(self)

    def _repr_html_(self) -> str:
        from jali.planner.explain import explain_html

        return explain_html(self)


PLAN_CLASSES: tuple[type, ...] = (
    Plan,
    Question,
    Output,
    Ordering,
    Column,
    Literal,
    Call,
    Aggregate,
    Aggregation,
    CountRows,
    SumValues,
    CountPeople,
    Weights,
    KeySet,
    Kind,
    Table,
    Field,
    Source,
    Range,
    Keys,
    Adjacency,
    Budget,
    Bounds,
    Estimate,
    Linear,
    Laplace,
    Gaussian,
    Lattice,
    Event,
)


def finish(draft: Draft) -> Plan:
    """Freeze a finished draft, after computing its loss again from what will really run."""
    aggregation = aggregation_of(draft)
    plan = Plan(
        question=draft.question,
        aggregation=aggregation,
        estimates=tuple((a, _in_units(e, aggregation)) for a, e in draft.estimates),
        mechanisms=draft.mechanisms,
        cost=draft.loss.event,
    )
    check_loss(plan)
    return plan


def check_loss(plan: Plan) -> None:
    """Stop if the noise that will be added does not pay for the loss that will be charged.

    The loss is computed again from the scales of the noise and from sensitivities derived anew; a plan whose
    parts do not fit each other never runs.
    """
    fitting = len(plan.mechanisms) == len(plan.aggregation.measures)
    spent = (
        NOTHING
        if not fitting
        else reduce(Event.__add__, (_paid(plan.aggregation, i, m) for i, m in enumerate(plan.mechanisms)), NOTHING)
    )
    same = spent.rho == plan.cost.rho if plan.cost.epsilon is None else spent.epsilon == plan.cost.epsilon
    if not (fitting and same):
        raise JaliError(
            "The plan's noise does not match its loss; nothing was asked. Please report this question."
        )


def _paid(aggregation: Aggregation, index: int, mechanism: Mechanism) -> Event:
    measure = aggregation.measures[index]
    if isinstance(mechanism, Gaussian):
        return Event(None, squared_l2_sensitivity(aggregation, measure) / (2 * mechanism.variance))
    epsilon = l1_sensitivity(aggregation, measure) / mechanism.scale
    return Event(epsilon, epsilon**2 / 2)


def _in_units(estimate: Estimate, aggregation: Aggregation) -> Estimate:
    """Turn coefficients per unit of a measure into coefficients per integer step of it."""
    below = None if estimate.denominator is None else _steps(estimate.denominator, aggregation)
    return Estimate(_steps(estimate.numerator, aggregation), below, estimate.bounds)


def _steps(form: Linear, aggregation: Aggregation) -> Linear:
    terms = tuple((i, c * aggregation.unit(aggregation.measures[i])) for i, c in form.terms)
    return Linear(terms, Fraction(form.constant))
