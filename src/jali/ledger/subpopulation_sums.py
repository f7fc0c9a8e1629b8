"""The sums of debits, some of which concern a single subpopulation of a table.

Statement:
    A scheme puts every privacy unit into at most one of its parts. An account's sum is that of the debits that
    name no part, and for each scheme the largest of what any change of a unit adds up to: the debits of one part;
    and where a unit that changes can leave one part and enter another (`together` is 2), what the debits of two
    different parts cost when a unit is only added or removed. Largest means each number by itself.
Proof:
    docs/proofs/parallel.md, "Across questions".

Events are added exactly, until someone chose denominators that multiply without end: then sums are rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from jali.privacy import NOTHING, Event

if TYPE_CHECKING:
    from jali.ledger.charge import Debit


_SUM_BITS = 1024
_UNIT = 1 << 1000


def add_up(spent: Event, event: Event) -> Event:
    """Add exactly, but round up where someone chose denominators that multiply without end.

    Without the rounding, a few hundred questions with epsilon = 1/(a large prime) make sums of a million
    digits.
    """
    both = spent + event
    return Event(None if both.epsilon is None else _short(both.epsilon), _short(both.rho), _short(both.delta))


def _short(value: Fraction) -> Fraction:
    if value.denominator.bit_length() <= _SUM_BITS:
        return value
    return Fraction(-(-value.numerator * _UNIT // value.denominator), _UNIT)


@dataclass(frozen=True)
class DebitSubpopulation:
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
class SubpopulationSum:
    """What was charged for one part.

    Attributes:
        inside: When a unit of the part changes and stays in it.
        apart: When a unit is added to the part or removed from it.
    """

    inside: Event = NOTHING
    apart: Event = NOTHING

    def after(self, debit: Debit) -> SubpopulationSum:
        """Add a debit of this part."""
        assert debit.part is not None
        alone = debit.event if debit.part.apart is None else debit.part.apart
        return SubpopulationSum(add_up(self.inside, debit.event), add_up(self.apart, alone))


@dataclass(frozen=True)
class SubpopulationSpending:
    """What an account was charged for one subpopulation."""

    scheme: str
    key: str
    spent: Event


@dataclass(frozen=True)
class AccountSums:
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
    part: SubpopulationSum = SubpopulationSum()
    rival: Event = NOTHING

    @property
    def overall(self) -> Event:
        """The sum of the account."""
        return add_up(add_up(self.common, self.others), self.scheme)

    def after(self, debit: Debit) -> AccountSums:
        """Return the sums after a debit."""
        if debit.part is None:
            return replace(self, common=add_up(self.common, debit.event))
        mine = self.part.after(debit)
        found = replace(self, part=mine)
        return replace(found, scheme=larger(self.scheme, found.largest_change(debit.part.together)))

    def largest_change(self, together: int) -> Event:
        """Return the largest sum of the scheme over the changes of a unit that touch this part."""
        if together == 1:
            return self.part.inside
        return larger(self.part.inside, add_up(self.part.apart, self.rival))

    def before(self, together: int) -> Event:
        """Return what a further event of this part is added to, in the worst case."""
        return add_up(add_up(self.common, self.others), self.largest_change(together))


def larger(one: Event, other: Event) -> Event:
    """Return the larger of two events, each number by itself; no epsilon is larger than any."""
    both = None if one.epsilon is None or other.epsilon is None else max(one.epsilon, other.epsilon)
    return Event(both, max(one.rho, other.rho), max(one.delta, other.delta))


def largest(events: Iterable[Event]) -> Event:
    """Return the largest of several events, each number by itself."""
    return reduce(larger, events, NOTHING)


def add_events(events: Iterable[Event]) -> Event:
    """Add events in their order."""
    return reduce(add_up, events, NOTHING)


def find_binding_sum(before: Event, spent: Event, *, epsilon: Fraction, rho: Fraction) -> Event:
    """Return what a further event of a part counts on: its own sum, where the account's leaves that rule open.

    If other parts have used up one of the filter's two rules, none of this part's events can be admitted by it.
    """
    open_rule = spent.epsilon is not None and spent.epsilon <= epsilon
    return Event(before.epsilon if open_rule else None, before.rho if spent.rho <= rho else rho, before.delta)
