"""How many audits share a time: what each gets, and in which order they come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from jali.audit.subject import Subject


@dataclass
class Shares:
    """Shares out a time that runs, among subjects that are audited one after the other or several at once.

    Attributes:
        seconds: About how long all may take; None: as long as it takes.
        worth: The shares of all subjects that have not been given theirs.
        workers: How many are audited at once.
        began: When the time began to run.
    """

    seconds: float | None
    worth: int
    workers: int = 1
    began: float = field(default_factory=time.perf_counter)

    @classmethod
    def among(cls, subjects: Sequence[Subject], seconds: float | None, workers: int = 1) -> Shares:
        """Begin to share out a time."""
        return cls(seconds, sum(map(_worth, subjects)), workers)

    @property
    def taken(self) -> float:
        """How long it took so far."""
        return time.perf_counter() - self.began

    def next(self, subject: Subject) -> float | None:
        """Return the seconds that a subject may take: its part of what is left."""
        worth, self.worth = self.worth, self.worth - _worth(subject)
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - self.taken) * self.workers * _worth(subject) / worth


def slow_first(subjects: Sequence[Subject]) -> list[int]:
    """Return the order in which subjects are audited.

    Those that cannot do with fewer samples, as they come in batches, or are attacked and not sampled, come first:
    then the others share what time is left.
    """
    return sorted(range(len(subjects)), key=lambda place: (bool(subjects[place].pairs), -subjects[place].batch))


def _worth(subject: Subject) -> int:
    """Return the share of the time that a subject gets: more where all that is known of it comes from samples."""
    return 3 if subject.log_masses is None else 1
