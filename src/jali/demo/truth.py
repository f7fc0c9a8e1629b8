"""The truth about the synthetic table. It can be shown only because the table describes nobody.

The bounded truth is what the plan's own query gives before noise: the demo runs that query on a connection of
its own, over the synthetic file. Nothing here is used by the database, which has no way to turn noise off.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from jali.query.estimate import Estimate, Linear
from jali.query.evaluate import evaluate
from jali.reading import all_groups

if TYPE_CHECKING:
    from jali.planner import Plan
    from jali.query.nodes import Expression

Rows = list[tuple[Any, ...]]


class SyntheticTruth:
    """Exact answers over the synthetic visits."""

    def __init__(self, visits: Path) -> None:
        import duckdb

        self._connection = duckdb.connect()
        located = str(visits).replace("'", "''")
        self._connection.execute(f"CREATE VIEW visits AS SELECT * FROM read_parquet('{located}')")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def raw(self, sql: str) -> Rows:
        """Answer a question as if nobody's privacy counted."""
        return self._connection.execute(sql).fetchall()

    def bounded(self, plan: Plan) -> Rows:
        """Answer on the clamped and weighted data: the number that the noise is added to."""
        exact = self._connection.execute(plan.sql).fetchall()
        times = [plan.levels[0].times(place) for place in range(len(plan.aggregation.measures))]
        multiples = ([value * factor for value, factor in zip(row, times, strict=True)] for row in exact)
        return [_outputs(plan, *pair) for pair in zip(all_groups(plan.keys), multiples, strict=True)]


def _outputs(plan: Plan, group: Sequence[Any], exact: Sequence[int]) -> tuple[Any, ...]:
    values: dict[Expression, Any] = {key.expression: value for key, value in zip(plan.keys, group, strict=True)}
    values |= {a: _value(e, exact) for a, e in plan.estimates if isinstance(e, Estimate)}
    return tuple(evaluate(output.expression, values) for output in plan.question.outputs)


def _value(estimate: Estimate, exact: Sequence[int]) -> float | None:
    above = _linear(estimate.numerator, exact)
    if estimate.denominator is None:
        return float(above)
    below = _linear(estimate.denominator, exact)
    return float(above / below) if below else None


def _linear(form: Linear, exact: Sequence[int]) -> Fraction:
    return form.constant + sum((c * exact[i] for i, c in form.terms), Fraction(0))
