"""Reading and writing golden files: titled question, facts of its plan, query for the engine.

A file is a list of cases:

    -- # What the question is about
    -- loss: epsilon 1/2
    SELECT COUNT(*) FROM visits;

    -- plan
    --   facts, one per line

    -- engine
    SELECT ...;

Everything below a question is expected text. `JALI_REGENERATE_GOLDEN=1 pytest tests/golden` writes it anew; read
the difference before you keep it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from pathlib import Path

from tests.golden.catalog import TABLES

from jali.engines.duckdb.emit import emit
from jali.mechanisms import Laplace
from jali.planner import Plan, make_plan
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.privacy import Concentrated, Loss, Pure
from jali.query.aggregation import CountPeople, CountRows, Measure, SumValues
from jali.query.estimate import Estimate, Linear
from jali.query.read_sql import read_sql

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.sql"))


@dataclass(frozen=True)
class Case:
    """One titled question, and what is expected of it."""

    title: str
    loss: str
    question: str
    plan: str
    engine: str

    def text(self) -> str:
        """Write the case as it stands in a file."""
        plan = "\n".join(f"--   {line}".rstrip() for line in self.plan.splitlines())
        return (
            f"-- # {self.title}\n-- loss: {self.loss}\n{self.question};\n\n"
            f"-- plan\n{plan}\n\n-- engine\n{self.engine};\n"
        )


def read_cases(path: Path) -> list[Case]:
    """Read all cases of a file."""
    return [_read_case(block) for block in path.read_text().split("-- # ")[1:]]


def write_cases(path: Path, cases: list[Case]) -> None:
    """Write a file, under its own introduction."""
    head = path.read_text().split("-- # ")[0]
    path.write_text(head + "\n\n".join(case.text() for case in cases))


def _read_case(block: str) -> Case:
    title, rest = block.split("\n", 1)
    loss, rest = rest.removeprefix("-- loss: ").split("\n", 1)
    question, _, rest = rest.partition(";\n")
    plan, _, engine = rest.partition("-- engine\n")
    facts = [line.removeprefix("--   ") for line in plan.strip().splitlines()[1:]]
    return Case(title, loss, question, "\n".join(facts), engine.strip().removesuffix(";"))


def plan_of(case: Case) -> Plan:
    """Plan a case's question on its table."""
    question = read_sql(case.question)
    return make_plan(question, TABLES[question.table], _loss(case.loss))


def made(case: Case) -> Case:
    """Return the case with what is really planned and emitted."""
    plan = plan_of(case)
    return Case(case.title, case.loss, case.question, facts(plan), emit(plan.aggregation))


def _loss(written: str) -> Loss:
    kind, amount = written.split()
    return Pure(amount) if kind == "epsilon" else Concentrated(amount)


def facts(plan: Plan) -> str:
    """Write what a reader who knows no Python should check, in the units of the question."""
    table, weights = plan.table, plan.aggregation.weights
    who = "each row is a person" if weights is None else f"{table.unit}, at most {weights.max_rows} rows each"
    lines = [f"unit     {who}; {table.adjacency.value}"]
    lines += [f"keys     {k.column}: {', '.join(map(str, k.values))}" for k in plan.aggregation.keys]
    lines.append(f"groups   {plan.aggregation.groups}")
    lines += [f"[{i}]      {_measure(plan, i)}" for i in range(len(plan.mechanisms))]
    for (aggregate, estimate), number in zip(plan.estimates, range(1, 99), strict=False):
        distinct = " DISTINCT" if aggregate.distinct else ""
        lines.append(f"value {number}  {aggregate.function.upper()}{distinct} = {_estimate(estimate)}")
    lines.append(f"cost     {plan.cost}")
    return "\n".join(lines)


def _measure(plan: Plan, index: int) -> str:
    measure, mechanism = plan.aggregation.measures[index], plan.mechanisms[index]
    worth = plan.aggregation.unit(measure)
    if isinstance(mechanism, Laplace):
        reach = f"L1 {_number(l1_sensitivity(plan.aggregation, measure) * worth)}"
        noise = f"Laplace, scale {_number(mechanism.scale * worth)}"
    else:
        reach = f"L2 {_root(squared_l2_sensitivity(plan.aggregation, measure) * worth**2)}"
        noise = f"Gaussian, sigma {_root(mechanism.variance * worth**2)}"
    return f"{_described(measure)}; one integer is {worth}; moves by {reach}; {noise}; {mechanism.loss.event}"


def _described(measure: Measure) -> str:
    if isinstance(measure, CountPeople):
        return "people"
    if isinstance(measure, CountRows):
        return "rows" if measure.present is None else "rows with a value"
    assert isinstance(measure, SumValues)
    centre = f", less {_number(measure.center)}" if measure.center else ""
    return f"sum of values in [{_number(measure.low)}, {_number(measure.high)}]{centre}"


def _estimate(estimate: Estimate) -> str:
    above = _linear(estimate.numerator)
    if estimate.denominator is None:
        return above
    low, high = estimate.bounds.low, estimate.bounds.high
    ends = "" if low is None or high is None else f", kept in [{_number(low)}, {_number(high)}]"
    return f"({above}) / ({_linear(estimate.denominator)}){ends}"


def _linear(form: Linear) -> str:
    parts = [f"[{index}]" if c == 1 else f"{c} x [{index}]" for index, c in form.terms]
    return " + ".join(parts + ([str(form.constant)] if form.constant else []))


def _number(value: Fraction) -> str:
    return str(value) if value.denominator < 10**7 else f"about {float(value):.10g}"


def _root(squared: Fraction) -> str:
    above, below = isqrt(squared.numerator), isqrt(squared.denominator)
    exact = above**2 == squared.numerator and below**2 == squared.denominator
    return _number(Fraction(above, below)) if exact else f"sqrt({_number(squared)})"
