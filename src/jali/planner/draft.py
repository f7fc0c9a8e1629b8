"""The draft of a plan, as it passes from rule to rule."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from jali.catalog.tables import Catalog
from jali.ir.aggregates import Aggregation, KeySet, Measure, Weights
from jali.ir.estimators import AnyEstimate
from jali.ir.expressions import Aggregate, Question
from jali.ir.ownership import most_changes
from jali.ir.relations import Relation
from jali.mechanisms.partition_selection.group_selection import GroupSelection
from jali.planner.measured_query import AxisRelease, GroupingSet
from jali.planner.partition_selection import find_selection_count
from jali.planner.subpopulations import ResolvedSubpopulation
from jali.planner.terms import QuestionTerms
from jali.sql.question_limits import DEFAULT, Limits


@dataclass(frozen=True)
class Draft:
    """A question on its way to a plan. Each rule fills in one part and leaves the rest.

    Attributes:
        relation: The owned rows that the question is about.
        keys: The keys of each grouping expression.
        selecting: Whether the groups that are shown must be chosen privately.
        measures: The integers that are summed, each once.
        draws: What is drawn from the rows along an axis.
        estimates: How the aggregates are made from what is released.
        importance: How much the error of each release matters.
        shares: What part of the loss each grouping set, and each release within it, gets.
        together: Which measures leave by one noise, for the sum of their shares.
        limits: How large the plan may be.
    """

    question: Question
    catalog: Catalog
    terms: QuestionTerms
    relation: Relation | None = None
    keys: tuple[KeySet, ...] = ()
    selecting: bool = False
    min_people: int = 1
    measures: tuple[Measure, ...] = ()
    draws: tuple[AxisRelease, ...] = ()
    estimates: tuple[tuple[Aggregate, AnyEstimate], ...] = ()
    importance: tuple[float, ...] = ()
    weights: Weights | None = None
    set_shares: tuple[Fraction, ...] = (Fraction(1),)
    shares: tuple[Fraction, ...] = ()
    together: tuple[int, ...] = ()
    selection_share: Fraction = Fraction(0)
    selection: GroupSelection | None = None
    levels: tuple[GroupingSet, ...] = ()
    part: ResolvedSubpopulation | None = None
    limits: Limits = DEFAULT

    @property
    def rows(self) -> Relation:
        """The owned rows, once they are known."""
        assert self.relation is not None
        return self.relation

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets, as places among the keys."""
        return self.question.sets or (tuple(range(len(self.question.group_by))),)

    @property
    def uses_rho(self) -> bool:
        """Whether the loss is one in rho."""
        return self.terms.loss.event.epsilon is None

    @property
    def changes(self) -> int:
        """How many bounded vectors one unit changes, in the table where it changes most."""
        return most_changes(self.rows)

    @property
    def selection_count(self) -> int | None:
        """Which measure is released together with the choice of its group."""
        return find_selection_count(self.measures, self.weights, self.changes) if self.selecting else None

    def aggregation(self, places: tuple[int, ...]) -> Aggregation:
        """Return what is computed of each group of one grouping set."""
        keys = tuple(self.keys[place] for place in places)
        several = self.question.sets is not None
        return Aggregation(
            self.rows,
            keys,
            self.measures,
            self._weights(keys),
            selecting=self.selecting,
            # Every set weighs the same rows, those with declared keys in all columns: only then do totals agree.
            required=self.keys if several else (),
            one_of_several=several,
        )

    def _weights(self, keys: tuple[KeySet, ...]) -> Weights | None:
        if self.weights is None or self.selecting:
            return self.weights
        groups = math.prod(len(key.values or ()) for key in keys)
        most = self.terms.max_groups or self.weights.max_rows
        return replace(self.weights, max_groups=min(most, groups))
