"""Plan a batch: which questions share a release, and how each answer is computed from the releases."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial

from jali.catalog.tables import Catalog, Public, Table
from jali.errors import QueryError
from jali.ir.estimators import AnyEstimate
from jali.ir.expressions import Aggregate, Question
from jali.numbers.search import bisect
from jali.planner.batch.batch_rules import (
    BatchNoise,
    MergedRelease,
    forecast_gaussian,
    forecast_laplace,
    merge_drafts,
    share_loss,
    weigh_together,
)
from jali.planner.batch.batch_terms import (
    CLEARLY,
    BatchBudget,
    WeightedQuestion,
    choose_cheaper,
    compose_releases,
    name_question_in_errors,
    parts_cost,
    whole_cost,
    with_loss,
)
from jali.planner.draft import Draft
from jali.planner.plan import Plan, finish, without_sql
from jali.planner.plan_schema import PLANS
from jali.planner.rules.bound_contributions import bound_contributions
from jali.planner.rules.bound_per_group import bound_per_group
from jali.planner.rules.choose_keys import choose_keys
from jali.planner.rules.choose_mechanisms import choose_mechanisms
from jali.planner.rules.measure_aggregates import measure_aggregates
from jali.planner.rules.qualify_names import qualify_names
from jali.planner.rules.split_loss import split_loss
from jali.planner.terms import scale_loss
from jali.privacy import Concentrated, Event, Loss, Pure
from jali.serialization.schema import define_type, write_plain
from jali.sql.printer import show_question
from jali.sql.question_limits import DEFAULT, Limits

# The rules of a question up to where batches look at all of them. Rows are weighed by their number: weights by the
# L2 norm depend on the groups, so that a total would not be the sum of its parts.
_FIRST: tuple[Callable[[Draft], Draft], ...] = (
    qualify_names,
    choose_keys,
    bound_per_group,
    bound_contributions,
    measure_aggregates,
)
_MOST = 1000
_STEPS, _FURTHEST = 5, 4


@dataclass(frozen=True)
class BatchReading:
    """One question: which release answers it, and how.

    Attributes:
        question: The question, with every name resolved.
        place: Which of the releases.
        estimates: How each aggregate is made from it.
        written: The question in words, before names were resolved and its condition moved.
    """

    question: Question
    place: int
    estimates: tuple[tuple[Aggregate, AnyEstimate], ...]
    written: str = ""


@dataclass(frozen=True)
class BatchPlan:
    """A frozen plan of several questions.

    Attributes:
        plans: What is released, each with its queries and noise.
        readings: The questions, in the order in which they were asked.
        cost: The loss of the whole batch, for the table that it costs most.
        costs: The loss for each protected table.
        parts: The sum of what the releases cost each table, which `costs` is at most.
        delta: What pays for composing more sharply than by sums.
        agree: Whether the answers are made to agree.
        ways: The noises that were considered with their forecast errors, the one that was taken first.
        leaves: What it would leave of each account that pays. It is told by `explain` and not stored.
    """

    plans: tuple[Plan, ...]
    readings: tuple[BatchReading, ...]
    cost: Event
    costs: tuple[tuple[str, Event], ...]
    parts: tuple[tuple[str, Event], ...]
    delta: Fraction = Fraction(0)
    agree: bool = True
    ways: tuple[tuple[str, float], ...] = ()
    leaves: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The protected tables."""
        return tuple(dict.fromkeys(table for plan in self.plans for table in plan.tables))

    @property
    def read(self) -> tuple[Table | Public, ...]:
        """Every table that is read."""
        return tuple(dict.fromkeys(table for plan in self.plans for table in plan.read))

    @property
    def sql(self) -> str:
        """The engine's queries, each once."""
        return ";\n\n".join(dict.fromkeys(part.sql for plan in self.plans for part in plan.parts))

    @cached_property
    def encoded(self) -> str:
        """The plan as text: what the ledger keeps. What it would leave of accounts is not in it."""
        return BATCHES.encode(self)

    @cached_property
    def meaning(self) -> str:
        """The same without its words and the engine's queries: what is asked again otherwise is the same batch."""
        readings = tuple(replace(reading, written="") for reading in self.readings)
        return BATCHES.encode(replace(self, readings=readings, plans=tuple(map(without_sql, self.plans))))

    def telling(self, leaves: tuple[tuple[str, str], ...]) -> BatchPlan:
        """Return the same plan, which also says what it would leave of each account."""
        made = replace(self, leaves=leaves)
        made.__dict__.update(encoded=self.encoded, meaning=self.meaning)
        return made

    def __repr__(self) -> str:
        return f"BatchPlan({len(self.readings)} questions in {len(self.plans)} releases; cost {self.cost})"

    def __str__(self) -> str:
        from jali.explain.batch_text import render_batch

        return render_batch(self)


