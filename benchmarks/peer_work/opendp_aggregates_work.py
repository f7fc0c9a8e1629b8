"""OpenDP's side of the aggregate benchmark: its Polars front where that offers the aggregate, else its chains.

The measurement of a question is made once, at the whole loss, and called for every answer. Its variance wants the
number of rows to be public, so it hides the change of one row (two of its steps); all else hides a row or person.
Chains know no people: there the rows of each person are cut first, and as many rows are hidden.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl
from benchmarks.aggregates.table import (
    DELTA,
    EPSILON,
    HIGH,
    KEYS,
    LOW,
    MAX_ROWS,
    QUARTERS,
    TOP,
    TOP_AGE,
    WARDS,
    Table,
    bounded,
    loaded,
    one_per_key,
)
from benchmarks.peer_work.answers import (
    PERSON,
    REPLACE_ONE,
    ROW,
    Asked,
    Release,
    listed,
    print_answers,
)

MOST_ROWS = 100_000  # a public bound on the table's length, which its sums ask for
# A hundredth apart, and shifted so that the true median lies at the mean distance from one, not by chance on it.
SHIFT = 0.0033
CANDIDATES = np.clip(np.linspace(LOW, HIGH, 10_001) + SHIFT, LOW, HIGH).tolist()
SAMPLES = 50


def questions(table: Table) -> Iterator[Asked]:
    """Return the questions that it offers, at both levels."""
    frame = pl.DataFrame(table.columns).lazy()
    for level in (ROW, PERSON):
        for name, outputs in _outputs().items():
            yield Asked(name, partial(_selected, frame, level, outputs), level)
        yield Asked("by_ward", partial(_by_ward, frame, level), level)
        yield Asked("keys", partial(_keys, table, level), level)
        ages = _ages(table, level)
        yield Asked("mode", partial(_top, ages, level, 1), level)
        yield Asked("top5", partial(_top, ages, level, TOP), level)
        yield Asked("cdf", partial(_cdf, ages, level), level)
    yield Asked("people", partial(_people, frame), PERSON)
    yield Asked("var", partial(_variance, table), ROW, REPLACE_ONE)
    yield Asked("stddev", partial(_variance, table, root=True), ROW, REPLACE_ONE)


def _outputs() -> dict[str, list[Any]]:
    key: Any = pl.col("key")
    cost: Any = pl.col("cost").fill_null(LOW).fill_nan(LOW)
    return {
        "count": [dp.len(signed=True)],
        "distinct": [key.dp.n_unique(signed=True)],
        "sum": [cost.dp.sum((LOW, HIGH))],
        "avg": [cost.dp.mean((LOW, HIGH))],
        "median": [cost.dp.quantile(0.5, CANDIDATES)],
        "quartiles": [cost.dp.quantile(q, CANDIDATES).alias(str(q)) for q in QUARTERS],
        "min": [cost.dp.quantile(0.0, CANDIDATES)],
        "max": [cost.dp.quantile(1.0, CANDIDATES)],
    }


def _context(frame: pl.LazyFrame, level: str, delta: float | None = None, *, rows: int = 1) -> Any:
    people = {"identifier": "uid"} if level == PERSON else {}
    return dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=rows, **people),
        privacy_loss=dp.loss_of(epsilon=EPSILON) if delta is None else dp.loss_of(epsilon=EPSILON, delta=delta),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=MOST_ROWS)],
    )


def _query(frame: pl.LazyFrame, level: str) -> Any:
    query = _context(frame, level).query()
    return query.truncate_per_group(MAX_ROWS) if level == PERSON else query


def _selected(frame: pl.LazyFrame, level: str, outputs: list[Any]) -> Release:
    measurement = _query(frame, level).select(*outputs).resolve()
    return lambda: list(measurement(frame).collect().row(0))


def _people(frame: pl.LazyFrame) -> Release:
    query = _context(frame, PERSON).query().truncate_per_group(1)
    measurement = query.select(dp.len(signed=True)).resolve()
    return lambda: list(measurement(frame).collect().row(0))


def _by_ward(frame: pl.LazyFrame, level: str) -> Release:
    wards = pl.LazyFrame({"ward": list(range(WARDS))})
    measurement = _query(frame, level).group_by("ward").agg(dp.len(signed=True)).with_keys(wards).resolve()
    return lambda: _counted(measurement(frame), WARDS)


def _keys(table: Table, level: str) -> Release:
    """Cut each person's keys first: `truncate_num_groups(keep="sample")` ends in an error in this version."""
    generator = np.random.default_rng()
    samples = [table] if level == ROW else [bounded(one_per_key(table), generator) for _ in range(SAMPLES)]
    frames = [pl.DataFrame({"key": sample.key}).lazy() for sample in samples]
    query = _context(frames[0], ROW, DELTA, rows=_distance(level)).query()
    measurement = query.group_by("key").agg(dp.len(signed=True)).resolve()
    turns = cycle(frames)
    return lambda: _counted(measurement(next(turns)), KEYS)


def _counted(released: Any, size: int) -> list[float | None]:
    return listed(dict(released.collect().iter_rows()), size)


def _ages(table: Table, level: str) -> Callable[[], list[int]]:
    """Return what gives the count of each age, over the rows that are kept."""
    generator = np.random.default_rng()
    samples = [table] if level == ROW else [bounded(table, generator) for _ in range(SAMPLES)]
    counts = cycle([np.bincount(sample.age, minlength=TOP_AGE + 1).tolist() for sample in samples])
    return lambda: next(counts)


def _distance(level: str) -> int:
    return MAX_ROWS if level == PERSON else 1


def _top(ages: Callable[[], list[int]], level: str, k: int) -> Release:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)
    measurement = dp.binary_search_chain(
        lambda scale: dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=k, scale=scale),
        d_in=_distance(level),
        d_out=EPSILON,
    )
    return lambda: list(measurement(ages()))


def _cdf(ages: Callable[[], list[int]], level: str) -> Release:
    """Release its tree of counts with the fan-out that it recommends, made consistent, and sum it up."""
    leaves = TOP_AGE + 1
    branching = dp.t.choose_branching_factor(leaves)
    space = dp.vector_domain(dp.atom_domain(T=int), size=leaves), dp.l1_distance(T=int)
    tree = dp.t.make_b_ary_tree(*space, leaf_count=leaves, branching_factor=branching)
    measurement = dp.binary_search_chain(
        lambda scale: tree >> dp.m.then_laplace(scale), d_in=_distance(level), d_out=EPSILON
    )
    consistent = dp.t.make_consistent_b_ary_tree(branching)
    return lambda: np.cumsum(consistent(measurement(ages()))[:leaves]).tolist()


def _variance(table: Table, *, root: bool = False) -> Release:
    sized = dp.vector_domain(dp.atom_domain(bounds=(LOW, HIGH), nan=False), size=table.rows)
    variance = dp.t.make_variance(sized, dp.symmetric_distance())
    measurement = dp.binary_search_chain(lambda scale: variance >> dp.m.then_laplace(scale), d_in=2, d_out=EPSILON)
    costs = table.cost.tolist()
    return lambda: [max(measurement(costs), 0.0) ** (0.5 if root else 1.0)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    dp.enable_features("contrib")
    print_answers(questions(loaded(sys.argv[1])), int(sys.argv[2]))
