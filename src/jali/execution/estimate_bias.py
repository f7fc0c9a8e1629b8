"""Estimate the bias of a question from clamping and contribution bounds, by further questions.

Guarantee:
    All numbers are those of ordinary questions, which the ledger charges before any data is read. Which of them
    are asked, and for how much, is decided by the question and the declarations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from jali.catalog.tables import Catalog, Table
from jali.execution.accounts import Accounts
from jali.execution.ask import QuestionRunner
from jali.execution.bias import Removed
from jali.execution.declared_tables import DeclaredTables
from jali.execution.reservation import ReservationRequest, RunContext
from jali.ir.aggregates import CountPeople, Marks, SumValues
from jali.ir.estimators import Moment, Picked, RatioEstimate
from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Derived,
    Expression,
    Joined,
    Literal,
    NamedTable,
    Output,
    Question,
    Select,
    Source,
    walk,
)
from jali.planner import Plan
from jali.planner.terms import TermArguments
from jali.privacy import decimal
from jali.privacy.rationals import positive
from jali.sql.printer import show_expression

if TYPE_CHECKING:
    from jali.answer import Answer

NO_TABLES: Mapping[str, Table] = MappingProxyType({})
_UNSEEN = "Rows beyond max_rows were not looked at: that takes a table with a unit of its own, not a subquery"
# How many times max_rows of one person's rows are looked at, and how many at most.
_WIDER, _MOST = 8, 1 << 20


@dataclass(frozen=True)
class _ClampedValue:
    """A clamped value of a question, and the filter on its rows."""

    expression: Expression
    low: Fraction
    high: Fraction
    filter: Expression | None


@dataclass(frozen=True)
class _PlannedQuestion:
    """A question that is asked in place of another, ready to be bought."""

    plan: Plan
    order: ReservationRequest


class BiasEstimator:
    """Estimates what clamping and contribution bounds remove from a question."""

    def __init__(self, asking: QuestionRunner, tables: DeclaredTables, accounts: Accounts) -> None:
        self._accounts = accounts
        self._asking = asking
        self._tables = tables

    def estimate(
        self, question: str | Question, given: TermArguments, *, analyst: str | None, watch: RunContext
    ) -> Removed:
        """Plan the question, and ask how much it leaves out over all its groups."""
        watch.stage("planning")
        read, terms = self._asking.planner.read(question, given)
        asked = _drop_groups(read)
        plan = self._asking.plan(asked, terms)
        weights, values = plan.aggregation.weights, tuple(_find_clamps(asked, plan))
        bounds = weights is not None and _is_bounded(plan)
        owner = self._find_unit_column(asked.source) if bounds else None
        each = _divide_loss(terms, 2 if values and owner is not None else 1)
        clamped = self._plan(_count_outside(asked, values), each, analyst) if values else None
        bounded = None
        if weights is not None and owner is not None:
            beyond = _count_beyond(asked, owner, weights.max_rows)
            bounded = self._plan(beyond, each | {"max_rows": None}, analyst, _widen_tables(plan, weights.max_rows))
        self._check_affordable([one for one in (clamped, bounded) if one is not None])
        most = 1 if weights is None else weights.max_rows
        return Removed(
            self._answer(clamped, watch),
            self._answer(bounded, watch),
            max_rows=most,
            reach=most if bounded is None else bounded.plan.table.max_rows,
            notes=(_UNSEEN,) if bounds and owner is None else (),
        )

    def _answer(self, one: _PlannedQuestion | None, watch: RunContext) -> Answer | None:
        return None if one is None else self._asking.answer_request(one.order, one.plan, watch)

    def _plan(
        self, question: Question, given: TermArguments, analyst: str | None, wider: Mapping[str, Table] = NO_TABLES
    ) -> _PlannedQuestion:
        """Plan a question; some tables may count people for more rows than they are declared with."""
        tables = tuple(wider.get(table.name, table) for table in self._tables.map_by_name().values())
        plan = self._asking.planner.plan(question, given, Catalog(tables))
        return _PlannedQuestion(plan, self._asking.build_request(question, plan, analyst))

    def _check_affordable(self, orders: list[_PlannedQuestion]) -> None:
        """Refuse if the accounts cannot pay for all that is not paid yet together."""
        owed = [o.order for o in orders if not o.order.answered]
        debits = [debit for order in owed for debit in (*order.debits, *order.grants)]
        self._accounts.check_together(debits, "these counts")

    def _find_unit_column(self, source: Source) -> Column | None:
        """Return the column that names the people, of the first table that has one."""
        if isinstance(source, Joined):
            return self._find_unit_column(source.left) or self._find_unit_column(source.right)
        table = self._tables.map_by_name().get(source.name) if isinstance(source, NamedTable) else None
        if not isinstance(source, NamedTable) or not isinstance(table, Table) or table.unit is None:
            return None
        return Column(table.unit, table=source.alias or source.name)


def _divide_loss(given: TermArguments, questions: int) -> TermArguments:
    """Give each question the same part of the loss."""
    epsilon, rho = (
        None if loss is None else positive(loss, name) / questions
        for name, loss in (("epsilon", given.get("epsilon")), ("rho", given.get("rho")))
    )
    return {"epsilon": epsilon, "rho": rho, "max_rows": given.get("max_rows")}


def _widen_tables(plan: Plan, most: int) -> dict[str, Table]:
    """Return the tables of a plan as they would be if people counted for many more rows."""
    return {table.name: replace(table, max_rows=min(_WIDER * most, _MOST)) for table in plan.tables}


def _drop_groups(question: Question) -> Question:
    """Return a question for each aggregate of the outputs by itself, over all rows."""
    found = [node for output in question.outputs for node in walk(output.expression)]
    different = dict.fromkeys(node for node in found if isinstance(node, Aggregate))
    outputs = tuple(Output(f"a{place}", aggregate) for place, aggregate in enumerate(different))
    return Question(question.source, outputs, question.where)


def _find_clamps(question: Question, plan: Plan) -> Iterator[_ClampedValue]:
    """Yield what the aggregates clamp, as it is written, with the ranges of the plan."""
    estimates = dict(plan.estimates)
    for written, resolved in zip(question.outputs, plan.question.outputs, strict=True):
        one, same = written.expression, resolved.expression
        if isinstance(one, Aggregate) and isinstance(same, Aggregate) and one.argument is not None:
            arguments = (one.argument, *one.others)
            for argument, (low, high) in zip(arguments, _find_ranges(estimates[same], plan), strict=False):
                yield _ClampedValue(_strip_clamp(argument), low, high, one.filter)


def _is_bounded(plan: Plan) -> bool:
    """Say whether contribution bounds remove rows from a question. Counts of people lose none."""
    measures = plan.aggregation.measures
    places = [e.measures if isinstance(e, RatioEstimate) else None for _, e in plan.estimates]
    return any(p is None or any(not isinstance(measures[i], CountPeople) for i in p) for p in places)


def _find_ranges(estimate: object, plan: Plan) -> list[tuple[Fraction, Fraction]]:
    """Return the ranges that the arguments of an aggregate are clamped to; none for counts and chosen words."""
    if isinstance(estimate, Moment):
        spans = [estimate.x] if estimate.y is None else [estimate.y, estimate.x]
        return [(span.low, span.high) for span in spans]
    if isinstance(estimate, Picked) and isinstance(estimate.axis, Marks) and estimate.axis.kind.numeric:
        axis = estimate.axis
        return [(axis.low, axis.low + axis.top * axis.step)]
    measures = plan.aggregation.measures
    places = estimate.measures if isinstance(estimate, RatioEstimate) else ()
    return [(m.low, m.high) for m in map(measures.__getitem__, places) if isinstance(m, SumValues)]


def _strip_clamp(argument: Expression) -> Expression:
    clamp = isinstance(argument, Call) and argument.function == "clamp"
    return argument.arguments[0] if isinstance(argument, Call) and clamp else argument


def _count_outside(question: Question, values: tuple[_ClampedValue, ...]) -> Question:
    """Count the values that lie below and above their ranges; COUNT(x) leaves out what is no number."""
    counted = {"rows that count": Aggregate("count")}
    for value in values:
        rows = "" if value.filter is None else f" where {show_expression(value.filter)}"
        for function, end, said in (("<", value.low, "below"), (">", value.high, "above")):
            outside: Expression = Call(function, (value.expression, Literal(end)))
            kept = outside if value.filter is None else Call("and", (value.filter, outside))
            name = f"{show_expression(value.expression)} {said} {decimal(end)}{rows}"
            # A quantile's range may end a hair elsewhere than that of a mean: what reads the same is asked once.
            counted.setdefault(name, Aggregate("count", value.expression, filter=kept))
    return replace(question, outputs=tuple(Output(name, count) for name, count in counted.items()))


def _count_beyond(question: Question, owner: Column, most: int) -> Question:
    """Count the rows that each person has beyond the bound, and those people."""
    each = Select(
        question.source,
        (Output("owner", owner), Output("rows", Aggregate("count"))),
        where=question.where,
        group_by=(owner,),
    )
    rows, bound = Column("rows"), Literal(most)
    over = Call("greatest", (Call("-", (rows, bound)), Literal(0)))
    outputs = (
        Output("rows", Aggregate("sum", rows)),
        Output(f"rows beyond {most:,} of a person", Aggregate("sum", over)),
        Output("people who have such", Aggregate("count", filter=Call(">", (rows, bound)))),
    )
    return Question(Derived(each, "people"), outputs)
