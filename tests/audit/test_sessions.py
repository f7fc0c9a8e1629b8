"""Questions, sessions and streams through the public interface: honest ones pass, sabotaged ones are caught."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
from tests.depth import thinned

from jali.engines.duckdb import DuckDBEngine
from jali.lab.audit.subject import Effort, Finding, Outputs, Subject, Verdict
from jali.lab.audit.subjects.question_subjects import (
    ABSENT,
    SESSIONS,
    QuestionPath,
    SessionSubject,
    ask_again,
    ask_until_refused,
)
from jali.lab.audit.subjects.stream_subjects import StreamPath
from jali.lab.audit.subjects.table_copies import (
    HIGH,
    LOW,
    MAX_ROWS,
    TABLE,
    Reservoir,
    Rows,
    TableCopies,
    Whose,
    build_crowds,
    build_everywhere,
    build_neighbours,
    make_reservoir,
)
from jali.lab.audit.testers.pairwise import Pairwise
from jali.ledger import SqliteLedger
from jali.mechanisms import OptimalKeys
from jali.privacy import Adjacency
from jali.sampling import DiscreteLaplace

# Jali's own noise has no seed: an honest subject is accused less often than once in ten million runs.
_SURE = Fraction(9_999_999, 10_000_000)
_ADDED, _REPLACED = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
_COUNT = QuestionPath("count", "COUNT(*)")
_PEOPLE_COUNT = QuestionPath("count", "COUNT(*)", Whose.PERSON)
_KEYS = QuestionPath("unknown keys", "COUNT(*)", Whose.PERSON, by=("code",), delta="0.1")
_STREAM = StreamPath("count", "every-item")


def _audited(subject: Subject, samples: int = 8000) -> Finding:
    return Pairwise().audit(subject, Effort(samples=samples, confidence=_SURE))


def _whole(name: str) -> SessionSubject:
    return next(one for one in SESSIONS if one.name == name)


# Tables and copies.


@pytest.mark.parametrize("whose", list(Whose))
def test_neighbours_differ_in_one_person(whose: Whose) -> None:
    added = [*build_neighbours(whose, _ADDED), *build_crowds(whose, _ADDED), *build_everywhere()]
    for one, other in added:
        assert {row[0] for row in one} - {row[0] for row in other} == {3}
        assert set(other) <= set(one)
    for one, other in [*build_neighbours(whose, _REPLACED), *build_crowds(whose, _REPLACED)]:
        assert [row for row in one if row[0] != 3] == [row for row in other if row[0] != 3]
        assert one != other


def test_a_person_has_more_rows_than_count() -> None:
    one, _ = build_neighbours(Whose.PERSON, _ADDED)[0]
    assert sum(row[0] == 3 for row in one) > MAX_ROWS
    one, _ = build_neighbours(Whose.ROW, _ADDED)[0]
    assert sum(row[0] == 3 for row in one) == 1
    assert {row[2] for pair in build_neighbours(Whose.ROW, _REPLACED) for rows in pair for row in rows} >= {
        LOW,
        HIGH,
    }


def test_nobody_is_in_two_copies() -> None:
    rows = build_neighbours(Whose.ROW, _ADDED)[0][0]
    with TableCopies(Whose.ROW, _ADDED, 5).open_database(rows) as database:
        path = database.tables.find(TABLE).source.location
        counted = f"SELECT person, count(DISTINCT trial), count(*) FROM '{path}' GROUP BY person"
        found = duckdb.connect().execute(counted).fetchall()
    assert len(found) == 5 * len(rows)
    assert {(copies, times) for _, copies, times in found} == {(1, 1)}


def test_a_draw_is_handed_out_once() -> None:
    given = iter(range(1000))

    def once(_: Rows) -> tuple[Outputs]:
        return (np.array([[next(given)] for _ in range(7)], np.float64),)

    reservoir = Reservoir(once)
    rows = build_neighbours(Whose.ROW, _ADDED)[0][1]
    drawn = [reservoir.draw(rows, count) for count in (1, 5, 10, 2)]
    assert [len(part) for part in drawn] == [1, 5, 10, 2]
    assert np.concatenate(drawn).ravel().tolist() == list(range(18))


def test_inputs_that_a_file_kept_as_lists_are_the_same_inputs() -> None:
    reservoir = Reservoir(lambda rows: (np.full((3, 1), float(len(rows))),))
    rows = build_neighbours(Whose.ROW, _ADDED)[0][1]
    reservoir.draw(rows, 1)
    reservoir.draw([list(row) for row in rows], 1)  # type: ignore[arg-type]
    assert len(reservoir.left) == 1


def test_neighbours_share_a_go_and_those_that_have_enough_are_left_out() -> None:
    goes = []

    def once(*inputs: Rows) -> tuple[Outputs, ...]:
        goes.append(inputs)
        return tuple(np.full((10, 1), float(len(goes) * 100 + place)) for place in range(len(inputs)))

    (one, other), (third, _) = build_neighbours(Whose.ROW, _ADDED)
    held = make_reservoir(once, [(one, other), (third, other)], 10)
    assert held.draw(other, 2).ravel().tolist() == [100, 100]
    assert held.draw(one, 8).ravel().tolist() == [101] * 8
    assert held.draw(third, 3).ravel().tolist() == [102] * 3
    assert held.draw(one, 3).ravel().tolist() == [101, 101, 200]
    assert goes == [(other, one, third), (one,)]
    held.draw(other, 6)
    held.draw(one, 12)
    assert goes[2:] == [(one, other)]


def test_copies_of_several_inputs_are_told_apart() -> None:
    one, other = _COUNT.pairs[0]
    both = _COUNT.once(one, other)
    for rows, outputs in zip((one, other), both, strict=True):
        assert abs(np.mean(outputs) - len(rows)) < 6 * math.sqrt(2 / _COUNT.copies)


# What is drawn.


def test_copies_have_the_noise_of_one_question_each() -> None:
    """Discrete Laplace noise of epsilon 1 is 0 with probability (1 - q) / (1 + q), q = 1/e; 5 sigma: 6e-7."""
    one, other = _COUNT.pairs[0]
    for rows in (one, other):
        outputs = _COUNT.once(rows)[0][:, 0]
        expected = (1 - math.exp(-1)) / (1 + math.exp(-1))
        share = np.mean(outputs == len(rows))
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / len(outputs))
        halves = outputs[::2] - len(rows), outputs[1::2] - len(rows)
        assert abs(np.corrcoef(*halves)[0, 1]) < 6 / math.sqrt(len(halves[0]))


def test_groups_that_are_not_released_are_absent() -> None:
    _, crowd = _KEYS.pairs[0]
    (outputs,) = _KEYS.once(crowd)
    assert outputs.shape == (_KEYS.copies, 3)
    # Nobody has the third key, and many have the second.
    assert (outputs[:, 2] == ABSENT).all()
    assert 0 < np.mean(outputs[:, 1] == ABSENT) < 1


def test_a_stream_says_a_number_for_each_tick_and_copy() -> None:
    rows, _ = _STREAM.pairs[0]
    (outputs,) = _STREAM.once(rows)
    assert outputs.shape == (_STREAM.copies, 5)
    # One item of each person counts; each increment has noise of variance 2 q / (1 - q)^2 < 2, and they add up.
    last = outputs[:, -1]
    assert abs(np.mean(last) - 3) < 5.5 * math.sqrt(5 * 2 / len(last))


def test_a_session_never_spends_more_than_its_grant() -> None:
    rows, _ = _whole("questions until refused").pairs[0]
    with TableCopies(Whose.PERSON, _ADDED, 1).open_database(rows) as database:
        outputs = ask_until_refused(database, 1)
        spent = [account.spent.epsilon for account in database.ledger.accounts() if "analyst" in account.name]
    assert len(outputs) == len(spent) == 10
    assert all(one is not None and one <= 1 for one in spent)
    # Who paid 0.6 for the second answer has nothing left for the third.
    assert all((row[2] == ABSENT) == (row[0] > 2) for row in outputs)


# Honest ones are not accused.


@thinned(3)
@pytest.mark.parametrize(
    "made",
    [
        _PEOPLE_COUNT,
        QuestionPath("avg", "AVG(x)"),
        _KEYS,
        replace(_COUNT, adjacency=_REPLACED, by=("ward",)),
        _STREAM,
        _whole("batch"),
        _whole("disjoint parts"),
    ],
    ids=lambda made: made.title,
)
def test_no_violation_is_found_in_what_is_honest(made: Any) -> None:
    finding = _audited(made.subject(), samples=2000)
    assert finding.verdict is Verdict.NOTHING_FOUND, str(finding)


# Sabotage.


def _halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Laplace noise of half the scale, wherever it is drawn."""
    honest = DiscreteLaplace.sample

    def half(self: DiscreteLaplace, size: int, **named: Any) -> Any:
        return honest(DiscreteLaplace(self.scale / 2), size, **named)

    monkeypatch.setattr(DiscreteLaplace, "sample", half)


