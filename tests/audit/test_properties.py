"""Properties: outcomes that depend on the data, sensitivities that are too small, budgets that are overspent."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import jali
from jali.errors import CatalogError
from jali.lab.audit.neighbours import build_extremes
from jali.lab.audit.subject import Effort, Finding, Outputs, Pair, Subject, Verdict
from jali.lab.audit.subject_loader import subject_of
from jali.lab.audit.testers.properties import NANS, NUMBERS, RAISED, WARNED, Outcome, Properties, watch_runs
from jali.lab.audit.testers.sensitivity_audit import (
    NeighbourTables,
    Tables,
    audit_sensitivity,
    audit_spending,
    find_least_epsilon,
    searched_sensitivity,
)
from jali.mechanisms import Laplace
from jali.privacy import NOTHING, Adjacency, Budget, Concentrated, Event, Pure

QUICK = Effort(samples=4000, seed=1)
SURE = Effort(samples=4000, confidence=1 - Fraction(1, 10**7), seed=1)
BESIDE_NAN: Pair = ([0.5, math.nan], [0.5, 0.5])


def mean(table: list[Any], count: int, random: np.random.Generator | None) -> Outputs:
    """A noisy mean whose clamp lets NaN through."""
    assert random is not None
    return np.asarray(np.mean(np.clip(table, 0, 1)) + random.laplace(0.0, 1.0, (count, 1)))


def longer(table: list[Any], count: int, random: np.random.Generator | None) -> Outputs:
    return np.zeros((count, len(table)))


def raising(table: list[Any], count: int, random: np.random.Generator | None) -> Outputs:
    if np.isnan(table).any():
        raise ValueError("no number")
    return np.zeros((count, 1))


def sometimes(table: list[Any], count: int, random: np.random.Generator | None) -> Outputs:
    """Overflows in three runs of ten, on one table only."""
    assert random is not None
    if np.isnan(table).any() and (random.random(count) < 0.3).any():
        raise OverflowError
    return np.zeros((count, 1))


def warning(table: list[Any], count: int, random: np.random.Generator | None) -> Outputs:
    if np.isnan(table).any():
        warnings.warn("a NaN", RuntimeWarning, stacklevel=1)
    return np.zeros((count, 1))


def audited(draw: Any, pair: Pair = BESIDE_NAN, effort: Effort = QUICK) -> Finding:
    subject = Subject("mean", Pure("0.7"), Adjacency.REPLACE_ONE, (pair,), draw)
    return Properties().audit(subject, effort)


@pytest.mark.parametrize(
    ("draw", "pair", "said"),
    [
        (mean, BESIDE_NAN, "NaN"),
        (longer, ([0.5, 0.5], [0.5]), "numbers"),
        (raising, BESIDE_NAN, "raises"),
        (sometimes, BESIDE_NAN, "raises OverflowError"),
        (warning, BESIDE_NAN, "warns"),
    ],
)
def test_what_only_one_neighbour_does_is_a_witness(draw: Any, pair: Pair, said: str) -> None:
    finding = audited(draw, pair)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > 3
    assert finding.samples <= QUICK.samples
    assert said in str(finding.witness)


def test_what_both_neighbours_do_is_none() -> None:
    def failing(table: list[Any], count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        if random.random() < 0.5:
            raise ValueError
        return np.full((count, 1), math.nan)

    finding = audited(failing, effort=SURE)
    assert finding.verdict is Verdict.NOTHING_FOUND
    assert "private" not in str(finding)


def test_nothing_is_drawn_anew_where_nothing_differs() -> None:
    finding = audited(mean, ([0.5, 0.1], [0.5, 0.9]))
    assert (finding.verdict, finding.found, finding.samples) == (Verdict.NOTHING_FOUND, 0.0, 400)


def test_extreme_tables_are_tried_beside_the_subjects_own() -> None:
    def total(data: list[Any], rng: np.random.Generator) -> Any:
        return float(min(max(sum(data), 0), 10)) + rng.laplace(0.0, 10.0)

    pattern = "values:4 in 0..1"
    subject = subject_of(total, epsilon="0.7", adjacency="replace-one", data=pattern)
    assert Properties().audit(subject, QUICK).verdict is Verdict.NOTHING_FOUND
    finding = Properties(build_extremes(pattern, "replace-one")).audit(subject, QUICK)
    assert finding.verdict is Verdict.VIOLATION
    assert isinstance(finding.witness.event, Outcome)
    assert finding.witness.hits[1] == 0


def test_a_watched_run_shows_its_traits_only() -> None:
    subject, _ = watch_runs(Subject("mean", Pure(1), Adjacency.REPLACE_ONE, (BESIDE_NAN,), mean))
    random = np.random.default_rng(1)
    traits = subject.draw(BESIDE_NAN[0], 3, random)
    assert traits[:, [RAISED, WARNED, NANS, NUMBERS]].tolist() == [[0, 0, 1, 1]] * 3
    assert Outcome(NANS, 1.0, "1").contains(traits).all()
    assert not Outcome(NANS, 1.0, "1").contains(subject.draw(BESIDE_NAN[1], 3, random)).any()


def test_our_laplace_neither_fails_nor_warns_on_large_values() -> None:
    mechanism = Laplace(sensitivity=1, epsilon="0.7")

    def draw(value: int, count: int, _: Any) -> Outputs:
        return np.array([[mechanism.release(value)] for _ in range(count)], np.float64)

    pairs = ((0, 1), (2**53, 2**53 + 1), (-(2**62), -(2**62) - 1))
    subject = Subject("Laplace", mechanism.loss, Adjacency.ADD_REMOVE, pairs, draw)
    assert Properties().audit(subject, Effort(samples=600, seed=1)).found == 0


# Sensitivity.


def clamped_sum(table: list[float]) -> float:
    return math.fsum(min(max(value, 0), 5) for value in table)


@pytest.mark.parametrize(
    ("function", "tables", "norm", "exact"),
    [
        (clamped_sum, Tables(-10, 10), 1, 5.0),
        (sum, Tables(-1, 3, adjacency=Adjacency.REPLACE_ONE), 1, 4.0),
        (len, Tables(0, 1), 1, 1.0),
        # A histogram: replacing a row moves one cell down and another one up.
        (lambda t: np.bincount(t, minlength=4), Tables(0, 3, adjacency=Adjacency.REPLACE_ONE, whole=True), 1, 2.0),
        (
            lambda t: np.bincount(t, minlength=4),
            Tables(0, 3, adjacency=Adjacency.REPLACE_ONE, whole=True),
            2,
            math.sqrt(2),
        ),
        (
            lambda t: np.bincount(t, minlength=4),
            Tables(0, 3, adjacency=Adjacency.REPLACE_ONE, whole=True),
            math.inf,
            1.0,
        ),
        # The mean of at most one row, of nothing 0.
        (lambda t: sum(t) / max(1, len(t)), Tables(0, 1), 1, 1.0),
    ],
)
def test_the_search_reaches_known_sensitivities(function: Any, tables: Tables, norm: float, exact: float) -> None:
    search = searched_sensitivity(function, tables, norm, tries=300, seed=1)
    assert search.found == pytest.approx(exact)
    finding = audit_sensitivity("statistic", exact, tables.adjacency, search)
    assert finding.verdict is Verdict.NOTHING_FOUND
    assert finding.found == search.found


def test_climbing_finds_what_neither_ends_nor_chance_do() -> None:
    """A tent around 0.7: the largest change is from its tip to its foot, at 1."""

    def tent(table: list[float]) -> float:
        return max(0.0, 1 - 20 * abs(table[0] - 0.7)) if table else 0.0

    tables = Tables(0, 1, rows=1)
    assert searched_sensitivity(tent, tables, tries=0).found == 0
    assert searched_sensitivity(tent, tables, tries=3000, seed=1).found > 0.99


@pytest.mark.parametrize(
    ("function", "tables", "pairs", "declared"),
    [
        # Divides by a size that is not public, and declares what holds for a public one of 8.
        (lambda t: sum(t) / max(1, len(t)), Tables(0, 1), (), 1 / 8),
        # 2^62 + 2^62 wraps around.
        (lambda t: np.sum(np.array(t, np.int64)), Tables(0, 2**62, rows=2, whole=True), (), 2.0**62),
        # NaN passes np.clip.
        (lambda t: np.clip(t, 0, 1).sum(), None, (([0.5, math.nan], [0.5]),), 1),
        # Says how many values there are.
        (np.sort, None, (([0.5, 0.2], [0.5]),), 1),
    ],
)
def test_a_declared_sensitivity_that_is_too_small_is_refuted(
    function: Any, tables: Tables | None, pairs: tuple[Pair, ...], declared: float
) -> None:
    search = searched_sensitivity(function, tables, pairs=pairs, tries=200, seed=1)
    finding = audit_sensitivity("statistic", declared, Adjacency.ADD_REMOVE, search)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.kind == "sensitivity"
    assert finding.found > 2 * declared


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_search_looks_at_neighbours_only(adjacency: Adjacency) -> None:
    tables, random = Tables(-2, 3, rows=5, adjacency=adjacency), np.random.default_rng(5)
    pair = tables.drawn(random)
    for _ in range(300):
        pair = tables.moved(pair, random)
        one, other = pair.pair
        assert all(-2 <= value <= 3 for value in one + other)
        assert len(one) <= 5
        if adjacency is Adjacency.REPLACE_ONE:
            assert len(one) == len(other)
            assert sum(a != b for a, b in zip(one, other, strict=True)) <= 1
        else:
            assert one[: pair.place] + one[pair.place + 1 :] == other


def test_a_pair_is_its_common_rows_with_and_without_a_person() -> None:
    assert NeighbourTables((1.0, 2.0), 1, 5.0, None).pair == ([1.0, 5.0, 2.0], [1.0, 2.0])


def test_a_search_without_neighbours_or_with_another_norm_is_refused() -> None:
    with pytest.raises(CatalogError, match="neighbouring inputs"):
        searched_sensitivity(sum)
    with pytest.raises(CatalogError, match="norm"):
        searched_sensitivity(sum, Tables(0, 1), 3)
    with pytest.raises(CatalogError, match="No table has"):
        Tables(1, 0)


# Spending.


def test_the_database_stays_within_its_budget_whatever_is_asked() -> None:
    budget = Budget(epsilon=1, delta="1e-6")
    with jali.connect() as db:
        rows = pa.table({"id": [1, 2, 3], "x": [1, 2, 3]})
        db.protect("t", rows, unit="id", max_rows=1, columns={"x": jali.Range(0, 5)}, budget=budget)
        asked = (
            "SELECT COUNT(*) FROM t",
            "SELECT SUM(x) FROM t",
            "SELECT x FROM t",
            "nonsense",
            "SELECT AVG(x) FROM t",
        )
        questions = [
            lambda sql=sql, cost=cost: db.ask(sql, epsilon=cost) for cost in ("0.3", "0.07", "2") for sql in asked
        ]
        finding = audit_spending(
            "t", questions, lambda: db.ledger.accounts()[0].spent, budget, Adjacency.ADD_REMOVE
        )
    assert finding.verdict is Verdict.NOTHING_FOUND
    assert 0.5 < finding.found <= 1
    assert (finding.kind, finding.claimed) == ("spent", 1.0)


class Books:
    """A ledger that checks before it sums up, or pays back what failed."""

    def __init__(self, *, refunds: bool) -> None:
        self.spent, self.refunds = NOTHING, refunds

    def ask(self, epsilon: str, *, fails: bool = False) -> None:
        cost = Pure(epsilon).event
        self.spent += cost
        if fails:
            self.spent = NOTHING if self.refunds else self.spent
            raise ValueError


@pytest.mark.parametrize(("refunds", "said"), [(False, "question 3"), (True, "refund")])
def test_overspending_and_refunds_are_seen(refunds: bool, said: str) -> None:
    books = Books(refunds=refunds)
    questions = [lambda: books.ask("0.4"), lambda: books.ask("0.4", fails=True), lambda: books.ask("0.4")]
    finding = audit_spending("books", questions, lambda: books.spent, Budget(1), Adjacency.ADD_REMOVE)
    assert finding.verdict is Verdict.VIOLATION
    assert said in str(finding.witness)


def test_either_sum_may_be_within_the_budget() -> None:
    budget = Budget(epsilon=3, delta="1e-6")
    gaussian = Event(None, Fraction(1, 10))
    # rho + 2 sqrt(rho ln(1/delta)) is an upper bound of what is shown (Bun and Steinke 2016).
    simple = 0.1 + 2 * math.sqrt(0.1 * math.log(1e6))
    assert 0 < find_least_epsilon(gaussian, budget) <= simple
    assert find_least_epsilon(Event(Fraction(2), Fraction(9)), budget) == 2
    assert find_least_epsilon(Event(Fraction(1), Fraction(1, 2), Fraction(1, 100)), budget) == math.inf
    assert find_least_epsilon(gaussian, Budget(3)) == math.inf
    assert find_least_epsilon(NOTHING, Budget(3)) == 0
    assert find_least_epsilon(Concentrated(5).event, budget) > 3
