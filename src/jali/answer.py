"""The answer: noisy values, their intervals, what they cost and the receipt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from jali.display.numbers import half_width, show_error, show_number
from jali.errors import QueryError
from jali.privacy import Event
from jali.query.aggregation import KeySet
from jali.query.bounds import Bounds
from jali.query.estimate import Estimate, Linear, estimate_of
from jali.query.evaluate import evaluate
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Question, walk

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw

Interval: TypeAlias = tuple[float, float] | None
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Release:
    """What left through the noise, and the public facts needed to read it."""

    question: Question
    keys: tuple[KeySet, ...]
    estimates: tuple[tuple[Aggregate, Estimate], ...]
    laws: tuple[DiscreteLaplaceLaw | DiscreteGaussianLaw, ...]
    noisy: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Answer:
    """A differentially private answer.

    Attributes:
        release: The noisy integers and how they are read.
        cost: The loss that was charged for it.
        receipt: The ledger's name for it.
        cached: Whether it had been answered before, so that the table was not charged again.
    """

    release: Release = field(repr=False)
    cost: Event
    receipt: str
    cached: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(output.name for output in self.release.question.outputs)

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, after HAVING, ORDER BY and LIMIT, which act on noisy values only."""
        outputs = self.release.question.outputs
        return [tuple(evaluate(o.expression, self._values[i]) for o in outputs) for i in self._order]

    def interval(self, confidence: float = CONFIDENCE) -> list[tuple[Interval, ...]]:
        """Return, per row and column, an interval for the bounded truth; None for keys.

        The confidence is per number. Intervals for COUNT and SUM follow the exact law of the noise; for ratios
        they invert a test; for other arithmetic they combine intervals that hold together.
        """
        columns = [self._column_intervals(o.expression, confidence) for o in self.release.question.outputs]
        return [tuple(column[i] for column in columns) for i in self._order]

    @cached_property
    def _groups(self) -> list[tuple[Any, ...]]:
        return list(product(*(key.values for key in self.release.keys)))

    @cached_property
    def _values(self) -> list[dict[Expression, Any]]:
        """The value of every grouping column and aggregate, group by group."""
        columns = [Column(key.column) for key in self.release.keys]
        values: list[dict[Expression, Any]] = [dict(zip(columns, g, strict=True)) for g in self._groups]
        for aggregate, estimate in self.release.estimates:
            for group, row in enumerate(values):
                row[aggregate] = self._value(estimate, group)
        return values

    def _value(self, estimate: Estimate, group: int) -> float | int | None:
        above = self._linear(estimate.numerator, group)
        if estimate.denominator is None:
            return _plain(above)
        below = self._linear(estimate.denominator, group)
        # A ratio over a count that is not positive says nothing, as AVG of no rows says NULL.
        return None if below <= 0 else _within(_float(above / below), estimate.bounds)

    def _linear(self, form: Linear, group: int) -> Fraction:
        return form.constant + sum((c * self.release.noisy[i][group] for i, c in form.terms), Fraction(0))

    @cached_property
    def _order(self) -> list[int]:
        question = self.release.question
        kept = [
            i
            for i, v in enumerate(self._values)
            if question.having is None or evaluate(question.having, v) is True
        ]
        for ordering in reversed(question.order_by):
            found = {i: evaluate(ordering.expression, self._values[i]) for i in kept}
            known = sorted(
                (i for i in kept if found[i] is not None), key=found.__getitem__, reverse=ordering.descending
            )
            empty = [i for i in kept if found[i] is None]
            kept = empty + known if ordering.nulls_first else known + empty
        stop = None if question.limit is None else question.offset + question.limit
        return kept[question.offset : stop]

    def _column_intervals(self, expression: Expression, confidence: float) -> Sequence[Interval]:
        groups = len(self._groups)
        if not _has_aggregate(expression):
            return [None] * groups
        estimate = estimate_of(expression, dict(self.release.estimates))
        if estimate is not None:
            return self._estimate_intervals(estimate, confidence)
        return self._composed(expression, confidence)

    def _estimate_intervals(self, estimate: Estimate, confidence: float) -> Sequence[Interval]:
        if estimate.denominator is not None:
            return self._ratio_intervals(estimate, confidence)
        from jali.mechanisms.combined import linear_quantile

        form = estimate.numerator
        laws = [self.release.laws[i] for i, _ in form.terms]
        width = linear_quantile([_float(c) for _, c in form.terms], laws, confidence)
        centers = (_float(self._linear(form, group)) for group in range(len(self._groups)))
        return [(center - width, center + width) for center in centers]

    def _ratio_intervals(self, estimate: Estimate, confidence: float) -> Sequence[Interval]:
        import numpy as np

        from jali.mechanisms.combined import Form, ratio_interval

        indices = estimate.measures
        above, below = dict(estimate.numerator.terms), dict((estimate.denominator or Linear()).terms)
        constant = Fraction(0) if estimate.denominator is None else estimate.denominator.constant
        low, high = ratio_interval(
            Form([_float(above.get(i, Fraction(0))) for i in indices], _float(estimate.numerator.constant)),
            Form([_float(below.get(i, Fraction(0))) for i in indices], _float(constant)),
            [self.release.laws[i] for i in indices],
            [np.array([float(x) for x in self.release.noisy[i]]) for i in indices],
            confidence=confidence,
            bounds=_ends(estimate.bounds),
        )
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _composed(self, expression: Expression, confidence: float) -> Sequence[Interval]:
        """Evaluate on intervals that hold together with the wanted confidence (union bound)."""
        from jali.query.enclose import enclose

        parts = _estimable_parts(expression, dict(self.release.estimates))
        each = 1 - (1 - confidence) / max(1, len(parts))
        known = {part: self._column_intervals(part, each) for part in parts}
        return [
            enclose(expression, {part: column[group] for part, column in known.items()})
            for group in range(len(self._groups))
        ]

    def __repr__(self) -> str:
        return f"Answer({self.summary()}; cost {self.cost}; receipt {self.receipt})"

    def __str__(self) -> str:
        from jali.display.text import answer_table

        return (
            f"{answer_table(self.columns, self.rows, self.interval())}\ncost {self.cost}, receipt {self.receipt}"
        )

    def summary(self) -> str:
        """One line: the first value with its error bar, and how many rows there are."""
        if not self.rows:
            return "no rows"
        cells = zip(self.columns, self.rows[0], self.interval()[0], strict=True)
        shown = ", ".join(f"{name} {_cell(value, span)}" for name, value, span in cells)
        more = f" and {len(self.rows) - 1} more rows" if len(self.rows) > 1 else ""
        return f"{shown} at {CONFIDENCE:.0%}{more}"

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_json(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return everything a program needs, as plain JSON values."""
        return {
            "columns": list(self.columns),
            "rows": [[_jsonable(value) for value in row] for row in self.rows],
            "intervals": [[_json_interval(span) for span in row] for row in self.interval(confidence)],
            "confidence": confidence,
            "cost": {"kind": self.cost.kind, "amount": str(self.cost.amount), "delta": str(self.cost.delta)},
            "receipt": self.receipt,
            "cached": self.cached,
        }

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table, with `_low` and `_high` beside each noisy column."""
        import pyarrow

        return pyarrow.table(self._wide())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame, with `_low` and `_high` beside each noisy column."""
        import pandas

        return pandas.DataFrame(self._wide())

    def to_polars(self) -> polars.DataFrame:
        """Return a polars frame, with `_low` and `_high` beside each noisy column."""
        import polars

        return polars.DataFrame(self._wide())

    def _wide(self) -> dict[str, list[Any]]:
        spans, wide = self.interval(), {}
        for j, output in enumerate(self.release.question.outputs):
            wide[output.name] = [row[j] for row in self.rows]
            if _has_aggregate(output.expression):
                for end, suffix in ((0, "_low"), (1, "_high")):
                    wide[self._free(output.name + suffix)] = [_end(row[j], end) for row in spans]
        return wide

    def _free(self, name: str) -> str:
        """Return a name that no output has."""
        while name in self.columns:
            name += "_"
        return name

    def _repr_html_(self) -> str:
        from jali.display.html import answer_table

        return answer_table(self.columns, self.rows, self.interval(), f"cost {self.cost} · receipt {self.receipt}")

    def plot(self, column: str | None = None) -> Any:
        """Draw one noisy column with its error bars (needs matplotlib)."""
        from jali.display.plots import bars

        return bars(self.plot_data(column), column or self._first_noisy)

    @property
    def _first_noisy(self) -> str:
        return next(o.name for o in self.release.question.outputs if _has_aggregate(o.expression))

    def plot_data(self, column: str | None = None) -> list[tuple[str, float | None, Interval]]:
        """Return what `plot` draws: label, value and interval per row."""
        outputs = self.release.question.outputs
        noisy = [j for j, output in enumerate(outputs) if _has_aggregate(output.expression)]
        if column is not None and column not in self.columns:
            raise QueryError(f"The answer has no column {column}.", remedy=f"It has {', '.join(self.columns)}.")
        chosen = self.columns.index(column or self._first_noisy)
        labels = [j for j in range(len(self.columns)) if j not in noisy]
        return [
            (", ".join(show_number(row[j]) for j in labels), row[chosen], spans[chosen])
            for row, spans in zip(self.rows, self.interval(), strict=True)
        ]


def _has_aggregate(expression: Expression) -> bool:
    return any(isinstance(node, Aggregate) for node in walk(expression))


def _estimable_parts(expression: Expression, known: dict[Aggregate, Estimate]) -> list[Expression]:
    """Return the largest parts that are estimates in their own right."""
    if isinstance(expression, Literal | Column):
        return []
    if estimate_of(expression, known) is not None:
        return [expression]
    inner = expression.arguments if isinstance(expression, Call) else ()
    return list(dict.fromkeys(part for argument in inner for part in _estimable_parts(argument, known)))


def _plain(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else _float(value)


def _float(value: Fraction) -> float:
    """Return the nearest double; an infinity beyond all doubles. Nothing raises after the noise."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _within(value: float, bounds: Bounds) -> float:
    low, high = _ends(bounds)
    return min(max(value, low), high)


def _ends(bounds: Bounds) -> tuple[float, float]:
    low = -math.inf if bounds.low is None else _float(bounds.low)
    return low, math.inf if bounds.high is None else _float(bounds.high)


def _cell(value: Any, span: Interval) -> str:
    return f"{show_number(value, half_width(span))} {show_error(value, span)}".strip()


def _end(span: Interval, end: int) -> float | None:
    return None if span is None else _finite(span[end])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _jsonable(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else value.isoformat()


def _json_interval(span: Interval) -> list[float | None] | None:
    return None if span is None else [_finite(span[0]), _finite(span[1])]
