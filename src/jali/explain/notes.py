"""The notes that an explanation is made of: plain data for text, HTML and JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class AlternativeNote:
    """Another way that was considered, and what it would have given.

    Attributes:
        half_width: What its error would have stayed within.
        rms: The root of its mean squared error, where that does not depend on the data.
    """

    name: str
    outcome: str
    half_width: float | None = None
    rms: float | None = None


@dataclass(frozen=True)
class TableNote:
    """One protected table: whose rows it has, and what one of them can change.

    Attributes:
        via: How the owner is found in another table.
        changes: How many bounded vectors change when one unit of this table does.
        because: Why so many.
        loss: What the question costs this table.
    """

    name: str
    unit: str | None
    via: str | None
    adjacency: str
    max_rows: int
    changes: int
    because: str
    loss: str
    exact_loss: str


@dataclass(frozen=True)
class KeyNote:
    """The keys of one grouping expression.

    Attributes:
        origin: "declared", "public", "enumerated" or "chosen".
        count: How many there are, where that is known before the data is read.
        shown: The first few of them.
        meaning: Where they come from, and what becomes of other values.
    """

    expression: str
    origin: str
    count: int | None
    shown: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class SelectionNote:
    """How the groups that appear are chosen: how many people one needs, and what choosing costs."""

    meaning: str
    likely: int
    even: int
    least: int
    sizes: str
    max_groups: int
    because: str
    mechanism: str
    loss: str
    exact_loss: str
    share: float
    theorems: tuple[str, ...]


@dataclass(frozen=True)
class InSet:
    """One release as it leaves for one grouping set."""

    columns: str
    groups: int
    loss: str
    share: float
    half_width: float


@dataclass(frozen=True)
class MeasureNote:
    """One noisy number per group, or per cell: how far a person can move it, and the noise that hides that.

    Attributes:
        told: Whether it is the count that the groups are chosen by, which costs nothing more.
    """

    name: str
    meaning: str
    sensitivity: float
    norm: str
    because: str
    mechanism: str
    scale: float
    stddev: float
    loss: str
    exact_loss: str
    share: float
    half_width: float
    where: str
    alternatives: tuple[AlternativeNote, ...]
    theorems: tuple[str, ...]
    sets: tuple[InSet, ...] = ()
    kind: str = "noise"
    told: bool = False


@dataclass(frozen=True)
class ChoiceNote:
    """One cell per group that is picked: by its rank for a quantile, by its weight for a mode.

    Attributes:
        sensitivity: How far a person can move the ranks or weights, in rows.
        half_width: How far the rank, or the weight, is from the best at most, in rows, with 95 %.
        picks: How many cells are picked, one after the other.
        aim: Where a quantile is aimed at, if not at its own rank.
        ends: How the ends of a quantile's interval are found, and what they cost.
    """

    name: str
    meaning: str
    sensitivity: float
    because: str
    mechanism: str
    loss: str
    exact_loss: str
    share: float
    half_width: float
    alternatives: tuple[AlternativeNote, ...]
    theorems: tuple[str, ...]
    picks: int = 1
    aim: str = ""
    ends: str = ""
    sets: tuple[InSet, ...] = ()
    kind: str = "quantile"


ReleaseNote = MeasureNote | ChoiceNote


@dataclass(frozen=True)
class AggregateNote:
    """One aggregate of the question: which measures it is made of, and how wide its interval will be.

    `half_width` is None where it depends on the number n of rows in a group; then it lies between
    `least_per_row / n` and `most_per_row / n`, and `guess` is the n that public facts suggest.

    Attributes:
        measures: The places of the measures.
        rms: The root of the mean squared error, where the law of the error does not depend on the data; over the
            cells of a distribution function, before its numbers are made to rise.
        sure: Whether that holds for a group that is sure to be shown; it is wider in others.
        stated: Whether the question states the guess.
        letters: What the letters of the formula stand for.
        least_half_width: The half-width in the first cell of a distribution function, where `half_width` is the
            largest.
        rank_error: For a quantile: how far off its rank, in rows.
        rank_reach: And how many rows beside it the ends of its interval are aimed at.
        one_sided: Whether one end of that interval is the end of the range.
        weight_error: For a mode: how many rows lighter than the heaviest value.
        about: What the half-width of a moment would be at the guess, for typical data.
        typical: What data the forecast of a moment is for.
        sets: The forecast for each grouping set.
        left_out: Whether it is not forecast, as the question has many aggregates whose forecasts take long.
    """

    name: str
    formula: str
    measures: tuple[int, ...]
    half_width: float | None = None
    letters: str = ""
    least_half_width: float | None = None
    least_per_row: float | None = None
    most_per_row: float | None = None
    about: float | None = None
    guess: float | None = None
    groups: int = 1
    doubtful_below: float | None = None
    rank_error: float | None = None
    rank_reach: float | None = None
    one_sided: bool = False
    weight_error: float | None = None
    typical: str = ""
    sets: tuple[tuple[str, str], ...] = ()
    rms: float | None = None
    sure: bool = False
    stated: bool = False
    left_out: bool = False


@dataclass(frozen=True)
class QueryNote:
    """One query for the engine, and the measures that are read from it."""

    measures: tuple[int, ...]
    sql: str


@dataclass(frozen=True)
class Explanation:
    """A plan, explained.

    Attributes:
        table: The first protected table.
        tables: All of them.
        public: The public tables that are read.
        steps: How the rows come about, where they are not those of one table.
        clamps: Which counts and sums of one person's rows are clamped, and to what.
        sets: The grouping sets, where there are several, each with its number of groups.
        part: What the part is that the question is about, and what it costs now; nothing for a whole table.
        accuracy: How close the answer is to be, where the loss was found for that.
        leaves: What the question would leave of each account that pays, where accounts are known.
    """

    table: str
    tables: tuple[TableNote, ...]
    public: tuple[str, ...]
    steps: tuple[str, ...]
    clamps: tuple[str, ...]
    unit: str | None
    person: str
    adjacency: str
    neighbours: str
    contribution: str
    where: str | None
    keys: tuple[KeyNote, ...]
    groups: int | None
    sets: tuple[tuple[str, int], ...]
    selection: SelectionNote | None
    loss: str
    exact_loss: str
    split: str
    confidence: float
    measures: tuple[ReleaseNote, ...]
    aggregates: tuple[AggregateNote, ...]
    afterwards: tuple[str, ...]
    queries: tuple[QueryNote, ...]
    sql: str
    part: tuple[str, ...] = ()
    accuracy: tuple[str, ...] = ()
    leaves: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; a number beyond all doubles is null."""
        return {name: _finite(value) for name, value in asdict(self).items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
