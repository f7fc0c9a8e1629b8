"""Plans are made once for the same question, terms and catalog: no data goes into them, and they take long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import jali
from jali.execution.question_planner import LocalPlanner


@dataclass
class Plans:
    """The plans of one question.

    Attributes:
        anew: Whether plans are made anew, and compared with those that were remembered.
    """

    anew: bool = False
    _kept: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin another question."""
        self._kept = {}

    def made(self, text: str, catalog: Any, make: Callable[[], Any]) -> Any:
        """Return the plan of a text, or raise its refusal."""
        kept = self._kept.get(text)
        if kept is None or self.anew or kept[0] != catalog:
            try:
                found = make()
            except jali.JaliError as refusal:
                found = refusal
            if kept is not None:
                assert kept[0] == catalog, "what is known of the tables depends on their rows"
                assert _text(kept[1]) == _text(found), "plans depend on the data"
            self._kept[text] = kept = catalog, found
        if isinstance(kept[1], jali.JaliError):
            raise kept[1]
        return kept[1]


def _text(plan: Any) -> str:
    return str(getattr(plan, "encoded", repr(plan)))


@contextmanager
def remembered() -> Iterator[Plans]:
    """Let all databases remember plans."""
    plans, plan, plan_batch = Plans(), LocalPlanner.plan, LocalPlanner.plan_batch

    def one(planner: Any, question: Any, given: Any, catalog: Any) -> Any:
        return plans.made(
            repr((id(planner), question, given)), catalog, lambda: plan(planner, question, given, catalog)
        )

    def several(planner: Any, wanted: Any, total: Any, catalog: Any, *, agree: bool) -> Any:
        text = repr((id(planner), wanted, total, agree))
        return plans.made(text, catalog, lambda: plan_batch(planner, wanted, total, catalog, agree=agree))

    with patch.object(LocalPlanner, "plan", one), patch.object(LocalPlanner, "plan_batch", several):
        yield plans
