"""Random questions are answered, or refused with a remedy and without a charge; nothing else ever happens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.fuzz import expressions
from tests.fuzz.questions import AGGREGATES, Asked, questions
from tests.fuzz.world import ADJACENCIES, House, house, random_world

import jali
from jali.ir.expressions import Aggregate, Call, walk
from jali.ir.functions import FUNCTIONS, aggregate_functions
from jali.ir.functions.date_functions import PARTS
from jali.sql.reader.read_select import read_value

WORLDS = [random_world(seed) for seed in range(20)]


# Ten thousand questions and twenty thousand neighbours from depth 10 on.
TIMES = 1 if DEPTH == 1 else min(4 * DEPTH, 40)
ASKED = 120 if DEPTH == 1 else 250


def depth(examples: int) -> settings:
    """So many examples, the same in every run. Nothing is shrunk: the first example tells enough."""
    return settings(
        max_examples=examples * TIMES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def outcome(home: House, asked: Asked) -> str:
    """Ask, and make sure that a refusal helps and costs nothing."""
    before = home.spent()
    try:
        answer = home.db.ask(asked.sql, **asked.terms)
    except (jali.errors.QueryError, jali.BudgetExceeded) as refusal:
        remedy = refusal.remedy
    else:
        assert len(answer.interval()) == len(answer.rows), asked
        return "cached" if answer.cached else "answered"
    assert remedy, asked
    assert home.spent() == before, asked
    return "refused"


def test_every_question_is_answered_or_refused_with_a_remedy_and_no_charge() -> None:
    tally: Counter[str] = Counter()
    turn = count()
    with house(ADJACENCIES[0]) as one, house(ADJACENCIES[1]) as other:

        @depth(ASKED)
        @given(asked=questions)
        def asks(asked: Asked) -> None:
            number = next(turn)
            home = (one, other)[number % 2]
            home.renew(WORLDS[number // 2 % len(WORLDS)])
            tally[outcome(home, asked)] += 1

        asks()
        assert len(one.db.receipts()) + len(other.db.receipts()) == tally["answered"]
    assert tally.total() >= ASKED * TIMES
    # Grammars that are refused most of the time would look at nothing but the parser.
    assert tally["answered"] >= 0.5 * tally.total(), tally


_PIECES = (
    "",
    "(",
    ")",
    "'",
    '"',
    ",",
    ";",
    "*",
    "--",
    "/*",
    "NULL",
    " AND ",
    "SELECT",
    "FROM",
    " é",
    "\x00",
    "1e999",
    "$1",
    "::",
)
mutations = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 6), st.sampled_from(_PIECES)), min_size=1, max_size=3
)


def mutated(sql: str, changes: list[tuple[int, int, str]]) -> str:
    """Replace some characters here and there."""
    for place, length, piece in changes:
        start = place % len(sql)
        sql = sql[:start] + piece + sql[start + length :]
    return sql


def test_broken_questions_are_refused_as_questions() -> None:
    """Not one of them reaches the engine as an error, or escapes as an exception of the parser."""
    tally: Counter[str] = Counter()
    with house(ADJACENCIES[0]) as home:

        @depth(100)
        @given(asked=questions, changes=mutations)
        def asks(asked: Asked, changes: list[tuple[int, int, str]]) -> None:
            text = mutated(asked.sql, changes)
            try:
                home.db.explain(text, epsilon=1, delta="1/1000000")
            except jali.errors.QueryError as refusal:
                remedy = refusal.remedy
            else:
                return
            assert remedy, text
            tally["refused"] += 1

        asks()
        assert not home.db.receipts()
    assert tally["refused"] > 25 * TIMES


def _written(shapes: Iterable[str]) -> Iterator[Call | Aggregate]:
    """Read each shape with a column in every place, and each part of a date in its own."""
    for shape in shapes:
        for part in PARTS if "{p}" in shape else ("",):
            text = re.sub(r"\{\w\}", "x", shape.replace("{p}", f"'{part}'"))
            yield from (node for node in walk(read_value(text)) if isinstance(node, Call | Aggregate))


def test_the_grammar_writes_every_function_and_every_aggregate() -> None:
    scalars = _written(shape for shapes in expressions.SHAPES.values() for shape in shapes)
    assert {node.function for node in scalars} >= set(FUNCTIONS)
    found = {node.function for node in _written(AGGREGATES) if isinstance(node, Aggregate)}
    assert found == set(aggregate_functions.AGGREGATES)
