"""Plans as text: what is read back is what was written, equal plans are equal texts, nothing else is made."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.declared import TABLES
from tests.depth import thinned
from tests.golden.cases import FILES, Case, plan_of, read_cases
from tests.golden.catalog import clinic

from jali.catalog.columns import Keys, Kind, Range
from jali.catalog.tables import Catalog
from jali.catalog.value_domain import Value
from jali.errors import LedgerError
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, Ordering, Output, Question
from jali.mechanisms import Gaussian, Laplace, Root
from jali.planner import PLANS, Plan
from jali.privacy import Adjacency, Budget
from jali.sql.reader.read_select import read_sql

CASES = [case for path in FILES for case in read_cases(path)]


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    with clinic() as declared:
        yield declared.catalog


@thinned(4)
@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_a_plan_is_read_back_as_it_was_written(case: Case, catalog: Catalog) -> None:
    plan = plan_of(case, catalog)
    text = PLANS.encode(plan)
    again = PLANS.decode(text)
    assert isinstance(again, Plan)
    assert again == plan
    assert PLANS.encode(again) == text
    assert str(again) == str(plan)
    assert [p.mechanisms for p in again.parts] == [p.mechanisms for p in plan.parts]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_declaration_is_read_back_as_it_was_written(table: Any) -> None:
    assert PLANS.decode(PLANS.encode(table)) == table


@pytest.mark.parametrize("case", CASES[:10], ids=[case.title for case in CASES[:10]])
def test_the_same_question_written_differently_is_the_same_text(case: Case, catalog: Catalog) -> None:
    other = replace(case, question=case.question.replace(" FROM", "\n\n   FROM").replace("SELECT", "select  "))
    assert PLANS.encode(plan_of(other, catalog)) == PLANS.encode(plan_of(case, catalog))


def test_the_noise_of_the_first_ledgers_is_still_read_and_written_alike() -> None:
    """What version 0.1.0 stored: a ledger of then answers, redeems and finds its cached answers now."""
    integers = '"lattice":{"@":"Lattice","dimension":1,"step":null}'
    tenth, five = '{"@":"Fraction","value":"1/10"}', '{"@":"Fraction","value":"5"}'
    laplace = f'{{"@":"Laplace","epsilon":{tenth},{integers},"sensitivity":{five}}}'
    gaussian = f'{{"@":"Gaussian",{integers},"rho":{tenth},"squared_sensitivity":{five}}}'
    for text, noise in (
        (laplace, Laplace(sensitivity=5, epsilon="1/10")),
        (gaussian, Gaussian(sensitivity=Root(5), rho="1/10")),
    ):
        assert PLANS.decode(text) == noise
        assert PLANS.encode(noise) == text


def test_noise_on_a_lattice_is_not_written_as_noise_on_integers() -> None:
    with pytest.raises(LedgerError, match="integers only"):
        PLANS.encode(Laplace(sensitivity=1, epsilon=1, step="1/4", dimension=3))
    stepped = PLANS.encode(Laplace(sensitivity=1, epsilon=1)).replace('"step":null', '"step":1')
    with pytest.raises(LedgerError, match="integers only"):
        PLANS.decode(stepped)


@pytest.mark.parametrize("change", [("epsilon", "eps"), ('"@":"Laplace",', '"@":"Laplace","more":1,')])
def test_noise_with_other_parts_is_refused(change: tuple[str, str]) -> None:
    text = PLANS.encode(Laplace(sensitivity=1, epsilon=1)).replace(*change)
    with pytest.raises(LedgerError, match="Laplace lacks fields"):
        PLANS.decode(text)


def test_a_stored_value_that_lacks_a_part_is_refused() -> None:
    with pytest.raises(LedgerError, match="Range has no field high"):
        PLANS.decode('{"@":"Range","low":{"@":"Fraction","value":"1"}}')


def test_different_plans_are_different_texts(catalog: Catalog) -> None:
    assert len({PLANS.encode(plan_of(case, catalog)) for case in CASES}) == len(CASES)


values: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.fractions(),
    st.text(),
    st.dates(),
    st.datetimes(),
)
columns = st.builds(Column, st.text(min_size=1))
expressions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(columns, st.builds(Literal, values)),
    lambda inner: st.one_of(
        st.builds(Call, st.text(), st.lists(inner, max_size=3).map(tuple)),
        st.builds(Aggregate, st.sampled_from(["count", "sum"]), st.one_of(st.none(), inner), st.booleans()),
    ),
    max_leaves=8,
)
questions = st.builds(
    Question,
    st.text(),
    st.lists(st.builds(Output, st.text(), expressions), max_size=3).map(tuple),
    st.one_of(st.none(), expressions),
    st.lists(columns, max_size=2).map(tuple),
    st.one_of(st.none(), expressions),
    st.lists(st.builds(Ordering, expressions, st.booleans(), st.booleans()), max_size=2).map(tuple),
    st.one_of(st.none(), st.integers(0)),
    st.integers(0),
)


def same(one: Any, other: Any) -> bool:
    """Equality that tells 1, 1.0 and TRUE apart, as an answer would."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Column | Literal | Call | Aggregate | Output | Ordering | Question):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)
    return bool(one == other)


