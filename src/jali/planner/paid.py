"""What a release costs, computed from what will really run and from sensitivities derived anew."""

from __future__ import annotations

from jali.planner.joint import block_of
from jali.planner.part import Part
from jali.planner.reach import QueryReach
from jali.privacy import Event
from jali.query.aggregation import CountRows


def paid(part: Part, index: int, changes: int) -> Event:
    """Return the loss of one release when so many bounded vectors change."""
    return part.mechanisms[index].spent(reach_of(part, index, changes))


def reach_of(part: Part, index: int, changes: int) -> QueryReach:
    """Return how far one unit moves what a release looks at when so many bounded vectors change."""
    times = {place: measurement.multiplier for place, measurement in block_of(part).items()}
    if not part.draws:
        return QueryReach(part.aggregation, changes, part.aggregation.measures[index], times=times)
    draw = part.draws[index]
    return QueryReach(part.aggregation, changes, CountRows(), draw.at, draw.picks, times)