# Plans of batches and of single questions.
BATCHES = PLANS.extend(
    (
        define_type("BatchPlan", BatchPlan, "plans readings cost costs parts delta agree ways"),
        define_type("ReadBy", BatchReading, "question place estimates written"),
    )
)


def without_words(stored: str) -> str:
    """Return a stored plan without the words of a batch: the text that earlier versions made a key of."""
    plain = json.loads(stored)
    for reading in plain.get("readings", ()):
        reading["written"] = ""
    return write_plain(plain)


def plan_batch(
    asked: Sequence[WeightedQuestion],
    catalog: Catalog,
    total: BatchBudget,
    *,
    agree: bool = True,
    limits: Limits = DEFAULT,
) -> BatchPlan:
    """Plan all questions of a batch, or refuse it and say which question cannot be planned."""
    if not 1 <= len(asked) <= _MOST:
        raise QueryError("batch-size", most=_MOST, count=len(asked))
    drafting = _Drafting(asked, catalog, agree, limits)
    if total.loss is None:
        return _add_costs(_own_losses(drafting), total, agree)
    first = _split(drafting, total.loss)
    if total.delta == 0 or not isinstance(total.loss, Pure):
        return _add_costs(first, total, agree)
    return _choose_noise(drafting, first, total)


@dataclass(frozen=True)
class _Drafting:
    """What the drafts of a batch are made from."""

    asked: Sequence[WeightedQuestion]
    catalog: Catalog
    agree: bool
    limits: Limits

    def drafts(self, each: Loss | None = None) -> list[Draft]:
        """Begin all questions, at their own losses or at one for each."""
        asked = self.asked if each is None else [replace(a, terms=with_loss(a.terms, each)) for a in self.asked]
        drafts = [name_question_in_errors(place, partial(self._begin, one)) for place, one in enumerate(asked)]
        return weigh_together(drafts) if self.agree else drafts

    def _begin(self, asked: WeightedQuestion) -> Draft:
        draft = Draft(asked.question, self.catalog, asked.terms, limits=self.limits)
        for rule in _FIRST:
            draft = rule(draft)
        return draft


@dataclass(frozen=True)
class _Split:
    """The questions on their way: in words, their drafts, what leaves together, and the plans of that."""

    written: tuple[str, ...]
    drafts: tuple[Draft, ...]
    releases: tuple[MergedRelease, ...]
    plans: tuple[Plan, ...]


def _split(drafting: _Drafting, loss: Loss) -> _Split:
    """Split a loss over the questions."""
    asked = drafting.asked
    drafts = drafting.drafts(scale_loss(loss, Fraction(1, len(asked))))
    releases = merge_drafts(drafts, [one.weight for one in asked], joined=True)
    return _Split(_write_questions(asked), tuple(drafts), tuple(releases), _with_loss(releases, loss))


def _own_losses(drafting: _Drafting) -> _Split:
    """Plan questions that have losses of their own; equal ones leave together."""
    asked, drafts = drafting.asked, drafting.drafts()
    releases = merge_drafts(drafts, [one.weight for one in asked], joined=False)
    plans = tuple(_finish_release(release, release.draft.terms.loss) for release in releases)
    return _Split(_write_questions(asked), tuple(drafts), tuple(releases), plans)


def _write_questions(asked: Sequence[WeightedQuestion]) -> tuple[str, ...]:
    return tuple(show_question(one.question) for one in asked)


