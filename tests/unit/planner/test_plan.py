"""A plan is made from public facts alone, and does not run unless its noise pays for its loss."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_type_hints

import pytest
from tests.declared import VISITS
from tests.depth import thinned, whole
from tests.golden.cases import FILES, Case, plan_of, read_cases
from tests.golden.catalog import clinic

import jali
from jali.catalog.tables import Catalog
from jali.errors import JaliError
from jali.ir.aggregates import CountRows, SumValues
from jali.ir.expressions import Column, Question
from jali.ir.relations import Scan
from jali.mechanisms import Gaussian, LInfinity
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.planner import RULES, Draft, Plan, make_plan
from jali.planner.plan import check_loss
from jali.planner.terms import QuestionTerms, read_terms
from jali.privacy import Adjacency, Concentrated, Pure
from jali.sql.question_limits import Limits
from jali.sql.reader.read_select import read_sql

CASES = [case for path in FILES for case in read_cases(path)]


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    with clinic() as declared:
        yield declared.catalog


SQL = "SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward"
CATALOG = Catalog((VISITS,))


def planned(sql: str, **terms: Any) -> Plan:
    return make_plan(read_sql(sql), CATALOG, read_terms(**terms))


JOINT = planned(SQL, epsilon=1)
GAUSSIAN = planned(SQL, rho="1/8")


def altered(plan: Plan, **parts: Any) -> Plan:
    """Return the plan with other parts in its only query."""
    ((part,),) = [level.parts for level in plan.levels]
    return replace(plan, levels=(replace(plan.levels[0], parts=(replace(part, **parts),)),))


def mechanisms_of(plan: Plan) -> tuple[Any, ...]:
    return plan.parts[0].mechanisms


def stopped(plan: Plan) -> None:
    with pytest.raises(JaliError, match="The noise of the plan does not match its privacy loss"):
        check_loss(plan)


@whole
@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_an_honest_plan_passes(case: Case, catalog: Catalog) -> None:
    check_loss(plan_of(case, catalog))


@pytest.mark.parametrize("plan", [JOINT, GAUSSIAN], ids=["joint", "Gaussian"])
@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("factor", [Fraction(999, 1000), Fraction(1001, 1000), Fraction(1, 2)])
def test_noise_of_another_scale_is_stopped(plan: Plan, index: int, factor: Fraction) -> None:
    mechanisms: list[Any] = list(mechanisms_of(plan))
    honest = mechanisms[index]
    if isinstance(honest, JointNoiseCoordinate):
        # Of all that leave together, or of one of them.
        known = honest.joint
        reach = known.sensitivity * factor
        joint = LInfinity(sensitivity=reach, epsilon=known.epsilon, dimension=known.dimension)
        stopped(altered(plan, mechanisms=tuple(replace(m, joint=joint) for m in mechanisms)))
        mechanisms[index] = replace(honest, joint=joint)
    else:
        squared = honest.squared_sensitivity * factor
        mechanisms[index] = Gaussian.squared(squared_sensitivity=squared, rho=honest.rho)
    stopped(altered(plan, mechanisms=tuple(mechanisms)))


@pytest.mark.parametrize("plan", [JOINT, GAUSSIAN], ids=["joint", "Gaussian"])
def test_a_missing_or_an_additional_mechanism_is_stopped(plan: Plan) -> None:
    every = mechanisms_of(plan)
    stopped(altered(plan, mechanisms=every[:-1]))
    stopped(altered(plan, mechanisms=()))
    stopped(altered(plan, mechanisms=(*every, every[0])))


@pytest.mark.parametrize("plan", [JOINT, GAUSSIAN], ids=["joint", "Gaussian"])
def test_a_measure_without_noise_is_stopped(plan: Plan) -> None:
    more = replace(plan.aggregation, measures=(*plan.aggregation.measures, CountRows()))
    stopped(altered(plan, aggregation=more))


def test_a_smaller_cost_than_the_noise_pays_for_is_stopped() -> None:
    stopped(replace(JOINT, cost=Pure("1/2").event))
    stopped(replace(GAUSSIAN, cost=Concentrated("1/16").event))
    stopped(replace(JOINT, cost=Pure("1.000000001").event))


def test_a_wider_measure_than_the_noise_was_made_for_is_stopped() -> None:
    measures = tuple(
        replace(m, high=m.high * 2) if isinstance(m, SumValues) else m for m in JOINT.aggregation.measures
    )
    stopped(altered(JOINT, aggregation=replace(JOINT.aggregation, measures=measures)))


def test_more_rows_a_person_than_the_noise_was_made_for_are_stopped() -> None:
    assert JOINT.aggregation.weights is not None
    weights = replace(JOINT.aggregation.weights, max_rows=6)
    stopped(altered(JOINT, aggregation=replace(JOINT.aggregation, weights=weights)))


def test_the_other_adjacency_is_stopped() -> None:
    table = replace(VISITS, adjacency=Adjacency.REPLACE_ONE)
    stopped(altered(JOINT, aggregation=replace(JOINT.aggregation, source=Scan(table))))


def test_a_pure_cost_with_gaussian_noise_is_stopped() -> None:
    stopped(replace(GAUSSIAN, cost=Pure(1).event))


def test_a_gaussian_cost_is_not_paid_by_laplace_noise_of_less_loss() -> None:
    stopped(replace(JOINT, cost=Concentrated("1/2").event))


def test_a_plan_is_made_from_a_question_a_declaration_and_a_loss() -> None:
    """None of the three holds data, nor do limits, so nothing that is planned can depend on it."""
    hints = get_type_hints(make_plan)
    made_from = {"question": Question, "catalog": Catalog, "terms": QuestionTerms, "limits": Limits}
    assert hints == made_from | {"return": Plan}
    for rule in RULES:
        assert list(get_type_hints(rule).values()) == [Draft, Draft]


def test_the_planner_imports_no_engine() -> None:
    planners = [name for name in sys.modules if name.startswith("jali.planner")]
    assert len(planners) > 5
    for name in planners:
        source = inspect.getsource(sys.modules[name])
        assert "jali.engines" not in source
        assert "duckdb" not in source


def test_the_plan_is_the_same_whatever_the_rows_are() -> None:
    import pyarrow as pa

    def explained(ages: list[int | None]) -> Plan:
        with jali.connect() as db:
            rows = pa.table({"age": pa.array(ages, pa.int64()), "ward": pa.array(["A"] * len(ages), pa.string())})
            columns: dict[str, jali.Range | jali.Keys] = {"age": jali.Range(0, 120), "ward": jali.Keys(["A", "B"])}
            db.protect("visits", rows, unit=None, columns=columns, budget=jali.Budget(1))
            return db.explain("SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward", epsilon=1)

    empty, full = explained([]), explained([1, None, 2**62])
    assert empty == full
    assert str(empty) == str(full)


@pytest.mark.parametrize("written", ["ward", "WARD", "w", "W", "1", "v.ward", "ward, w", "w, WARD, 1"])
def test_group_by_takes_a_column_its_alias_or_its_place_once(written: str) -> None:
    plan = planned(f"SELECT ward AS w, COUNT(*) FROM visits AS v GROUP BY {written}", epsilon=1)
    assert plan.question.group_by == (Column("ward"),)
    assert plan.aggregation.groups == 4


def test_a_column_of_the_table_wins_over_an_alias_in_group_by() -> None:
    """As in DuckDB, where `SELECT level AS ward ... GROUP BY ward` groups by the column ward."""
    with pytest.raises(jali.errors.QueryError, match="level"):
        planned("SELECT level AS ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1)


@thinned(4)
@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_every_plan_explains_itself(case: Case, catalog: Catalog) -> None:
    text = str(plan_of(case, catalog))
    assert "cost" in text
    assert str(plan_of(case, catalog).cost) in text
