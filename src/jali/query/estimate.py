"""How an answer is made from noisy measures: linear forms, and ratios of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from jali.query.bounds import ANYTHING, Bounds
from jali.query.nodes import Aggregate, Call, Expression, Literal


@dataclass(frozen=True)
class Linear:
    """A constant plus noisy integers, each with its coefficient."""

    terms: tuple[tuple[int, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    def __add__(self, other: Linear) -> Linear:
        total: dict[int, Fraction] = dict(self.terms)
        for index, coefficient in other.terms:
            total[index] = total.get(index, Fraction(0)) + coefficient
        kept = tuple((index, c) for index, c in sorted(total.items()) if c != 0)
        return Linear(kept, self.constant + other.constant)

    def scaled(self, factor: Fraction) -> Linear:
        """Return the form times a number."""
        if factor == 0:
            return Linear()
        return Linear(tuple((i, c * factor) for i, c in self.terms), self.constant * factor)


@dataclass(frozen=True)
class Estimate:
    """A linear form, or the ratio of two, with the public bounds that its value is known to keep.

    `whole` where the exact value is a whole number, though what is released of it need not be.
    """

    numerator: Linear
    denominator: Linear | None = None
    bounds: Bounds = ANYTHING
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


def estimate_of(expression: Expression, known: Mapping[Aggregate, Estimate]) -> Estimate | None:
    """Return an expression as one estimate, or None if it is neither linear nor a ratio of linear forms."""
    if isinstance(expression, Aggregate):
        return known.get(expression)
    if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        return Estimate(Linear((), Fraction(expression.value)))
    if not isinstance(expression, Call):
        return None
    parts = [estimate_of(argument, known) for argument in expression.arguments]
    if any(part is None for part in parts):
        return None
    return _combined(expression.function, [part for part in parts if part is not None])


def _combined(function: str, parts: list[Estimate]) -> Estimate | None:
    if function == "negate":
        return _scaled(parts[0], Fraction(-1))
    if function == "+":
        return _added(parts[0], parts[1])
    if function == "-":
        return _added(parts[0], _scaled(parts[1], Fraction(-1)))
    if function == "*":
        return _multiplied(parts[0], parts[1])
    return _divided(parts[0], parts[1]) if function == "/" else None


def _scaled(part: Estimate, factor: Fraction) -> Estimate:
    here = Bounds(factor, factor) * part.bounds
    return Estimate(part.numerator.scaled(factor), part.denominator, here)


def _added(left: Estimate, right: Estimate) -> Estimate | None:
    bounds = left.bounds + right.bounds
    if left.denominator is None and right.denominator is None:
        return Estimate(left.numerator + right.numerator, None, bounds)
    if left.denominator is None:
        left, right = right, left
    if right.number is None or left.denominator is None:
        return None
    # N/D + c = (N + c D)/D: a constant keeps the ratio a ratio.
    shift = Bounds(right.number, right.number)
    moved = left.numerator + left.denominator.scaled(right.number)
    return Estimate(moved, left.denominator, left.bounds + shift)


def _multiplied(left: Estimate, right: Estimate) -> Estimate | None:
    if left.number is not None:
        return _scaled(right, left.number)
    return _scaled(left, right.number) if right.number is not None else None


def _divided(left: Estimate, right: Estimate) -> Estimate | None:
    if right.number is not None:
        return None if right.number == 0 else _scaled(left, 1 / right.number)
    if left.denominator is not None or right.denominator is not None:
        return None
    return Estimate(left.numerator, right.numerator)
