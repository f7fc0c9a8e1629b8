"""What a question about one subpopulation costs each table, and under which scheme it is charged.

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

from jali.catalog.tables import Table
from jali.ir.ownership import list_protected_tables, own
from jali.ir.relations import Scan
from jali.planner.plan import Plan, compute_loss
from jali.planner.plan_schema import PLANS
from jali.planner.subpopulations import ResolvedSubpopulation
from jali.privacy import Adjacency, Event
from jali.serialization.schema import VALUES
from jali.sql.printer import show_expression

# How people are put into parts: by MD5 of owner and place, then by place. Another way is another scheme.
HASH_VERSION = 1


def count_charged_subpopulations(plan: Plan, table: Table) -> tuple[int, Event | None] | None:
    """Return how many parts a unit of a table can touch, and the loss when it comes or goes.

    None where the table is charged as without parts. Without an event, it is that of the whole charge.
    """
    member, needed = plan.part, own(plan.source).needed
    if member is None or (table.name != member.table and member.table not in needed):
        return None
    if count_touched_subpopulations(table) == 1:
        return 1, None
    return count_touched_subpopulations(table), compute_loss(plan, 1 if table.name in needed else 2)


def count_touched_subpopulations(table: Table) -> int:
    """Return how many parts a unit of a table that changes can touch."""
    return 1 if table.adjacency is Adjacency.ADD_REMOVE else 2


def name_scheme(
    member: ResolvedSubpopulation, table: Table, charged: Table, data_version: Callable[[str], int]
) -> str:
    """Name what decides who is in which part of a table, as the account of a charged table sees it.

    The versions of the data are in it: new data may move people between parts, so that a new scheme begins, whose
    sum is added to the old one's. So are the sources, the units and the types as they are declared.
    """
    deciding = list_protected_tables(Scan(table))
    versions = tuple((one.name, data_version(one.name)) for one in deciding)
    how = (HASH_VERSION, member.table, member.expression, member.kind, member.values)
    told = PLANS.encode(
        (how, versions, tuple(_describe_declaration(one) for one in deciding), _describe_declaration(charged))
    )
    return f"{name_partition(member)} [{hashlib.sha256(told.encode()).hexdigest()[:40]}]"


def _describe_declaration(table: Table) -> tuple[object, ...]:
    """Return what says where the rows of a table are read, whose they are, and how its columns are read."""
    reach = None if table.reach is None else (table.reach.table.name, table.reach.here, table.reach.there)
    columns = tuple((field.name, field.kind, field.type) for field in table.fields)
    return table.name, table.source, table.copy, table.unit, reach, table.adjacency, columns


def encode_key(member: ResolvedSubpopulation) -> str:
    """Write the key of a part so that different keys stay different."""
    return VALUES.encode(member.key)


def name_partition(member: ResolvedSubpopulation) -> str:
    """Name a partition, for the eye."""
    return f"{member.table} by {show_expression(member.expression)}"


def describe_subpopulation(member: ResolvedSubpopulation | None) -> str:
    """Say which part a question is about, after its text; nothing for a whole table."""
    return "" if member is None else f" [{member.key} of {name_partition(member)}]"
