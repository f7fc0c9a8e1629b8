"""The keywords of a question: written once, shown and checked everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import jali

TERMS = ["epsilon", "rho", "delta", "max_rows", "max_groups", "min_people"]
CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM t"
ASKING = [jali.Database.ask, jali.Database.explain, jali.Session.ask, jali.Session.explain]


@pytest.mark.parametrize("function", ASKING)
def test_whoever_inspects_a_function_sees_each_term(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    assert list(parameters)[:8] == ["self", "question", *TERMS]
    for name in TERMS:
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is None


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM t", CLAUSE])
def test_a_misspelt_term_is_refused_not_left_aside(sql: str) -> None:
    with jali.connect() as db:
        session: Any = db.session("ana")
        for ask in (session.ask, session.explain):
            with pytest.raises(TypeError, match=r"min_peple.*min_people"):
                ask(sql, epsilon=1, min_peple=10)
