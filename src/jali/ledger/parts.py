"""Parts: debits that concern one part of a table's people each, and what they come to together.

Statement:
    A scheme puts every privacy unit into at most one of its parts. An account's sum is that of the debits that
    name no part, and for each scheme the largest of what any change of a unit adds up to: the debits of one part;
    and where a unit that changes can leave one part and enter another (`together` is 2), what the debits of two
    different parts cost when a unit is only added or removed. Largest means each number by itself.
Proof:
    docs/proofs/parallel.md, "Across questions".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from jali.ledger.addition import total
from jali.privacy import NOTHING, Event

if TYPE_CHECKING:
    from jali.ledger.debit import Debit


@dataclass(frozen=True)
class Part:
    """The part of a table's people that a debit concerns.

    Attributes:
        scheme: What decides who is in which part, as a text. Equal texts are equal schemes.
        key: Which part of the scheme.
        together: How many parts one unit that changes can touch: 1 where units come or go, 2 where one takes the
            place of another.
        apart: What the release costs when a unit is only added to this part or removed from it; None says: as much
            as the event of the debit. It serves where `together` is 2.
    """

    scheme: str
    key: str
    together: int = 1
    apart: Event | None = None


@dataclass(frozen=True)
class PartSum:
    """What was charged for one part.

    Attributes:
        inside: When a unit of the part changes and stays in it.
        apart: When a unit is added to the part or removed from it.
    """

    inside: Event = NOTHING
    apart: Event = NOTHING

    def after(self, debit: Debit) -> PartSum:
        """Add a debit of this part."""
        assert debit.part is not None
        alone = debit.event if debit.part.apart is None else debit.part.apart
        return PartSum(total(self.inside, debit.event), total(self.apart, alone))


@dataclass(frozen=True)
class PartLine:
    """One line of the books: what an account was charged for one part."""

    scheme: str
    key: str
    spent: Event


@dataclass(frozen=True)
class Sums:
    """The sums of an account, as one debit sees them.

    Attributes:
        common: What was charged to all people.
        others: The sum of the schemes that the debit is not of.
        scheme: The sum of its own scheme.
        part: What was charged for its own part.
        rival: The most that was charged for any other part of the scheme, when units come or go.
    """

    common: Event = NOTHING
    others: Event = NOTHING
    scheme: Event = NOTHING
    part: PartSum = PartSum()
    rival: Event = NOTHING

    @property
    def spent(self) -> Event:
        """The sum of the account."""
        return total(total(self.common, self.others), self.scheme)

    def after(self, debit: Debit) -> Sums:
        """Return the sums after a debit."""
        if debit.part is None:
            return replace(self, common=total(self.common, debit.event))
        mine = self.part.after(debit)
        found = replace(self, part=mine)
        return replace(found, scheme=larger(self.scheme, found.touched(debit.part.together)))

    def touched(self, together: int) -> Event:
        """Return the largest sum of the scheme over the changes of a unit that touch this part."""
        if together == 1:
            return self.part.inside
        return larger(self.part.inside, total(self.part.apart, self.rival))

    def before(self, together: int) -> Event:
        """Return what a further event of this part is added to, in the worst case."""
        return total(total(self.common, self.others), self.touched(together))


def larger(one: Event, other: Event) -> Event:
    """Return the larger of two events, each number by itself; no epsilon is larger than any."""
    both = None if one.epsilon is None or other.epsilon is None else max(one.epsilon, other.epsilon)
    return Event(both, max(one.rho, other.rho), max(one.delta, other.delta))


def largest(events: Iterable[Event]) -> Event:
    """Return the largest of several events, each number by itself."""
    return reduce(larger, events, NOTHING)


def added(events: Iterable[Event]) -> Event:
    """Add events in their order."""
    return reduce(total, events, NOTHING)


def hindered(before: Event, spent: Event, *, epsilon: Fraction, rho: Fraction) -> Event:
    """Return what a further event of a part counts on: its own sum, where the account's leaves that rule open.

    If other parts have used up one of the filter's two rules, none of this part's events can be admitted by it.
    """
    open_rule = spent.epsilon is not None and spent.epsilon <= epsilon
    return Event(before.epsilon if open_rule else None, before.rho if spent.rho <= rho else rho, before.delta)
