"""The draft of a plan, as it passes from rule to rule."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from jali.mechanisms.keys.group_selection import GroupSelection
from jali.planner.membership import Membership
from jali.planner.part import Draw, Level
from jali.planner.tell import told_place
from jali.planner.terms import Terms
from jali.query.aggregation import Aggregation, KeySet, Measure, Weights
from jali.query.catalog import Catalog
from jali.query.estimates import AnyEstimate
from jali.query.limits import DEFAULT, Limits
from jali.query.nodes import Aggregate, Question
from jali.query.ownership import most_changes
from jali.query.relation import Relation


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
    terms: Terms
    relation: Relation | None = None
    keys: tuple[KeySet, ...] = ()
    selecting: bool = False
    min_people: int = 1
    measures: tuple[Measure, ...] = ()
    draws: tuple[Draw, ...] = ()
    estimates: tuple[tuple[Aggregate, AnyEstimate], ...] = ()
    importance: tuple[float, ...] = ()
    weights: Weights | None = None
    set_shares: tuple[Fraction, ...] = (Fraction(1),)
    shares: tuple[Fraction, ...] = ()
    together: tuple[int, ...] = ()
    selection_share: Fraction = Fraction(0)
    selection: GroupSelection | None = None
    levels: tuple[Level, ...] = ()
    part: Membership | None = None
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
    def concentrated(self) -> bool:
        """Whether the loss is one in rho."""
        return self.terms.loss.event.epsilon is None

    @property
    def changes(self) -> int:
        """How many bounded vectors one unit changes, in the table where it changes most."""
        return most_changes(self.rows)

    @property
    def told(self) -> int | None:
        """Which measure is told together with its group."""
        return told_place(self.measures, self.weights, self.changes) if self.selecting else None

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
