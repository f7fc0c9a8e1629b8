"""What every stage of an audit is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

from jali.audit.effort import Effort
from jali.audit.finding import Finding
from jali.audit.subject import Subject

Progress: TypeAlias = Callable[[str], None]


def silent(_: str) -> None:
    """Show no progress."""


class Tester(ABC):
    """One way to try to prove a claim false.

    Attributes:
        name: What a report calls it.
    """

    name: ClassVar[str]

    @abstractmethod
    def applies(self, subject: Subject) -> bool:
        """Return whether it can say anything about a subject."""

    @abstractmethod
    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Try, within the effort, and say what was found."""
