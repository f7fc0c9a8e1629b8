"""The property: of any accepted question, no neighbour moves the exact numbers further than declared."""

from __future__ import annotations

from functools import reduce
from random import Random

from tests.fuzz.movement import Exact, check_equal, check_movement, check_owners, exact
from tests.fuzz.neighbours import neighbours
from tests.fuzz.world import House, World, random_world, rows_of

from jali.ir import ownership
from jali.planner import Plan
from jali.planner.partition_selection import charge_selection
from jali.planner.plan import compute_release_loss
from jali.privacy import NOTHING, Event


def check_plan(house: House, plan: Plan, seed: int, each: int) -> int:
    """Check so many random neighbours in each table of a plan; return how many there were."""
    chance, world = Random(seed), random_world(seed)
    house.show(world)
    before = exact(plan, house, with_owners=True)
    for table in plan.tables:
        for index, neighbour in enumerate(neighbours(world, table.name, table.adjacency.value, chance, each)):
            house.swap(table.name, neighbour.rows)
            after = exact(plan, house, with_owners=index == 0)
            check_movement(plan, table, before, after)
            if index == 0:
                check_owners(plan, neighbour, before, after)
        house.swap(table.name, world[table.name])
    _check_nobody(house, plan, before, chance, world)
    return each * len(plan.tables)


def _check_nobody(house: House, plan: Plan, before: Exact, chance: Random, world: World) -> None:
    """Fail if rows that belong to nobody move anything."""
    for name in sorted({table.name for table in plan.tables} - {"readings"}):
        house.swap(name, world[name] + rows_of(name, None, 3, chance))
    check_equal(before, exact(plan, house, with_owners=False))


def check_costs(plan: Plan) -> None:
    """Fail if a table is charged another sum than its releases cost it."""
    charged = dict(plan.costs)
    assert set(charged) == {table.name for table in plan.tables}
    for table in plan.tables:
        changes = ownership.changes(plan.source, table)
        events = [
            compute_release_loss(part, i, changes) for part in plan.parts for i in range(len(part.mechanisms))
        ]
        chosen = None if plan.selection is None else charge_selection(plan.selection, plan.aggregation, changes)
        assert (chosen is None) == (plan.selection is None)
        events += [] if chosen is None else [chosen]
        total = reduce(Event.__add__, events, NOTHING)
        assert (charged[table.name].rho, charged[table.name].delta) == (total.rho, total.delta)
        pure = all(event.epsilon is not None for event in events)
        assert charged[table.name].epsilon == (total.epsilon if pure else None)
