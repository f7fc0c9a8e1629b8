"""One SELECT on its way to a relation: its rows, the names in sight, and what is still to be proved about them."""

from __future__ import annotations

from dataclasses import dataclass

from jali.planner.scope import Scope
from jali.query.nodes import Expression, Position
from jali.query.relation import Relation


@dataclass(frozen=True)
class Meeting:
    """Two protected relations that meet in an inner join: some condition must equate their owners."""

    left: Relation
    right: Relation
    position: Position


@dataclass(frozen=True)
class Level:
    """One SELECT on its way: its rows, the names in sight, and the meetings still to be proved."""

    relation: Relation
    scope: Scope
    meetings: tuple[Meeting, ...] = ()
    conditions: tuple[Expression, ...] = ()