def _unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows all weigh 1, however many a person has."""
    honest = DuckDBEngine.run

    def run(self: DuckDBEngine, sql: str, tables: Any) -> Any:
        return honest(self, re.sub(r"least\((\d+), \d+ // count\(\*\)\)", r"\1", sql), tables)

    monkeypatch.setattr(DuckDBEngine, "run", run)


def _peeked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are read off the data."""
    monkeypatch.setattr(OptimalKeys, "choose", lambda _, counts, **__: np.asarray(counts) > 0)


def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is drawn anew each time the same is asked."""
    monkeypatch.setattr(SqliteLedger, "recall", lambda *_, **__: None)
    honest = SqliteLedger.reserve

    def reserve(self: SqliteLedger, **named: Any) -> Any:
        return honest(self, **(named | {"key": f"{named['key']}{len(self.receipts(None))}", "resume": False}))

    monkeypatch.setattr(SqliteLedger, "reserve", reserve)


@thinned(3)
@pytest.mark.parametrize(
    ("made", "sabotage"),
    [
        (_COUNT, _halved),
        (_PEOPLE_COUNT, _unbounded),
        (_KEYS, _peeked),
        (_STREAM, _halved),
        (_whole("disjoint parts"), _halved),
        (_whole("the same question again"), _forgotten),
    ],
    ids=lambda part: getattr(part, "title", None) or part.__name__,
)
def test_sabotage_is_caught(
    made: Any, sabotage: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    finding = _audited(made.subject())
    assert finding.verdict is Verdict.VIOLATION, str(finding)
    assert finding.found > finding.claimed


def test_the_same_question_again_is_the_same_answer() -> None:
    with TableCopies(Whose.ROW, _ADDED, 3).open_database(build_neighbours(Whose.ROW, _ADDED)[0][0]) as database:
        outputs = ask_again(database, 3)
        spent = database.ledger.accounts()[0].spent
    assert (outputs == outputs[:, :1]).all()
    assert spent.epsilon == 1