@settings(max_examples=40, deadline=None)
@given(questions)
def test_any_question_is_read_back_as_it_was_written(question: Question) -> None:
    again = PLANS.decode(PLANS.encode(question))
    assert same(again, question)


@given(expressions, expressions)
def test_texts_are_equal_exactly_when_nodes_are_the_same(one: Expression, other: Expression) -> None:
    assert (PLANS.encode(one) == PLANS.encode(other)) == same(one, other)


@pytest.mark.parametrize(
    "value",
    [
        2**53,
        -(2**200),
        Fraction(1, 3),
        datetime.date(2026, 1, 31),
        datetime.datetime(2026, 1, 31, 1, 2, 3, 456),  # noqa: DTZ001 - columns have no zone either
        "@",
        "\x00\ud7ff🙂\u2028",
        True,
        None,
        (),
        ((), (1, (2,))),
        Kind.REAL,
        Adjacency.REPLACE_ONE,
        Range(0, "1/3"),
        Keys(["a", None]),
        Budget(1, 1e-6, delta_events=0),
    ],
)
def test_a_value_keeps_its_type(value: Any) -> None:
    again = PLANS.decode(PLANS.encode(value))
    assert again == value
    assert type(again) is type(value)


def test_the_key_of_a_question_does_not_depend_on_its_sql(catalog: Catalog) -> None:
    plans = [plan_of(case, catalog) for case in CASES]
    for plan in plans:
        part = replace(plan.levels[0].parts[0], sql="SELECT 'the same, written otherwise'")
        level = replace(plan.levels[0], parts=(part, *plan.levels[0].parts[1:]))
        other = replace(plan, levels=(level, *plan.levels[1:]))
        assert other.meaning == plan.meaning
        assert other.encoded != plan.encoded
    assert len({plan.meaning for plan in plans}) == len(plans)


def test_texts_are_plain_json_with_sorted_keys() -> None:
    text = PLANS.encode(read_sql("SELECT COUNT(*) FROM visits WHERE age > 0.5"))
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False) == text
    assert "position" not in text


def test_reading_runs_no_constructor() -> None:
    """A plan is run as it was frozen: today's checks must not change yesterday's declaration."""
    text = PLANS.encode(Range(0, 1)).replace('"value":"1"', '"value":"-1"')
    assert PLANS.decode(text).high == -1
    noise = PLANS.encode(Laplace(sensitivity=1, epsilon=1))
    assert PLANS.decode(noise.replace('"value":"1"', '"value":"1/2"')).sensitivity == Fraction(1, 2)
