"""Partitions: what a question about one part costs each table, and what it is charged under.

Statement:
    Let a question read a table T through one of its parts only. When one unit of T changes, its answer changes law
    only if the unit belongs to this part before or after. When one unit of another table P does, the same is true
    where every row of the question needs a row of the part; elsewhere P is charged as without parts. Where units
    are replaced, one may leave this part and another enter another part: each is an addition or removal, whose
    loss is computed from the same noise.
Proof:
    docs/proofs/parallel.md, "Across questions".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from jali.planner.membership import Membership
from jali.planner.plan import Plan, spent
from jali.planner.serialization import PLANS
from jali.planner.show_expression import show_expression
from jali.privacy import Adjacency, Event
from jali.query.catalog import Table
from jali.query.ownership import own, protected
from jali.query.relation import Scan
from jali.serialization.schema import VALUES

# How people are put into parts: by MD5 of owner and place, then by place. Another way is another scheme.
HASH_VERSION = 1


def touches(plan: Plan, table: Table) -> tuple[int, Event | None] | None:
    """Return how many parts a unit of a table can touch, and the loss when it comes or goes.

    None where the table is charged as without parts. Without an event, it is that of the whole charge.
    """
    member, needed = plan.part, own(plan.source).needed
    if member is None or (table.name != member.table and member.table not in needed):
        return None
    if together(table) == 1:
        return 1, None
    return together(table), spent(plan, 1 if table.name in needed else 2)


def together(table: Table) -> int:
    """Return how many parts a unit of a table that changes can touch."""
    return 1 if table.adjacency is Adjacency.ADD_REMOVE else 2


def scheme(member: Membership, table: Table, charged: Table, data_version: Callable[[str], int]) -> str:
    """Name what decides who is in which part of a table, as the account of a charged table sees it.

    The versions of the data are in it: new data may move people between parts, so that a new scheme begins, whose
    sum is added to the old one's. So are the sources, the units and the types as they are declared.
    """
    deciding = protected(Scan(table))
    versions = tuple((one.name, data_version(one.name)) for one in deciding)
    how = (HASH_VERSION, member.table, member.expression, member.kind, member.values)
    told = PLANS.encode((how, versions, tuple(_declared(one) for one in deciding), _declared(charged)))
    return f"{shown(member)} [{hashlib.sha256(told.encode()).hexdigest()[:40]}]"


def _declared(table: Table) -> tuple[object, ...]:
    """Return what says where the rows of a table are read, whose they are, and how its columns are read."""
    reach = None if table.reach is None else (table.reach.table.name, table.reach.here, table.reach.there)
    columns = tuple((field.name, field.kind, field.type) for field in table.fields)
    return table.name, table.source, table.copy, table.unit, reach, table.adjacency, columns


def key_text(member: Membership) -> str:
    """Write the key of a part so that different keys stay different."""
    return VALUES.encode(member.key)


def shown(member: Membership) -> str:
    """Name a partition, for the eye."""
    return f"{member.table} by {show_expression(member.expression)}"


def in_words(member: Membership | None) -> str:
    """Say which part a question is about, after its text; nothing for a whole table."""
    return "" if member is None else f" [{member.key} of {shown(member)}]"
