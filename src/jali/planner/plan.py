"""The plan: everything that is decided about a question before any data is read.

Its loss is computed again from the noise that will be added and from sensitivities derived again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce

from jali.catalog.tables import Public, Table
from jali.errors import JaliError
from jali.ir.aggregates import Aggregation, CountRows, KeySet, Weights
from jali.ir.estimators import AnyEstimate, LinearCombination, Moment, RatioEstimate
from jali.ir.expressions import Aggregate, Question
from jali.ir.ownership import changes, list_protected_tables, most_changes, own
from jali.ir.relations import Relation, sources
from jali.mechanisms.partition_selection.group_selection import GroupSelection
from jali.planner.draft import Draft
from jali.planner.joint_noise import is_whole_block, may_leave_together
from jali.planner.measured_query import GroupingSet, MeasuredQuery
from jali.planner.partition_selection import charge_selection, find_selection_count
from jali.planner.query_sensitivity import QuerySensitivity
from jali.planner.subpopulations import ResolvedSubpopulation
from jali.planner.terms import AccuracyTarget
from jali.privacy import NOTHING, Event


def compute_release_loss(part: MeasuredQuery, index: int, changes: int) -> Event:
    """Return the loss of one release when so many bounded vectors change."""
    return part.mechanisms[index].compute_event(find_release_sensitivity(part, index, changes))


def find_release_sensitivity(part: MeasuredQuery, index: int, changes: int) -> QuerySensitivity:
    """Return how far one unit moves what a release looks at when so many bounded vectors change."""
    if not part.draws:
        return QuerySensitivity(
            part.aggregation, changes, part.aggregation.measures[index], times=part.multipliers
        )
    draw = part.draws[index]
    return QuerySensitivity(part.aggregation, changes, CountRows(), draw.at, draw.picks, part.multipliers)


def _find_sensitivities(part: MeasuredQuery, changes: int) -> list[QuerySensitivity]:
    """Return how far one unit moves what each release of a part looks at."""
    found = [find_release_sensitivity(part, i, changes) for i in range(len(part.mechanisms))]
    if part.block and not part.draws:
        # The first measure of a block is charged for all of them: its mechanism is handed a number.
        _ = found[min(part.block)].joint
    return found


# What a plan keeps once it was written.
_TEXTS = ("encoded", "meaning")


@dataclass(frozen=True)
class Plan:
    """A frozen plan: the engine's queries, the noise, the loss, and how the answer is made from the releases.

    Attributes:
        question: The question, with every name resolved.
        keys: The keys of each grouping expression.
        levels: One for each grouping set: what is computed, and through which mechanisms it leaves.
        estimates: How each aggregate is made from the releases of a level.
        cost: The loss of the whole question, for the table that it costs most.
        costs: The loss for each protected table.
        selection: How the groups that are shown are chosen, where they are not known before: by coins, or by the
            noisy count of their people, which then stands among the mechanisms too and is paid once.
        part: The part of a table that the question is about; None for all of it.
        charged: By how much the sums of the tables would grow now, where that is less than the loss: other parts
            have paid. It is told by `explain` and not stored.
        aim: How close the answer is to be, where that decided the loss. It is told by `explain` and not stored:
            the plan is that of the same question asked with the loss.
        leaves: What it would leave of each account that pays. It is told by `explain` and not stored.
    """

    question: Question
    keys: tuple[KeySet, ...]
    levels: tuple[GroupingSet, ...]
    estimates: tuple[tuple[Aggregate, AnyEstimate], ...]
    cost: Event
    costs: tuple[tuple[str, Event], ...] = ()
    selection: GroupSelection | None = None
    part: ResolvedSubpopulation | None = None
    charged: tuple[tuple[str, Event], ...] = field(default=(), compare=False)
    aim: AccuracyTarget | None = field(default=None, compare=False)
    leaves: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def source(self) -> Relation:
        """The owned rows that the question is about."""
        return self.levels[0].aggregation.source

    @property
    def aggregation(self) -> Aggregation:
        """What is computed of each group, first of all."""
        return self.levels[0].aggregation

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The protected tables."""
        return list_protected_tables(self.source)

    @property
    def table(self) -> Table:
        """The first protected table."""
        return self.tables[0]

    @cached_property
    def read(self) -> tuple[Table | Public, ...]:
        """Every table that is read, public ones too."""
        return sources(self.source)

    @cached_property
    def parts(self) -> tuple[MeasuredQuery, ...]:
        """The queries of all levels."""
        return tuple(part for level in self.levels for part in level.parts)

    @cached_property
    def encoded(self) -> str:
        """The plan as text: what the ledger keeps. What is told about accounts is not in it."""
        from jali.planner.plan_schema import PLANS

        return PLANS.encode(self)

    @cached_property
    def meaning(self) -> str:
        """The plan as text without the engine's queries: what equal questions share, whatever writes their SQL."""
        from jali.planner.plan_schema import PLANS

        return PLANS.encode(without_sql(self))

    def telling(self, charged: tuple[tuple[str, Event], ...], leaves: tuple[tuple[str, str], ...]) -> Plan:
        """Return the same plan, which also says what the accounts would be charged and left with now."""
        made = replace(self, charged=charged, leaves=leaves)
        made.__dict__.update({name: self.__dict__[name] for name in _TEXTS if name in self.__dict__})
        return made

    @property
    def sql(self) -> str:
        """The engine's queries."""
        return ";\n\n".join(part.sql for part in self.parts)

    @property
    def events(self) -> tuple[Event, ...]:
        """The loss of each release: first that of choosing the groups, which tells a count too where it can."""
        found = tuple(event for p in self.parts for m in p.mechanisms for event in m.list_charges())
        return found if self.selection is None else (self.selection.loss.event, *found)

    @cached_property
    def selection_count(self) -> int | None:
        """Which release is the count that the groups are selected by, if it is released too."""
        if self.selection is None or self.selection.counts is None:
            return None
        return find_selection_count(self.aggregation.measures, self.aggregation.weights, most_changes(self.source))

    def __repr__(self) -> str:
        return f"Plan(a question on {', '.join(table.name for table in self.tables)}; cost {self.cost})"

    def __str__(self) -> str:
        from jali.explain.plan_text import render_plan

        return render_plan(self)

    def _repr_html_(self) -> str:
        from jali.explain.plan_text import render_plan_html

        return render_plan_html(self)


