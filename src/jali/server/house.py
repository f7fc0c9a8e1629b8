"""What every route of a server reaches: the database, the desk, the gate."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request

from jali.database import Database
from jali.database.planning import LocalPlanner
from jali.server.metrics import Metrics
from jali.server.people.gate import Gate, Visit
from jali.server.people.notices import Notices
from jali.server.people.rates import Rates
from jali.server.settings import Settings
from jali.server.work.desk import Desk
from jali.server.work.planners import Processes, RemotePlanner, is_possible, shared_processes

# Sign-ins that fail, for each address.
_WRONG_A_SECOND, _WRONG_AT_ONCE = 0.2, 10


@dataclass(frozen=True)
class House:
    """One server's rooms."""

    database: Database
    settings: Settings
    gate: Gate
    desk: Desk
    rates: Rates
    wrong: Rates
    metrics: Metrics = field(default_factory=Metrics)
    notices: Notices = field(default_factory=Notices)

    @classmethod
    def over(cls, database: Database, settings: Settings, visit: Visit | None = None) -> House:
        """Return a house over a database."""
        return cls(
            database,
            settings,
            Gate(database.access, visit),
            Desk(
                workers=settings.workers,
                waiting=settings.waiting,
                planners=settings.planners or 2,
                pace=settings.pace,
            ),
            Rates(settings.rate, settings.burst),
            Rates(_WRONG_A_SECOND, _WRONG_AT_ONCE),
        )

    def plan_elsewhere(self) -> Processes | None:
        """Plan in other processes from now on, where the settings say so and the system can; return them."""
        local = self.database.serving.planner
        if not self.settings.planners or not is_possible() or not isinstance(local, LocalPlanner):
            return None
        kept = self.settings
        processes = shared_processes(kept.planners, kept.plan_seconds, kept.plan_memory)
        self.database.serving.plan_with(RemotePlanner(processes, local.limits))
        return processes


def house_of(request: Request) -> House:
    """Return the house that a request came to."""
    house: House = request.app.state.house
    return house
