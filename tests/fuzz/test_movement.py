"""One privacy unit of one table moves the exact numbers of any accepted question by no more than declared."""

from __future__ import annotations

from collections import Counter
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.property import check_costs, check_plan
from tests.fuzz.questions import Asked, questions
from tests.fuzz.test_questions import ASKED, TIMES, depth
from tests.fuzz.world import ADJACENCIES, house

import jali

# So many (question, table, person) triples, so many of them for each table of a question.
WANTED = 2 * ASKED * TIMES
EACH = 9


def test_no_person_of_any_table_moves_an_accepted_question_further_than_declared() -> None:
    tally: Counter[str] = Counter()
    turn = count()
    with house(ADJACENCIES[0]) as one, house(ADJACENCIES[1]) as other:

        @depth(80)
        @given(asked=questions, seed=st.integers(0, 10**9))
        def moves(asked: Asked, seed: int) -> None:
            if tally["triples"] >= WANTED:
                return
            home = (one, other)[next(turn) % 2]
            terms = {name: value for name, value in asked.terms.items() if name != "analyst"}
            try:
                plan = home.db.explain(asked.sql, **terms)
            except jali.errors.QueryError:
                return
            check_costs(plan)
            try:
                tally["triples"] += check_plan(home, plan, seed, EACH)
            except AssertionError as broken:
                raise AssertionError(f"{asked!r}\n  seed {seed}: {broken}") from broken

        moves()
    assert tally["triples"] >= WANTED, tally
