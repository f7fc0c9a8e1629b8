"""The harness can fail: each of these breaks one thing between the rows and the ledger, and is noticed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.fuzz.world import ADJACENCIES, PROTECTED, House, house, random_world
from tests.loss.asks import Asked, Desk
from tests.loss.compared import ViolationError
from tests.loss.triples import checker

import jali
import jali.engines.duckdb.engine
import jali.execution.ask
import jali.execution.measure
import jali.mechanisms.additive.l_infinity
import jali.planner.batch.batch_plan
from jali.execution.accounts import Accounts
from jali.ir.relations import Keep, Scan
from jali.ledger import Debit, SqliteLedger
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.measurement import NoiseMeasurement
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner import draft, plan
from jali.planner.subpopulations import ResolvedSubpopulation
from jali.privacy import Event
from jali.sampling import DiscreteGaussian, DiscreteLaplace
from jali.sampling.cube_radius import CubeRadius

Patch: TypeAlias = Callable[[], AbstractContextManager[Any]]

COUNT = "SELECT COUNT(*) FROM visits"
PLAIN = "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward"
LEFT = "SELECT p.sex, COUNT(*), SUM(v.cost) FROM visits v LEFT JOIN people p ON v.uid = p.pid GROUP BY p.sex"
JOIN = "SELECT p.sex, COUNT(*), SUM(p.income) FROM visits v JOIN people p ON v.uid = p.pid GROUP BY p.sex"
REACHED = "SELECT i.drug, COUNT(*), SUM(i.dose) FROM items i GROUP BY i.drug"
MEDIAN = "SELECT ward, MEDIAN(cost) FROM visits GROUP BY ward"
MODE = "SELECT MODE(age) FROM visits"
UNKNOWN = "SELECT code, SUM(age) FROM visits GROUP BY code"
TOLD = "SELECT code, COUNT(DISTINCT uid) FROM visits GROUP BY code"


def one(sql: str, **terms: Any) -> Asked:
    return Asked(((sql, terms),))


def parts(sql: str, by: str, keys: tuple[str, ...]) -> Asked:
    return Asked(tuple((sql, {"epsilon": 1, "part": {by: key}}) for key in keys))


def batch(*texts: str, **total: Any) -> Asked:
    return Asked(tuple((text, {}) for text in texts), total)


PURE = {"epsilon": 1}
CHOSEN = {"epsilon": 1, "delta": "1/1000000"}


@pytest.fixture(scope="module")
def homes() -> Iterator[tuple[House, House]]:
    """One database for what is pure, one for what is not."""
    with house(ADJACENCIES[0]) as pure, house(ADJACENCIES[0]) as other:
        yield pure, other


def check(homes: tuple[House, House], asked: Asked, patched: Patch | None, worlds: int, each: int = 5) -> None:
    """Check a question on several worlds, with something broken meanwhile."""
    with checker(0) as checking:
        home = homes[0] if asked.is_pure(homes[0].db) else homes[1]
        for shape in PROTECTED:
            home.db.tables.check(shape.name)  # a failure has closed it
        desk = Desk(home, checking.watch)
        for seed in range(worlds):
            if patched is None:
                assert checking.check(desk, asked, [random_world(seed)], each)
            else:
                with patched():
                    checking.check(desk, asked, [random_world(seed)], each)


def of(target: Any, name: str, new: Any) -> Patch:
    return lambda: patch.object(target, name, new)


def rewritten(before: str, after: str) -> Patch:
    """Let the engine run other queries: a regular expression is replaced, which must be there."""
    engine = jali.engines.duckdb.engine.DuckDBEngine
    honest = engine.run

    def run(self: Any, sql: str, *others: Any) -> Any:
        text, times = re.subn(before, after, sql)
        assert times, f"nothing to break in {sql}"
        return honest(self, text, *others)

    return of(engine, "run", run)


# Noise that is too small, at the sampler.


def doubled_cube(dimension: int, rate: Fraction) -> CubeRadius:
    return CubeRadius(dimension, 2 * rate)


NOISE: dict[str, tuple[Asked, Patch]] = {
    "half the scale of Laplace noise": (
        one(COUNT, **PURE),
        of(Laplace, "sampler", property(lambda mechanism: DiscreteLaplace(mechanism.scale / 2))),
    ),
    "half the variance of Gaussian noise": (
        one(COUNT, rho="1/2"),
        of(Gaussian, "sampler", property(lambda mechanism: DiscreteGaussian(mechanism.variance / 2))),
    ),
    "half the scale of joint noise": (
        one("SELECT COUNT(*), SUM(cost) FROM visits", **PURE),
        of(jali.mechanisms.additive.l_infinity, "CubeRadius", doubled_cube),
    ),
    "a quantile at the doubled rate": (
        one(MEDIAN, **PURE),
        of(WeightedQuantile, "rate", property(lambda quantile: quantile.epsilon / quantile.sensitivity)),
    ),
    "a quantile at the doubled rate, in zCDP": (
        one(MEDIAN, rho="1/2"),
        of(WeightedQuantile, "rate", property(lambda quantile: quantile.epsilon / quantile.sensitivity)),
    ),
    "half the scale of permute-and-flip": (
        one(MODE, **PURE),
        of(PermuteAndFlip, "scale", property(lambda choice: choice.sensitivity / choice.epsilon / 2)),
    ),
    "half the scale of the exponential mechanism": (
        one(MODE, rho="1/2"),
        of(Exponential, "scale", property(lambda choice: choice.sensitivity / choice.epsilon / 2)),
    ),
}

# Queries that lost a bound.
WEIGHTS = r"least\(1048576, 3145728 // count\(\*\)\)"
SQL: dict[str, tuple[Asked, Patch]] = {
    "no weights": (one(PLAIN, **PURE), rewritten(WEIGHTS, "1048576")),
    "no weights of a batch": (batch(PLAIN, MODE, epsilon=1), rewritten(WEIGHTS, "1048576")),
    "no weights of a quantile": (one(MEDIAN, **PURE), rewritten(WEIGHTS, "1048576")),
    "no owner equality": (
        one(JOIN, **PURE),
        rewritten(r'l\.owner = r\.owner AND \(?"v\.uid" = "p\.pid"\)?', "TRUE"),
    ),
    "no clamp": (
        one("SELECT SUM(age) FROM visits", **PURE),
        rewritten("BETWEEN 0 AND 11", "BETWEEN 0 AND 32767"),
    ),
    "everybody's rows reached": (one(REACHED, **PURE), rewritten(r"here\.\S+ = reached\.there", "TRUE")),
    "all groups kept": (
        one(UNKNOWN, **CHOSEN, max_groups=1),
        rewritten("place <= 1", "place <= 99"),
    ),
}


# Groups that are shown too often.


def generous(keys: OptimalKeys) -> ReleaseProbabilities:
    honest = keys.delta / (keys.max_keys * (1 if keys.adjacency.value == "add-remove" else 2))
    return ReleaseProbabilities(
        keys.epsilon / (keys.max_keys * (1 if keys.adjacency.value == "add-remove" else 2)), 10 * honest
    )


honest_threshold = LaplaceThreshold.threshold.fget  # type: ignore[attr-defined]
GROUPS: dict[str, tuple[Asked, Patch]] = {
    "coins of ten times the delta": (
        one(UNKNOWN, **CHOSEN),
        of(OptimalKeys, "chances", property(generous)),
    ),
    "a threshold that is lower by one": (
        one(TOLD, **CHOSEN),
        of(LaplaceThreshold, "threshold", property(lambda keys: honest_threshold(keys) - 1)),
    ),
    "half the scale of counts that are told": (
        one(TOLD, **CHOSEN),
        of(LaplaceThreshold, "sampler", property(lambda keys: DiscreteLaplace(keys.scale / 2))),
    ),
}


# Too little is charged.


def half(event: Event) -> Event:
    return Event(None if event.epsilon is None else event.epsilon / 2, event.rho / 4, event.delta / 2)


honest_reserve = SqliteLedger.reserve


def half_reserved(self: Any, *, debits: tuple[Debit, ...], **others: Any) -> str:
    return honest_reserve(self, debits=tuple(replace(d, event=half(d.event)) for d in debits), **others)


def first_alone(self: Any, costs: Any, named: Any = None) -> tuple[Debit, ...]:
    return honest_debits(self, list(costs)[:1], named or {})


@contextmanager
def one_change() -> Iterator[None]:
    with ExitStack() as patched:
        for module, name in ((plan, "changes"), (plan, "most_changes"), (draft, "most_changes")):
            patched.enter_context(patch.object(module, name, lambda *_: 1))
        yield


def half_composed(plans: Any, table: Any, total: Any) -> Event:
    return half(honest_cost(plans, table, total))


def without_belonging(self: ResolvedSubpopulation, scan: Scan) -> Any:
    """Every row of a part, also of people who belong to another one."""
    found = honest_limited(self, scan)
    assert isinstance(found, Keep)
    return Keep(scan, found.condition)


honest_debits, honest_limited = Accounts.debits, ResolvedSubpopulation.limit_rows
honest_cost = jali.planner.batch.batch_plan._cost
CHARGES: dict[str, tuple[Asked, Patch]] = {
    "half is reserved": (one(COUNT, **PURE), of(SqliteLedger, "reserve", half_reserved)),
    "half is reserved, in zCDP": (one(COUNT, rho="1/2"), of(SqliteLedger, "reserve", half_reserved)),
    "half is reserved for chosen groups": (one(TOLD, **CHOSEN), of(SqliteLedger, "reserve", half_reserved)),
    "one of two tables pays": (one(JOIN, **PURE), of(Accounts, "debits", first_alone)),
    "one change is charged where there are two": (
        one(LEFT, **PURE),
        one_change,
    ),
    "half is charged for a batch": (
        batch(COUNT, MODE, epsilon=1),
        of(jali.planner.batch.batch_plan, "_cost", half_composed),
    ),
    "people belong to several parts": (
        parts(COUNT, "ward", ("A", "B", "é", "")),
        of(ResolvedSubpopulation, "limit_rows", without_belonging),
    ),
}


# Something leaves without noise.


def last_one_bare(mechanism: Any, exact: list[int]) -> list[int]:
    return [*honest_noisy(mechanism, exact[:-1]), *exact[-1:]]


def scaled_by_the_data(mechanism: Any, exact: list[int]) -> list[int]:
    wide = Laplace(sensitivity=max(mechanism.sensitivity, *exact), epsilon=mechanism.epsilon)
    return honest_noisy(wide, exact)


def one_noise_for_all(self: Laplace, values: np.ndarray, *, bits: Any = None) -> np.ndarray:
    return np.asarray(values + self.noise(1, values.size)[0, 0])


def failing(plan: Any, run: Any) -> Any:
    found = honest_draw(plan, run)
    if any(int(value) % 2 for part in plan.parts for row in run(part) for value in row if value is not None):
        raise jali.errors.EngineError("engine-failed")
    return found


honest_noisy, honest_draw = NoiseMeasurement.release_numbers, jali.execution.measure.measure
LEAKS: dict[str, tuple[Asked, Patch]] = {
    "one number without noise": (
        one("SELECT ward, COUNT(*) FROM visits GROUP BY ward", **PURE),
        of(NoiseMeasurement, "release_numbers", last_one_bare),
    ),
    "a scale that depends on the data": (
        one(COUNT, **PURE),
        of(NoiseMeasurement, "release_numbers", scaled_by_the_data),
    ),
    "a failure that depends on the data": (one(COUNT, **PURE), of(jali.execution.ask, "measure", failing)),
}
ALL = {**NOISE, **SQL, **GROUPS, **CHARGES, **LEAKS}


@pytest.mark.parametrize("name", ALL)
def test_what_is_broken_is_noticed(homes: tuple[House, House], name: str) -> None:
    asked, patched = ALL[name]
    with pytest.raises(ViolationError):
        check(homes, asked, patched, worlds=25)


@pytest.mark.parametrize("name", ALL)
def test_the_same_questions_are_private_where_nothing_is_broken(homes: tuple[House, House], name: str) -> None:
    check(homes, ALL[name][0], None, worlds=1 + DEPTH // 2)