def _with_loss(releases: Sequence[MergedRelease], loss: Loss) -> tuple[Plan, ...]:
    parts = share_loss(releases, concentrated=loss.event.epsilon is None)
    return tuple(_finish_release(one, scale_loss(loss, part)) for one, part in zip(releases, parts, strict=True))


def _finish_release(release: MergedRelease, loss: Loss) -> Plan:
    draft = replace(release.draft, terms=with_loss(release.draft.terms, loss))
    return name_question_in_errors(release.places[0], lambda: finish(choose_mechanisms(split_loss(draft))))


def _choose_noise(drafting: _Drafting, first: _Split, total: BatchBudget) -> BatchPlan:
    """Choose the noise for a total of (epsilon, delta) by the least forecast error."""
    loss = total.loss
    assert isinstance(loss, Pure)
    found: list[BatchNoise] = [forecast_laplace(first.releases, loss, "Laplace or joint noise, losses added up")]
    larger = _find_larger_loss(first.releases, loss, total.delta)
    if larger > loss.bound:
        found.append(
            forecast_laplace(first.releases, Pure(larger), "Laplace or joint noise, losses composed at delta")
        )
    gaussian = _split(drafting, Concentrated(loss.bound**2 / 2))
    way = forecast_gaussian(gaussian.releases, loss.bound, total.delta)
    found += [] if way is None else [way]
    found.sort(key=lambda way: way.error)
    taken = first if found[0].loss == loss else _split(drafting, found[0].loss)
    return _add_costs(taken, total, drafting.agree, tuple((way.name, way.error) for way in found))


def _find_larger_loss(releases: Sequence[MergedRelease], loss: Pure, delta: Fraction) -> Fraction:
    """Return a sum of losses that composes to at most the loss at delta for every table; else the loss."""

    def fits(bound: Fraction) -> bool:
        plans = _with_loss(releases, Pure(bound))
        return all(compose_releases(plans, table).epsilon(delta) <= loss.bound for table in _tables(plans))

    low, high = loss.bound, _FURTHEST * loss.bound
    # Considered where the losses compose to clearly less than their sum.
    if not fits(low * CLEARLY):
        return low

    def middle(low: Fraction, high: Fraction) -> Fraction:
        return loss.bound * Fraction(round(float(low * high) ** 0.5 / float(loss.bound) * 1024), 1024)

    return bisect(lambda bound: not fits(bound), low, high, steps=_STEPS, middle=middle)[0]


def _tables(plans: Sequence[Plan]) -> tuple[Table, ...]:
    return tuple(dict.fromkeys(table for plan in plans for table in plan.tables))


def _add_costs(
    split: _Split, total: BatchBudget, agree: bool, ways: tuple[tuple[str, float], ...] = ()
) -> BatchPlan:
    """Say what the batch costs each table: the sum of its parts, or the whole where that is less."""
    plans, tables = split.plans, _tables(split.plans)
    parts = tuple((table.name, parts_cost(plans, table)) for table in tables)
    costs = tuple((table.name, _cost(plans, table, total)) for table in tables)
    dearest = max((cost for _, cost in costs), key=lambda event: (event.epsilon or Fraction(0), event.rho))
    return BatchPlan(plans, _readings(split), dearest, costs, parts, total.delta, agree, ways)


def _cost(plans: Sequence[Plan], table: Table, total: BatchBudget) -> Event:
    parts = parts_cost(plans, table)
    if not total.delta:
        return parts
    limit = total.loss.event.epsilon if total.loss is not None else None
    return choose_cheaper(parts, whole_cost(plans, table, total.delta, limit), table.budget, limit)


def _readings(split: _Split) -> tuple[BatchReading, ...]:
    found: dict[int, BatchReading] = {}
    for place, (release, plan) in enumerate(zip(split.releases, split.plans, strict=True)):
        rest = iter(plan.estimates)
        for asked in release.places:
            draft = split.drafts[asked]
            made = tuple(next(rest) for _ in draft.estimates)
            found[asked] = BatchReading(draft.question, place, made, split.written[asked])
    return tuple(found[asked] for asked in sorted(found))
