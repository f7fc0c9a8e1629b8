"""Query plans, with the forecasts of all noises side by side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from jali.numbers.exact import decimal
from jali.privacy.budget import Budget
from jali.privacy.planning.count_forecast import CountForecast, ErrorMeasure
from jali.privacy.planning.plan_table import align, amount, write_count, write_number
from jali.privacy.planning.safe_search import MOST, best_of

Solved: TypeAlias = Literal["error", "queries", "epsilon"]


@dataclass(frozen=True)
class QueryPlan:
    """The forecasts of all noises for counting queries. Print it to see the table.

    Numbers of queries are searched up to a thousand million; a forecast that reaches it is "at least" that.

    Attributes:
        solved: What was asked for: the error, the number of queries or the epsilon.
        measure: What is meant by an error.
        sensitivity: How far one person moves each count.
        forecasts: One for each noise that the delta allows.
        budget: What was given, unless epsilon was asked for.
        queries: How many queries were given, unless their number was asked for.
        accuracy: The error that was accepted, unless it was asked for.
        delta: The delta that was accepted.
        rows: The number of rows whose sampling error is the accuracy, where that was the question.
    """

    solved: Solved
    measure: ErrorMeasure
    sensitivity: Fraction
    forecasts: tuple[CountForecast, ...]
    budget: Budget | None = None
    queries: int | None = None
    accuracy: float | None = None
    delta: Fraction = Fraction(0)
    rows: int | None = None

    @property
    def best(self) -> CountForecast:
        """The least error, the most queries or the least epsilon.

        Where two are equal, the one with less error; where that is equal too, the simpler noise.
        """
        errors = [row.error_in(self.measure) or 0.0 for row in self.forecasts]
        if self.solved == "error":
            return self.forecasts[best_of(errors)]
        costs = [float(-row.queries if self.solved == "queries" else row.epsilon) for row in self.forecasts]
        return self.forecasts[best_of(costs, errors)]

    def at_least(self, row: CountForecast) -> bool:
        """Say whether a forecast has as many queries as are searched for, so that even more may fit."""
        return self.solved == "queries" and row.queries >= MOST

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the table."""
        asked = {"error": (), "queries": ("queries",), "epsilon": ("epsilon",)}[self.solved]
        percent = self.measure.percent
        errors = (f"each, {percent}", f"all, {percent}") if percent else ()
        return ("noise", *asked, "stddev", *errors, "worst, mean", "best")

    def cells(self) -> list[tuple[str, ...]]:
        """Return the table as text, a row for each noise; the last column marks the best."""
        return [self._row(row) for row in self.forecasts]

    def _row(self, row: CountForecast) -> tuple[str, ...]:
        fit = f"{'≥ ' if self.at_least(row) else ''}{row.queries:,}"
        asked = {"error": (), "queries": (fit,), "epsilon": (amount(float(row.epsilon)),)}
        errors = (amount(row.error), amount(row.worst)) if self.measure.percent else ()
        mark = "*" if row == self.best and row.queries else ""
        return (row.noise, *asked[self.solved], amount(row.stddev), *errors, amount(row.mean_worst), mark)

    @property
    def title(self) -> str:
        """What was given."""
        moved = "" if self.sensitivity == 1 else f"; one person moves each by up to {decimal(self.sensitivity)}"
        if self.solved == "epsilon":
            given = f"{write_count(self.queries or 0, 'count')}, {self._goal}, delta={decimal(self.delta)}"
        elif self.solved == "queries":
            given = f"counts within {self.budget}, {self._goal}"
        else:
            given = f"{write_count(self.queries or 0, 'count')} within {self.budget}"
        return given + moved

    @property
    def _goal(self) -> str:
        if self.rows is not None:
            sampled = f"the sampling error of {write_count(self.rows, 'row')}"
            return f"noise at most {sampled}, {write_number(self.accuracy or 0.0)}"
        return f"{self.measure} at most {write_number(self.accuracy or 0.0)}"

    @property
    def advice(self) -> str:
        """One sentence on what to take."""
        best = self.best
        if not best.queries:
            return "Not even one count fits: accept a larger error, or spend more."
        if self.solved == "queries":
            fit = "one count fits" if best.queries == 1 else f"{best.queries:,} counts fit"
            return f"Take {best.noise} noise: {'at least ' if self.at_least(best) else ''}{fit}."
        if self.solved == "epsilon":
            return f"Take {best.noise} noise: epsilon {amount(float(best.epsilon))} is enough."
        return f"Take {best.noise} noise: {self.measure.sentence(best.error_in(self.measure) or 0.0)}."

    @property
    def legend(self) -> str:
        """How to read the table, and which noise is left out of it."""
        percent = self.measure.percent
        read = f"each, all: what the error of each count, or of all at once, stays within at {percent}. "
        left_out = "Gaussian" not in (row.noise for row in self.forecasts)
        need = " Gaussian noise is left out: it needs a delta above 0." if left_out else ""
        return f"{read if percent else ''}worst, mean: the expected error of the worst count.{need}"

    def __repr__(self) -> str:
        return f"<{self.title}: {self.best.noise if self.best.queries else 'no'} noise>"

    def __str__(self) -> str:
        return f"{self.title}\n{align(self.headings, self.cells())}\n{self.advice}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: exact rationals as text, errors as numbers."""
        confidence = self.measure.confidence
        return {
            "solved": self.solved,
            "budget": None if self.budget is None else _budget(self.budget),
            "queries": self.queries,
            "accuracy": self.accuracy,
            "rows": self.rows,
            "delta": str(self.delta if self.budget is None else self.budget.delta),
            "measure": str(self.measure),
            "confidence": None if confidence is None else float(confidence),
            "simultaneous": self.measure.simultaneous,
            "sensitivity": str(self.sensitivity),
            "noises": [row.to_dict() | {"at_least": self.at_least(row)} for row in self.forecasts],
            "best": self.best.noise if self.best.queries else None,
            "advice": self.advice,
        }


def _budget(budget: Budget) -> dict[str, str]:
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
