"""How an answer is read from what was released: every kind of estimate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from jali.query.aggregation import Axis, Categories
from jali.query.estimate import Estimate, Linear
from jali.query.nodes import Value

# The confidence at which the ends of a quantile's interval are bought: two of them hold together at 95 %.
BOUGHT = 0.975


@dataclass(frozen=True)
class Span:
    """The public range of a variable, and the centre that its sums are taken from."""

    low: Fraction
    high: Fraction
    center: Fraction


@dataclass(frozen=True)
class Moment:
    """A variance, covariance, correlation or regression, from linear forms of centred sums.

    Attributes:
        kind: A name of `mechanisms.moments.KINDS`.
        sums: The sums that it needs.
        x: The variable, or the explaining one of two.
        y: The other one.
    """

    kind: str
    sums: tuple[tuple[str, Linear], ...]
    x: Span
    y: Span | None = None


@dataclass(frozen=True)
class Pick:
    """One released cell of an axis, and the releases that are the ends of its interval; None is the axis' end."""

    value: int
    low: int | None = None
    high: int | None = None
    confidence: float = BOUGHT


@dataclass(frozen=True)
class Picked:
    """Quantiles, extremes, modes and top-k: cells of an axis that were chosen.

    Attributes:
        axis: The cells.
        picks: One for each number asked for.
        several: Whether the answer is a list.
    """

    axis: Axis
    picks: tuple[Pick, ...]
    several: bool = False


@dataclass(frozen=True)
class Cells:
    """A histogram, or where `cumulative` a distribution function: a noisy number for each cell of an axis.

    Attributes:
        release: Which release holds them.
        axis: The cells.
        labels: What each cell is called.
        worth: What one integer unit is worth.
    """

    release: int
    axis: Categories
    labels: tuple[Value, ...]
    worth: Fraction
    cumulative: bool = False


AnyEstimate: TypeAlias = Estimate | Moment | Picked | Cells
