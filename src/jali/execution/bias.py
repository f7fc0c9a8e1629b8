"""The bias of an answer: what clamping and contribution bounds removed, as declared or as estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.display.text import clean, write_facts
from jali.display.view_models import show_cell
from jali.execution.postprocess import write_event
from jali.ir.expressions import Aggregate
from jali.privacy import NOTHING, Event

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.execution.postprocess import Interval, Release


@dataclass(frozen=True)
class Removed:
    """How many values lie outside their ranges, and how many rows exceed the contribution bound.

    Attributes:
        clamped: Counts of values below and above their ranges, of the rows that count; None if none are clamped.
        bounded: Counts of the rows that people have beyond `max_rows`; None if rows are not bounded.
        max_rows: For how many rows one person counts in the question.
        reach: Up to how many rows of one person were looked at.
        notes: What could not be looked at, in sentences without their stops.
    """

    clamped: Answer | None
    bounded: Answer | None
    max_rows: int
    reach: int
    notes: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that there are, each with its receipt."""
        return tuple(answer for answer in (self.bounded, self.clamped) if answer is not None)

    @property
    def cost(self) -> Event:
        """What they cost the table that each cost most."""
        return sum((answer.cost for answer in self.answers), NOTHING)

    def __str__(self) -> str:
        if not self.answers:
            return "\n".join(["Nothing is clamped or bounded.", *(f"{note}." for note in self.notes)])
        paid = f"cost {self.cost}, receipt {', '.join(answer.receipt for answer in self.answers)}"
        return "\n".join([write_facts(self.facts(), indent=0), *self.remarks(), paid])

    def remarks(self, confidence: float = 0.95) -> tuple[str, ...]:
        """Return what has to be said below the numbers."""
        read = f"Each is a noisy count with its {100 * confidence:g} % interval."
        reach = f"Rows of one person are told apart up to {self.reach:,}; {self.max_rows:,} of them count."
        return (read, *([] if self.bounded is None else [reach]), *(f"{note}." for note in self.notes))

    def facts(self, confidence: float = 0.95) -> tuple[tuple[str, str], ...]:
        """Return what was removed, each with what it is called and its number with its interval."""
        made: list[tuple[str, str]] = []
        for answer in self.answers:
            cells = zip(answer.columns, answer.rows[0], answer.interval(confidence)[0], strict=True)
            made += [(clean(name), show_cell(value, span)) for name, value, span in cells]
        return tuple(made)

    def to_json(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return everything a program needs, as plain JSON values."""
        answers = (("clamped", self.clamped), ("bounded", self.bounded))
        return {
            **{name: None if answer is None else _write_counts(answer, confidence) for name, answer in answers},
            "max_rows": self.max_rows,
            "reach": self.reach,
            "notes": list(self.notes),
            "confidence": confidence,
            "cost": write_event(self.cost),
            "receipts": [answer.receipt for answer in self.answers],
        }


def _write_counts(answer: Answer, confidence: float) -> dict[str, Any]:
    document = answer.to_json(confidence)
    pairs = zip(document["rows"][0], document["intervals"][0], strict=True)
    return {
        name: {"value": value, "interval": span} for name, (value, span) in zip(answer.columns, pairs, strict=True)
    }


def estimate_uncounted(release: Release, confidence: float) -> tuple[Any, Interval] | None:
    """Return how many of the declared rows of a table are not counted, and an interval for their number.

    It is known where all rows of one table are counted, in one group, and as good as the declared guess.
    """
    estimate = release.linear_estimates.get(Aggregate("count"))
    if release.rows is None or estimate is None or release.question.group_by:
        return None
    (reading,) = release.readings
    (value,), ((low, high),) = reading.values(estimate), reading.intervals(estimate, confidence)
    return release.rows - value, (release.rows - high, release.rows - low)


def describe_uncounted(release: Release, confidence: float) -> tuple[str, ...]:
    """Describe in a sentence how many of the declared rows are not counted."""
    found = estimate_uncounted(release, confidence)
    if found is None:
        return ()
    bound = (
        f"nobody counts for more than {release.max_rows:,}" if release.max_rows > 1 else "each person counts once"
    )
    return (f"Of the {release.rows:,} rows that are declared, {show_cell(*found)} are not counted: {bound}.",)
