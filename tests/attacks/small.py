"""Every attack of the lab, small enough to be pointed at a database in every run of the tests."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.depth import DEPTH

from jali.lab.attacks import Result, attacks
from jali.lab.attacks.evidence import count_flips
from jali.lab.attacks.staging import stage
from jali.privacy import Adjacency

ADJACENCIES = (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE)
# A new attack joins by registration; one that asks eight people too much, or learns too little, is named here.
_OWN: dict[tuple[str, str], dict[str, Any]] = {
    ("exponential", "jali"): {"n": 5},
    ("exponential", "unledgered"): {"n": 5},
    ("linear-program", "jali"): {"parameters": {"questions": 24}},
    ("slab", "jali"): {"parameters": {"questions": 24}},
    ("tracing", "jali"): {"parameters": {"attributes": 40}},
    ("tracing", "unledgered"): {"n": 4, "parameters": {"attributes": 200}},
}


def named(foe: str) -> list[str]:
    """Return the attacks that can be pointed at a foe."""
    return [name for name, kind in attacks().items() if foe in kind.against]


@cache
def ran(name: str, foe: str, adjacency: Adjacency, each: int | None = None) -> Result:
    """Run an attack with a budget of epsilon 1, once for all tests."""
    settings: dict[str, Any] = {"n": 8, **_OWN.get((name, foe), {})}
    # The higher the ceiling, the more bits it takes to see that it is exceeded.
    trials = DEPTH if foe == "unledgered" else count_flips(adjacency) * DEPTH
    return stage(name, against=foe, epsilon=1, each=each, adjacency=adjacency, trials=trials, **settings).run()