def without_sql(plan: Plan) -> Plan:
    """Return the same plan without the engine's queries."""
    levels = (replace(level, parts=tuple(replace(part, sql="") for part in level.parts)) for level in plan.levels)
    return replace(plan, levels=tuple(levels))


def finish(draft: Draft) -> Plan:
    """Freeze a finished draft, after computing its loss again from what will really run."""
    plan = Plan(
        question=draft.question,
        keys=draft.keys,
        levels=draft.levels,
        estimates=tuple((a, _in_units(e, draft.levels[0])) for a, e in draft.estimates),
        cost=NOTHING,
        selection=draft.selection,
        part=draft.part,
    )
    moved = _list_changes(plan)
    sensitivities = {number: _list_sensitivities(plan, number) for number in dict.fromkeys(moved)}
    _check_parts(plan)
    losses = {number: _add_losses(plan, number, found) for number, found in sensitivities.items()}
    most, *each = [losses[number] for number in moved]
    asked = draft.terms.loss.event
    within = most.rho <= asked.rho if asked.epsilon is None else most.epsilon == asked.epsilon
    if not within or most.delta > draft.terms.delta:
        raise _loss_mismatch()
    return replace(plan, costs=tuple(zip((table.name for table in plan.tables), each, strict=True)), cost=most)


def compute_loss(plan: Plan, moved: int) -> Event:
    """Return the loss for a table of which one unit changes so many bounded vectors."""
    return _add_losses(plan, moved, _list_sensitivities(plan, moved))


