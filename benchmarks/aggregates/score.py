"""The error of a side's answers: a mean over the runs, with its standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.aggregates.table import TOP, Column

SURE = 3.0  # measured means: three standard errors of their difference are no difference


@dataclass(frozen=True)
class Score:
    """A mean error and its standard error."""

    mean: float
    deviation: float

    def worse_than(self, other: Score) -> bool:
        """Whether it is larger than another by more than sampling explains."""
        return self.mean - other.mean > SURE * float(np.hypot(self.deviation, other.deviation))


def absolute(answers: Column, truth: Column) -> Column:
    """Return each run's mean absolute error over the numbers of its answer."""
    return np.asarray(np.abs(answers - truth).mean(axis=1))


def shortfall(answers: Column, counts: Column) -> Column:
    """Return how many rows the chosen categories have less than the most popular ones."""
    chosen = counts[answers.astype(int)].sum(axis=1)
    best = np.sort(counts)[-answers.shape[1] :].sum()
    return np.asarray(best - chosen)


def hidden(answers: Column, _truth: Column) -> Column:
    """Return how many groups each run did not show."""
    return np.asarray(np.isnan(answers).sum(axis=1))


def of_shown(answers: Column, truth: Column) -> Column:
    """Return each run's mean absolute error over the groups that it showed."""
    return np.asarray(np.nanmean(np.abs(answers - truth), axis=1))


def with_hidden(answers: Column, truth: Column) -> Column:
    """Return each run's mean absolute error over all groups, those not shown read as empty."""
    return np.asarray(np.abs(np.nan_to_num(answers) - truth).mean(axis=1))


@dataclass(frozen=True)
class Question:
    """One line of the table: the aggregate, how its error is measured, and what the peers were asked for it."""

    title: str
    name: str
    error: Callable[[Column, Column], Column] = absolute
    peers: str = ""
    counted: bool = True

    def score(self, answers: list[list[Any]], truth: Column) -> Score:
        """Return the mean error of the answers."""
        errors = self.error(np.array(answers, dtype=float), truth)
        return Score(float(errors.mean()), float(errors.std() / len(errors) ** 0.5))


QUESTIONS = (
    Question("COUNT(*)", "count"),
    Question("COUNT(DISTINCT person)", "people"),
    Question("COUNT(DISTINCT key)", "distinct"),
    Question("SUM(cost)", "sum"),
    Question("AVG(cost)", "avg"),
    Question("VAR_SAMP(cost)", "var"),
    Question("STDDEV_SAMP(cost)", "stddev"),
    Question("MEDIAN(cost)", "median"),
    Question("quartiles of cost", "quartiles"),
    Question("MIN(cost)", "min"),
    Question("MAX(cost)", "max"),
    Question("MODE(age), rows short of the best", "mode", shortfall),
    Question(f"top {TOP} ages, rows short of the best", "top5", shortfall),
    Question("COUNT(*) by ward", "by_ward"),
    Question("HISTOGRAM(ward)", "histogram", peers="by_ward"),
    Question("CDF of age", "cdf"),
    Question("unknown keys, all 200 (hidden ones as 0)", "keys", with_hidden),
    Question("  how many of the 200 stay hidden", "keys", hidden),
    Question("  error of the shown counts", "keys", of_shown, counted=False),
)
