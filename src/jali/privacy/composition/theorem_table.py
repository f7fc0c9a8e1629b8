"""The bounds that all composition theorems prove for one composition, as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from jali.numbers.exact import decimal
from jali.numbers.rounding import rational_above
from jali.privacy.composition.theorem import Theorem


@dataclass(frozen=True)
class Bound:
    """An (epsilon, delta) that a theorem proves."""

    epsilon: float
    delta: Fraction
    theorem: Theorem

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return f"epsilon {_show_epsilon(self.epsilon)} at delta {decimal(self.delta)}, by {self.theorem}"


@dataclass(frozen=True)
class Inapplicable:
    """A theorem that says nothing here, and why."""

    theorem: Theorem
    reason: str

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return f"no epsilon by {self.theorem}: {self.reason}"


@dataclass(frozen=True)
class Table:
    """Every theorem with its epsilon at one delta, or with the reason why it has none.

    `str(table)` is a table in text, with the tightest bound marked.
    """

    rows: tuple[Bound | Inapplicable, ...]
    delta: Fraction

    def __iter__(self) -> Iterator[Bound | Inapplicable]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self.rows)} theorems at delta {decimal(self.delta)}>"

    def __str__(self) -> str:
        cells = [_cells(row) for row in self.rows]
        width = max(len(number) for number, _ in [("epsilon", ""), *cells])
        least = self.best
        lines = [f"{'epsilon':>{width}}    at delta {decimal(self.delta)}, by (* is the tightest)"]
        for row, (number, text) in zip(self.rows, cells, strict=True):
            lines.append(f"{number:>{width}} {'*' if row is least else ' '} {text}")
        return "\n".join(lines)

    @property
    def best(self) -> Bound | None:
        """The least epsilon, by the simplest theorem that proves it; None where no theorem does."""
        bounds = [row for row in self.rows if isinstance(row, Bound)]
        return min(bounds, key=lambda bound: bound.epsilon, default=None)


def row_of(theorem: Theorem, epsilon: float, delta: Fraction) -> Bound | Inapplicable:
    """Return a row of the table: an infinite epsilon is none."""
    if math.isinf(epsilon):
        return Inapplicable(theorem, "delta is too small")
    return Bound(epsilon, delta, theorem)


def _cells(row: Bound | Inapplicable) -> tuple[str, str]:
    if isinstance(row, Bound):
        return _show_epsilon(row.epsilon), row.theorem.name
    return "-", f"{row.theorem}: {row.reason}"


def _show_epsilon(epsilon: float) -> str:
    """Write a loss with six digits, rounded up; the last bit, which only says "above 0.7", is not shown."""
    return f"{float(rational_above(math.nextafter(epsilon, 0), digits=6)):.6g}"