def _add_losses(plan: Plan, moved: int, sensitivities: list[QuerySensitivity]) -> Event:
    """Add up the losses of all releases, of which the sensitivities are given, and of the selection of groups."""
    mechanisms = [mechanism for part in plan.parts for mechanism in part.mechanisms]
    pairs = zip(mechanisms, sensitivities, strict=True)
    events = [mechanism.compute_event(sensitivity) for mechanism, sensitivity in pairs]
    if plan.selection is not None:
        chosen = charge_selection(plan.selection, plan.aggregation, moved)
        if chosen is None:
            raise _loss_mismatch()
        events.append(chosen)
    total = reduce(Event.__add__, events, NOTHING)
    return replace(total, epsilon=None) if any(event.epsilon is None for event in events) else total


def _list_sensitivities(plan: Plan, moved: int) -> list[QuerySensitivity]:
    """Return how far a unit that changes so many bounded vectors moves what each release looks at."""
    return [found for part in plan.parts for found in _find_sensitivities(part, moved)]


def check_loss(plan: Plan) -> None:
    """Stop if the noise that will be added does not pay for the loss that will be charged.

    The loss is computed again from the scales of the noise and from sensitivities derived again; a plan whose
    parts do not fit each other never runs.
    """
    _check_parts(plan)
    if [name for name, _ in plan.costs] != [table.name for table in plan.tables]:
        raise _loss_mismatch()
    losses = {number: compute_loss(plan, number) for number in dict.fromkeys(_list_changes(plan))}
    if [losses[number] for number in _list_changes(plan)] != [plan.cost, *(cost for _, cost in plan.costs)]:
        raise _loss_mismatch()


def _check_parts(plan: Plan) -> None:
    """Stop if the parts of a plan do not fit each other."""
    fitting = all(
        len(p.mechanisms) == len(p.draws or p.aggregation.measures) and may_leave_together(p) for p in plan.parts
    )
    fitting = fitting and all(_is_bounded(part.aggregation.weights) for part in plan.parts)
    fitting = fitting and (plan.part is None or all(plan.part.holds(p.aggregation.source) for p in plan.parts))
    fitting = fitting and not own(plan.source).public and _counts_leave_once(plan)
    if not (fitting and all(is_whole_block(part) for part in plan.parts)):
        raise _loss_mismatch()


def _list_changes(plan: Plan) -> list[int]:
    """Return how many bounded vectors one unit changes where it changes most, then of each table."""
    return [most_changes(plan.source), *(changes(plan.source, table) for table in plan.tables)]


def _is_bounded(weights: Weights | None) -> bool:
    """Say whether a bound is one: nothing of it is 0 or below."""
    return weights is None or min(weights.max_rows, weights.max_groups, weights.resolution) >= 1


def _counts_leave_once(plan: Plan) -> bool:
    """Say whether no count leaves by the noise of a selection but the one that the groups are chosen by."""
    all_of = [m for part in plan.parts for m in part.mechanisms]
    found: list[tuple[int, object]] = [(place, m) for place, m in enumerate(all_of) if m.prepaid]
    return found == ([] if plan.selection_count is None else [(plan.selection_count, plan.selection)])


def _loss_mismatch() -> JaliError:
    return JaliError("plan-loss-mismatch")


def _in_units(estimate: AnyEstimate, level: GroupingSet) -> AnyEstimate:
    """Turn coefficients per unit of a measure into coefficients per integer step of what is released of it."""
    if isinstance(estimate, RatioEstimate):
        below = None if estimate.denominator is None else _steps(estimate.denominator, level)
        return RatioEstimate(_steps(estimate.numerator, level), below, estimate.bounds, _whole(estimate, level))
    if isinstance(estimate, Moment):
        return replace(estimate, sums=tuple((name, _steps(form, level)) for name, form in estimate.sums))
    return estimate


def _whole(estimate: RatioEstimate, level: GroupingSet) -> bool:
    """Say whether the exact value is whole: one of whole numbers of rows that each weigh 1."""
    terms = estimate.numerator.terms
    units = [c * level.worth(i) * level.times(i) for i, c in terms]
    several = any(level.times(i) > 1 for i, _ in terms)
    return several and estimate.denominator is None and all(unit.denominator == 1 for unit in units)


def _steps(form: LinearCombination, level: GroupingSet) -> LinearCombination:
    return LinearCombination(tuple((i, c * level.worth(i)) for i, c in form.terms), Fraction(form.constant))
