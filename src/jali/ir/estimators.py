"""How an answer is estimated from noisy measures: linear forms, ratios, moments, picked cells and running sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.catalog.value_domain import Value
from jali.ir.aggregates import Categories, CellAxis
from jali.ir.expressions import Aggregate, Call, Expression, Literal


@dataclass(frozen=True)
class LinearCombination:
    """A constant plus noisy integers, each with its coefficient."""

    terms: tuple[tuple[int, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    def __add__(self, other: LinearCombination) -> LinearCombination:
        total: dict[int, Fraction] = dict(self.terms)
        for index, coefficient in other.terms:
            total[index] = total.get(index, Fraction(0)) + coefficient
        kept = tuple((index, c) for index, c in sorted(total.items()) if c != 0)
        return LinearCombination(kept, self.constant + other.constant)

    def scale(self, factor: Fraction) -> LinearCombination:
        """Return the form times a number."""
        if factor == 0:
            return LinearCombination()
        return LinearCombination(tuple((i, c * factor) for i, c in self.terms), self.constant * factor)


@dataclass(frozen=True)
class RatioEstimate:
    """A linear form, or the ratio of two, with the public bounds that its value is known to keep.

    `whole` where the exact value is a whole number, though what is released of it need not be.
    """

    numerator: LinearCombination
    denominator: LinearCombination | None = None
    bounds: NumberInterval = ANYTHING
    whole: bool = False

    @property
    def number(self) -> Fraction | None:
        """The value, where it is a constant."""
        return self.numerator.constant if self.denominator is None and not self.numerator.terms else None

    @property
    def measures(self) -> tuple[int, ...]:
        """The measures that the estimate stands on."""
        below = () if self.denominator is None else self.denominator.terms
        return tuple(sorted({index for index, _ in (*self.numerator.terms, *below)}))


def build_estimate(expression: Expression, known: Mapping[Aggregate, RatioEstimate]) -> RatioEstimate | None:
    """Return an expression as one estimate, or None if it is neither linear nor a ratio of linear forms."""
    if isinstance(expression, Aggregate):
        return known.get(expression)
    if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        return RatioEstimate(LinearCombination((), Fraction(expression.value)))
    if not isinstance(expression, Call):
        return None
    parts = [build_estimate(argument, known) for argument in expression.arguments]
    if any(part is None for part in parts):
        return None
    return _combine(expression.function, [part for part in parts if part is not None])


def _combine(function: str, parts: list[RatioEstimate]) -> RatioEstimate | None:
    if function == "negate":
        return _scale(parts[0], Fraction(-1))
    if function == "+":
        return _add(parts[0], parts[1])
    if function == "-":
        return _add(parts[0], _scale(parts[1], Fraction(-1)))
    if function == "*":
        return _multiply(parts[0], parts[1])
    return _divide(parts[0], parts[1]) if function == "/" else None


def _scale(part: RatioEstimate, factor: Fraction) -> RatioEstimate:
    here = NumberInterval(factor, factor) * part.bounds
    return RatioEstimate(part.numerator.scale(factor), part.denominator, here)


def _add(left: RatioEstimate, right: RatioEstimate) -> RatioEstimate | None:
    bounds = left.bounds + right.bounds
    if left.denominator is None and right.denominator is None:
        return RatioEstimate(left.numerator + right.numerator, None, bounds)
    if left.denominator is None:
        left, right = right, left
    if right.number is None or left.denominator is None:
        return None
    # N/D + c = (N + c D)/D: a constant keeps the ratio a ratio.
    shift = NumberInterval(right.number, right.number)
    moved = left.numerator + left.denominator.scale(right.number)
    return RatioEstimate(moved, left.denominator, left.bounds + shift)


def _multiply(left: RatioEstimate, right: RatioEstimate) -> RatioEstimate | None:
    if left.number is not None:
        return _scale(right, left.number)
    return _scale(left, right.number) if right.number is not None else None


def _divide(left: RatioEstimate, right: RatioEstimate) -> RatioEstimate | None:
    if right.number is not None:
        return None if right.number == 0 else _scale(left, 1 / right.number)
    if left.denominator is not None or right.denominator is not None:
        return None
    return RatioEstimate(left.numerator, right.numerator)


# The confidence at which the ends of a quantile's interval are bought: two of them hold together at 95 %.
BOUGHT = 0.975


@dataclass(frozen=True)
class VariableRange:
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
    sums: tuple[tuple[str, LinearCombination], ...]
    x: VariableRange
    y: VariableRange | None = None


@dataclass(frozen=True)
class PickedCell:
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

    axis: CellAxis
    picks: tuple[PickedCell, ...]
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


AnyEstimate: TypeAlias = RatioEstimate | Moment | Picked | Cells


def shift_draws(estimate: AnyEstimate, to: Sequence[int]) -> AnyEstimate:
    """Return an estimate whose drawn cells stand at other places; one without any stays as it is."""
    if isinstance(estimate, Cells):
        return replace(estimate, release=to[estimate.release])
    if not isinstance(estimate, Picked):
        return estimate

    def shift(place: int | None) -> int | None:
        return None if place is None else to[place]

    picks = (replace(p, value=to[p.value], low=shift(p.low), high=shift(p.high)) for p in estimate.picks)
    return replace(estimate, picks=tuple(picks))
