"""A question that is built in Python is written in SQL that reads back as the same question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import jali
from jali.errors import Unsupported
from jali.ir.expressions import Aggregate, Column, NamedTable, Output, Question
from jali.sql.builder import TableQuestion
from jali.sql.printer import write_question
from jali.sql.reader.read_select import read_sql

BEGUN = TableQuestion("visits", print, print)
Build = Callable[[TableQuestion], TableQuestion]
BUILT: tuple[Build, ...] = (
    lambda t: t.agg(n=jali.count()),
    lambda t: t.where("age > 60 AND ward <> 'A''b'").group_by("ward").agg(n=jali.count(), m=jali.mean("age")),
    lambda t: (
        t.group_by("ward").agg(n="COUNT(*)").having("n > 3").order_by("n", descending=True).limit(5, offset=2)
    ),
    lambda t: t.join("patients", on="visits.patient_id = patients.id", kind="left").agg(n=jali.count()),
    lambda t: t.join("p", using=["id"], kind="semi").group_by(decade="FLOOR(age / 10)").agg(n=jali.count()),
    lambda t: t.rollup("ward", "sex").agg(n=jali.sum("cost", where="age IS NOT NULL")),
    lambda t: t.cube("a", "b").agg(n="COUNT(*)").order_by("a"),
    lambda t: t.agg(q=jali.quantile("age", 0.25, 0.5), spread="MAX(age) - MIN(age)"),
    lambda t: t.where("day >= DATE '2025-01-01' AND at < TIMESTAMP '2025-02-01 10:30:00'").agg(n=jali.count()),
    lambda t: t.where("day < DATE '2025-02-01' + INTERVAL 1 MONTH").agg(n=jali.count_people("id")),
    lambda t: t.where("-c * (d + 2) < 1e3 AND x IN (1, 2.5, 1.0) AND NOT (a OR b)").agg(n=jali.count()),
    lambda t: t.where("DATE_TRUNC('month', day) = DATE '2025-01-01' AND name LIKE 'a%'").agg(n=jali.count()),
    lambda t: t.agg(share="CASE WHEN AVG(age) > 3 THEN 1 ELSE 0 END", h="HISTOGRAM(age, [1, 2])"),
    lambda t: t.group_by(**{'odd "name"': "ward"}).agg(n=jali.count()),
)


@pytest.mark.parametrize("build", BUILT)
def test_what_is_written_is_read_as_the_same(build: Build) -> None:
    question = build(BEGUN).question
    assert read_sql(write_question(question)) == question


def test_what_cannot_be_written_is_refused_and_not_changed() -> None:
    odd = Question(NamedTable("visits"), (Output("n", Aggregate("no_such_thing", Column("age"))),))
    with pytest.raises(Unsupported, match="cannot be built in Python"):
        write_question(odd)
