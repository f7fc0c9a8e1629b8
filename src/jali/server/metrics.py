"""Counts of requests, for whoever runs the server. No time and no size: both may depend on the data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# A method may be any word that somebody sends.
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
            "# HELP jali_questions_under_way Questions that are paid and not yet answered, or being paid.",
            "# TYPE jali_questions_under_way gauge",
            f"jali_questions_under_way {under_way}",
        ]
        return "\n".join(lines) + "\n"
