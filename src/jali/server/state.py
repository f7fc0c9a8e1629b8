"""The state of a server that every route can reach: database, settings, authentication, job queue.

Metrics are counts of requests, for whoever runs the server. They hold no time and no size: both may depend on the
data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fastapi import Request

from jali.database import Database
from jali.execution.question_planner import LocalPlanner
from jali.server.auth import Authenticator, RunToken
from jali.server.flash import FlashMessages
from jali.server.jobs import JobQueue
from jali.server.planner_pool import PlannerPool, RemotePlanner, get_shared_pool, is_possible
from jali.server.rate_limit import RateLimiter
from jali.server.settings import Settings

# A client may send any word as the method.
_METHODS = ("GET", "HEAD", "POST", "DELETE")


@dataclass(frozen=True)
class Metrics:
    """How many requests were answered, by route, method and class of status.

    A status depends on the question, the budget and the caller; the data decides none.
    """

    requests: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def count(self, route: str, method: str, status: int) -> None:
        """Count one request."""
        known = method if method in _METHODS else "other"
        self.requests[route, known, f"{status // 100}xx"] += 1

    def text(self, under_way: int) -> str:
        """Write what was counted, as Prometheus reads it."""
        lines = [
            "# HELP jali_requests_total Requests answered.",
            "# TYPE jali_requests_total counter",
            *(
                f'jali_requests_total{{route="{route}",method="{method}",status="{status}"}} {number}'
                for (route, method, status), number in sorted(self.requests.items())
            ),
            "# HELP jali_questions_under_way Questions that are reserved and not yet answered, or being reserved.",
            "# TYPE jali_questions_under_way gauge",
            f"jali_questions_under_way {under_way}",
        ]
        return "\n".join(lines) + "\n"


# Failed sign-ins per address.
_FAILED_PER_SECOND, _FAILED_AT_ONCE = 0.2, 10


@dataclass(frozen=True)
class AppState:
    """The state of one server.

    Attributes:
        database: The database that is served.
        settings: The settings of the server.
        auth: Authenticates callers.
        jobs: The job queue.
        rate_limit: The requests of each token.
        failed_sign_ins: The failed sign-ins of each address.
        metrics: Counts of requests.
        flash: Messages for the page that a form leads to.
    """

    database: Database
    settings: Settings
    auth: Authenticator
    jobs: JobQueue
    rate_limit: RateLimiter
    failed_sign_ins: RateLimiter
    metrics: Metrics = field(default_factory=Metrics)
    flash: FlashMessages = field(default_factory=FlashMessages)

    @classmethod
    def create(cls, database: Database, settings: Settings, run_token: RunToken | None = None) -> AppState:
        """Return the state of a server over a database."""
        return cls(
            database,
            settings,
            Authenticator(database.access, run_token),
            JobQueue(
                workers=settings.workers,
                waiting=settings.waiting,
                planners=settings.planners or 2,
                pace=settings.pace,
            ),
            RateLimiter(settings.rate, settings.burst),
            RateLimiter(_FAILED_PER_SECOND, _FAILED_AT_ONCE),
        )

    def start_planner_pool(self) -> PlannerPool | None:
        """Plan in other processes from now on, where the settings say so and the system can; return them."""
        local = self.database.serving.planner
        if not self.settings.planners or not is_possible() or not isinstance(local, LocalPlanner):
            return None
        kept = self.settings
        processes = get_shared_pool(kept.planners, kept.plan_seconds, kept.plan_memory)
        self.database.serving.plan_with(RemotePlanner(processes, local.limits))
        return processes


def get_state(request: Request) -> AppState:
    """Return the state of the server that a request came to."""
    state: AppState = request.app.state.jali
    return state
