"""The draft of a plan, as it passes from rule to rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.planner.part import Draw, Level
from jali.planner.tell import Selection
from jali.planner.terms import Terms
from jali.query.aggregation import KeySet, Measure, Weights
from jali.query.catalog import Catalog
from jali.query.estimates import AnyEstimate
from jali.query.nodes import Aggregate, Question
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
    selection_share: Fraction = Fraction(0)
    selection: Selection | None = None
    levels: tuple[Level, ...] = ()

    @property
    def rows(self) -> Relation:
        """The owned rows, once they are known."""
        assert self.relation is not None
        return self.relation

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets, as places among the keys."""
        return self.question.sets or (tuple(range(len(self.question.group_by))),)
