"""With the noise off each golden question equals plain DuckDB on rows that keep every bound.

Plain DuckDB runs the question's own text, or the text below `-- plain` where it does not know the words. What
differs by design, and is allowed for here:

- A declared key without rows has a row of its own, with counts and sums of 0; DuckDB leaves it out.
- A sum of no rows is 0; in DuckDB it is NULL.
- A quantile, minimum or maximum is a mark of its range, at most one step from DuckDB's value; in an empty group it
  is some mark.
- QUANTILE_DISC reads between the rows, as QUANTILE_CONT does; on these rows that is at most a step away.
- A histogram names the bin above all edges "above" and shows empty bins.
- NULL is a key only where it is declared or chosen; enumerated keys of a range leave out the rows without a value.
- DATE_TRUNC of a date is a date; in DuckDB it is the midnight it begins with.
- Rows without an owner are in no answer: `catalog` leaves them out of the plain tables.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.depth import thinned
from tests.golden.cases import Case, plan_of
from tests.golden.catalog import Clinic, clinic
from tests.golden.test_golden import CASES, IDS
from tests.harness import noise_off

from jali.catalog.columns import Kind
from jali.ir.aggregates import Marks
from jali.ir.estimators import Picked
from jali.ir.expressions import Aggregate, walk
from jali.planner import Plan
from jali.sql.bigquery import read_clause

_ABOVE = "above"
_RELATIVE = 1e-6


@pytest.fixture(scope="module")
def tables() -> Iterator[Clinic]:
    with clinic() as opened:
        yield opened


@thinned(2)
@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_equals_plain_sql_when_the_noise_is_off(case: Case, tables: Clinic) -> None:
    with noise_off():
        found = [tuple(row) for row in tables.db.ask(case.question, **case.terms).rows]
    wanted = tables.plain.execute(case.plain or read_clause(case.question)[0]).fetchall()
    comparison = _Comparison(plan_of(case, tables.catalog), float(case.tolerance))
    wanted = [row for row in wanted if comparison.has_keys(row)]
    left = comparison.unmatched(found, wanted)
    assert all(comparison.empty(row) for row in left)
    assert wanted, "a question without an answer compares nothing"
    if comparison.plan.question.order_by and not left:
        assert all(comparison.equal(one, other) for one, other in zip(found, wanted, strict=True))


class _Comparison:
    """Compares rows column by column, each within its tolerance."""

    def __init__(self, plan: Plan, tolerance: float) -> None:
        self.plan = plan
        estimates: dict[object, object] = dict(plan.estimates)
        self.picked = [estimates.get(o.expression) for o in plan.question.outputs]
        self.keys = [not any(isinstance(n, Aggregate) for n in walk(o.expression)) for o in plan.question.outputs]
        self.steps = [_step(estimate, tolerance) for estimate in self.picked]

    def unmatched(self, found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Take the wanted rows out of those found, each once, and return the rest."""
        left = list(found)
        for row in wanted:
            place = next((i for i, other in enumerate(left) if self.equal(other, row)), None)
            assert place is not None, f"{row} is not among {left}"
            del left[place]
        return left

    def equal(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        assert len(one) == len(other)
        return all(
            a == _key(b) if key else _near(a, b, step)
            for a, b, key, step in zip(one, other, self.keys, self.steps, strict=True)
        )

    def has_keys(self, row: tuple[Any, ...]) -> bool:
        """Say whether NULLs among the keys of a row are keys, or the NULL of a total."""
        known = {key.expression: key.values for key in self.plan.keys}
        outputs = zip(row, self.plan.question.outputs, strict=True)
        nulls = [known.get(output.expression) for value, output in outputs if value is None]
        return self.plan.question.sets is not None or all(values is None or None in values for values in nulls)

    def empty(self, row: tuple[Any, ...]) -> bool:
        """Say whether a row is that of a declared key without rows."""
        cells = zip(row, self.keys, self.picked, strict=True)
        return all(key or isinstance(picked, Picked) or _nothing(value) for value, key, picked in cells)


def _step(estimate: object, tolerance: float) -> float:
    """Return how far a column may be off: a step of its marks, in days for dates and seconds for times."""
    if not isinstance(estimate, Picked) or not isinstance(estimate.axis, Marks):
        return tolerance
    step = float(estimate.axis.step) / (10**6 if estimate.axis.kind is Kind.TIMESTAMP else 1)
    return max(step, tolerance)


def _key(value: Any) -> Any:
    """Return a midnight as its day."""
    midnight = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return value.date() if midnight else value


def _near(one: Any, other: Any, step: float) -> bool:
    if isinstance(other, dict):
        return _near_cells(one, other, step)
    if isinstance(other, list):
        return len(one) == len(other) and all(_near(a, b, step) for a, b in zip(one, other, strict=True))
    if isinstance(other, datetime.date):
        return _near_moments(one, other, step)
    if isinstance(other, str | bool):
        return bool(one == other)
    # A step of marks is an absolute distance: relative to the value it would allow anything.
    return math.isclose(_number(one), _number(other), rel_tol=min(step, _RELATIVE), abs_tol=step)


def _near_cells(one: dict[Any, Any], other: dict[Any, Any], step: float) -> bool:
    """Compare histograms: DuckDB's last bin is named by the largest number there is."""
    named = {key if key in one else _ABOVE: value for key, value in other.items()}
    return all(_near(value, named.get(key, 0), step) for key, value in one.items()) and set(named) <= set(one)


def _near_moments(one: datetime.date, other: datetime.date, step: float) -> bool:
    """DuckDB interpolates dates to times."""
    if isinstance(one, datetime.datetime) and isinstance(other, datetime.datetime):
        return abs((one - other).total_seconds()) <= step
    days = datetime.datetime.fromisoformat(one.isoformat()) - datetime.datetime.fromisoformat(other.isoformat())
    return abs(days / datetime.timedelta(days=1)) <= step


def _number(value: Any) -> float:
    """NULL is the sum of nothing."""
    return 0.0 if value is None else float(value) if isinstance(value, int | float | Decimal) else math.nan


def _nothing(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_nothing(cell) for cell in value.values())
    return value is None or (isinstance(value, int | float) and abs(value) < 1e-9)
