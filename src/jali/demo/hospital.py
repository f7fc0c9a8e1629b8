"""Generate a synthetic hospital: 200,000 visits of 40,000 patients, made by DuckDB from `range` and `hash` alone.

No line of it describes a person. A few patients come very often, wards differ a hundredfold in size, and costs
have a heavy tail: what makes private statistics hard is all there.

The truth about the table can be shown only because the table describes nobody. The bounded truth is what the
plan's own query gives before noise: the demo runs that query on a connection of its own, over the synthetic file.
Nothing here is used by the database, which has no way to turn noise off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from jali.execution.postprocess import list_groups
from jali.ir.estimators import LinearCombination, RatioEstimate
from jali.ir.functions.evaluate import evaluate

if TYPE_CHECKING:
    from jali.database import Database
    from jali.ir.expressions import Expression
    from jali.planner import Plan


VISITS = 200_000
PATIENTS = 40_000
MAX_ROWS = 10
MAX_COST = 10_000
ANALYST = "ana"
WARDS = (
    "Emergency",
    "Surgery",
    "Cardiology",
    "Maternity",
    "Paediatrics",
    "Oncology",
    "Geriatrics",
    "Intensive care",
    "Burns",
    "Isolation",
)
# Isolation is declared and stood empty: it appears in every answer all the same.
_COSTS = (140, 900, 480, 700, 160, 650, 260, 1800, 1200, 0)

_MAKE_VISITS = f"""
COPY (
  WITH visits AS (
    SELECT i AS visit,
      CASE WHEN i < {PATIENTS} THEN i ELSE floor({PATIENTS} * pow(chance(i, 'who'), 1.5)) END::INTEGER AS p
    FROM range({VISITS}) AS numbers(i)
  ), people AS (
    SELECT visit, p, chance(visit, 'ward') AS r,
      CASE WHEN chance(p, 'child') < 0.16 THEN floor(16 * chance(p, 'age'))
           ELSE 16 + floor(82 * pow(chance(p, 'age'), 0.75 + 0.5 * p / {PATIENTS})) END::INTEGER AS years
    FROM visits
  ), stays AS (
    SELECT *, CASE
        WHEN r < 0.40 THEN 'Emergency'
        WHEN r < 0.41 THEN 'Intensive care'
        WHEN years < 16 THEN 'Paediatrics'
        WHEN years BETWEEN 20 AND 42 AND r < 0.60 THEN 'Maternity'
        WHEN years >= 75 AND r < 0.72 THEN 'Geriatrics'
        WHEN r < 0.72 THEN 'Surgery'
        WHEN r < 0.88 THEN 'Cardiology'
        WHEN r < 0.99 THEN 'Oncology'
        ELSE 'Burns' END AS ward
    FROM people
  )
  SELECT (hash(p, 'name') % 9000 + 1000)::BIGINT * 100000 + p AS patient_id,
    ward,
    CASE WHEN chance(visit, 'unknown') >= 0.01 THEN years END AS age,
    round(costs[ward] * pow(1 - chance(visit, 'cost'), -0.55), 2) AS cost,
    DATE '2025-01-01' + (365 * chance(visit, 'day'))::INTEGER AS seen
  FROM stays, (SELECT MAP {{{", ".join(f"'{w}': {c}.0" for w, c in zip(WARDS, _COSTS, strict=True))}}} AS costs)
) TO '{{path}}' (FORMAT parquet)
"""
_CHANCE_MACRO = "CREATE TEMP MACRO chance(x, salt) AS (hash(x, salt) % 1000003 + 0.5) / 1000003.0"


def make_visits(path: Path) -> None:
    """Write the synthetic visits to a Parquet file."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(_CHANCE_MACRO)
        connection.execute(_MAKE_VISITS.replace("{path}", str(path).replace("'", "''")))


def open_hospital(directory: Path, on_stage: Callable[[str], None]) -> Database:
    """Make the table and a database that protects it, with a grant for one analyst."""
    from jali.catalog.columns import Keys, Range
    from jali.connection import open_local
    from jali.privacy import Budget

    on_stage("making 200,000 synthetic visits")
    make_visits(directory / "visits.parquet")
    on_stage("protecting the table")
    database = open_local(directory / "hospital.jali")
    database.protect(
        "visits",
        directory / "visits.parquet",
        unit="patient_id",
        max_rows=MAX_ROWS,
        columns={"age": Range(0, 100), "cost": Range(0, MAX_COST), "ward": Keys(WARDS)},
        budget=Budget(epsilon=3, delta="1e-6"),
        rows=VISITS,
    )
    database.grant(ANALYST, "visits", Budget(epsilon=1))
    return database


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

    def compute_raw(self, sql: str) -> Rows:
        """Answer a question as if nobody's privacy counted."""
        return self._connection.execute(sql).fetchall()

    def compute_bounded(self, plan: Plan) -> Rows:
        """Answer on the clamped and weighted data: the number that the noise is added to."""
        exact = self._connection.execute(plan.sql).fetchall()
        times = [plan.levels[0].times(place) for place in range(len(plan.aggregation.measures))]
        multiples = ([value * factor for value, factor in zip(row, times, strict=True)] for row in exact)
        return [_compute_outputs(plan, *pair) for pair in zip(list_groups(plan.keys), multiples, strict=True)]


def _compute_outputs(plan: Plan, group: Sequence[Any], exact: Sequence[int]) -> tuple[Any, ...]:
    values: dict[Expression, Any] = {key.expression: value for key, value in zip(plan.keys, group, strict=True)}
    values |= {a: _compute_value(e, exact) for a, e in plan.estimates if isinstance(e, RatioEstimate)}
    return tuple(evaluate(output.expression, values) for output in plan.question.outputs)


def _compute_value(estimate: RatioEstimate, exact: Sequence[int]) -> float | None:
    above = _compute_linear(estimate.numerator, exact)
    if estimate.denominator is None:
        return float(above)
    below = _compute_linear(estimate.denominator, exact)
    return float(above / below) if below else None


def _compute_linear(form: LinearCombination, exact: Sequence[int]) -> Fraction:
    return form.constant + sum((c * exact[i] for i, c in form.terms), Fraction(0))
