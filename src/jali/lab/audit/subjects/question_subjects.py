"""Questions and whole sessions as subjects, on many copies of a small table.

Every aggregate, and every way through the planner, is registered by a line at the end. A session asks several
questions through the public interface, and later ones may depend on earlier answers. Its claim is of everything
that it releases: what its budget allows, or what its ledger is charged in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np

import jali
from jali.execution.postprocess import ReleasedGroups
from jali.lab.audit.subject import Outputs, Pair, Subject
from jali.lab.audit.subjects.table_copies import (
    OTHER,
    PUBLIC,
    TABLE,
    WARDS,
    Neighbours,
    Reservoir,
    Rows,
    TableCopies,
    Whose,
    build_crowds,
    build_everywhere,
    build_neighbours,
    make_reservoir,
)
from jali.planner.terms import TermArguments
from jali.privacy import Adjacency, Approximate, Concentrated, Event, Loss, Pure
from jali.privacy.losses.charged_loss import Charged
from jali.privacy.rationals import Number, rational

# Stands for a group that was not released: below all that is.
ABSENT = -1e18


@dataclass(frozen=True)
class QuestionPath:
    """A question, on which terms it is asked, and of whom.

    Attributes:
        name: What it is about, in a word or two.
        asked: What is selected in each group, `COUNT(*)` for example.
        whose: Whose privacy counts.
        adjacency: When two tables are neighbours.
        rho: The loss in zCDP, in place of epsilon.
        epsilon: The loss.
        delta: The delta that pays for choosing groups.
        by: What it is grouped by besides the number of the copy.
        grouped: The whole GROUP BY, where it is more than a list.
        source: What it is asked of, if not of the plain table.
        terms: Further terms of the question.
        copies: How many copies of each input are asked about at once.
        unique: Whether nobody has two rows, which a key of the table keeps so.
        prepared: Whether a prepared copy of the table is read.
    """

    name: str
    asked: str
    whose: Whose = Whose.ROW
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    rho: Number | None = None
    epsilon: Number = 1
    delta: Number = 0
    by: tuple[str, ...] = ()
    grouped: str | None = None
    source: str = TABLE
    terms: tuple[tuple[str, Any], ...] = ()
    copies: int = 2000
    unique: bool = False
    prepared: bool = False

    @property
    def title(self) -> str:
        """What a report calls it."""
        return ", ".join([self.name, self.question, self.whose, self.adjacency.value, str(self.claim.event)])

    @property
    def claim(self) -> Loss:
        """What the question is asked for, and charged."""
        if self.rho is None:
            return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)
        if not self.delta:
            return Concentrated(self.rho)
        return Charged(Event(None, Fraction(self.rho), rational(self.delta, "delta")))

    @property
    def question(self) -> str:
        """The question in SQL."""
        keys = ", ".join(("trial", *self.by))
        return f"SELECT {keys}, {self.asked} FROM {self.source} GROUP BY {self.grouped or keys}"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Neighbouring tables."""
        find = build_crowds if self.delta else build_neighbours
        return find(Whose.ROW if self.unique else self.whose, self.adjacency)

    @property
    def table(self) -> TableCopies:
        """How the table is declared."""
        beside = tuple(name for name in (OTHER, PUBLIC) if name in self.source)
        return TableCopies(self.whose, self.adjacency, self.copies, self.unique, self.prepared, beside)

    def subject(self) -> Subject:
        """Return it as a subject."""
        held = make_reservoir(self.once, self.pairs, self.copies)
        batch = self.copies * len(held.inputs)
        return Subject(self.title, self.claim, self.adjacency, self.pairs, held.draw, self.title, batch=batch)

    def list_terms(self) -> TermArguments:
        """Return the terms on which it is asked."""
        loss = {"epsilon": self.epsilon} if self.rho is None else {"rho": self.rho}
        delta = {"delta": self.delta} if self.delta else {}
        return cast(TermArguments, loss | delta | dict(self.terms))

    def once(self, *inputs: Rows) -> tuple[Outputs, ...]:
        """Ask once, and return all that was released of each copy, for each input."""
        with self.table.open_database(*inputs) as database:
            answer = database.ask(self.question, **self.list_terms())
        return self.table.split(collect_release(answer, self.copies * len(inputs), self._candidates))

    @property
    def _candidates(self) -> tuple[str, ...]:
        """The keys that nobody declared and that any of the neighbours has."""
        return tuple(sorted({row[1] for pair in self.pairs for rows in pair for row in rows}))


def collect_release(answer: jali.Answer, copies: int, candidates: Sequence[str] = ()) -> Outputs:
    """Return all that left through the noise about each copy: a row for each."""
    levels = answer.release.levels
    if answer.release.selection is None:
        return np.hstack([_collect_known_groups(level, copies) for level in levels])
    return np.hstack([_collect_chosen_groups(level, copies, candidates) for level in levels])


def _collect_known_groups(level: ReleasedGroups, copies: int) -> Outputs:
    """Read groups that were known before: the copies follow one another."""
    return np.hstack([np.asarray(column, np.float64).reshape(copies, -1) for column in level.noisy])


def _collect_chosen_groups(level: ReleasedGroups, copies: int, candidates: Sequence[str]) -> Outputs:
    """Read groups that were chosen: those that were not are absent."""
    made = np.full((copies, len(candidates), max(1, len(level.noisy))), ABSENT)
    for group, (copy, *others) in enumerate(level.groups):
        place = candidates.index(others[-1]) if others else 0
        made[copy, place] = [column[group] for column in level.noisy] or [1.0]
    return made.reshape(copies, -1)


_PEOPLE = Whose.PERSON
_REPLACED = Adjacency.REPLACE_ONE
# A choice among keys or marks takes longer to draw than noise.
_SOME, _FEW, _FEWEST = 500, 200, 50

# By the name of the aggregate in `jali.ir.functions.aggregate_functions`.
AGGREGATES: tuple[QuestionPath, ...] = (
    QuestionPath("count", "COUNT(*)"),
    QuestionPath("count", "COUNT(*)", rho="0.5"),
    QuestionPath("count", "COUNT(*)", _PEOPLE),
    QuestionPath("count", "COUNT(*)", _PEOPLE, _REPLACED, by=("ward",)),
    QuestionPath("count", "COUNT(*)", Whose.ROW, _REPLACED, by=("ward",)),
    QuestionPath("count", "COUNT(x)", _PEOPLE, rho="0.5"),
    QuestionPath("count", "COUNT(DISTINCT person)", _PEOPLE),
    QuestionPath("count", "COUNT(DISTINCT x)", _PEOPLE),
    QuestionPath("sum", "SUM(x)"),
    QuestionPath("sum", "SUM(x)", Whose.ROW, _REPLACED, rho="0.5", by=("ward",)),
    QuestionPath("sum", "SUM(x - 2)", _PEOPLE),
    QuestionPath("sum", "SUM(x)", _PEOPLE, _REPLACED, by=("ward",)),
    QuestionPath("avg", "AVG(x)"),
    QuestionPath("avg", "AVG(x)", Whose.ROW, _REPLACED, by=("ward",)),
    QuestionPath("avg", "AVG(x)", _PEOPLE, rho="0.5"),
    QuestionPath("var_pop", "VAR_POP(x)"),
    QuestionPath("var_samp", "VAR_SAMP(x)", _PEOPLE),
    QuestionPath("stddev_pop", "STDDEV_POP(x)", rho="0.5"),
    QuestionPath("stddev_samp", "STDDEV_SAMP(x)", Whose.ROW, _REPLACED, by=("ward",)),
    QuestionPath("covar_pop", "COVAR_POP(y, x)"),
    QuestionPath("covar_samp", "COVAR_SAMP(y, x)", _PEOPLE),
    QuestionPath("corr", "CORR(y, x)"),
    QuestionPath("corr", "CORR(y, x)", _PEOPLE, _REPLACED, rho="0.5", by=("ward",)),
    QuestionPath("regr_slope", "REGR_SLOPE(y, x)"),
    QuestionPath("regr_intercept", "REGR_INTERCEPT(y, x)", _PEOPLE),
    QuestionPath("regr_count", "REGR_COUNT(y, x)"),
    QuestionPath("regr_avgx", "REGR_AVGX(y, x)"),
    QuestionPath("regr_avgy", "REGR_AVGY(y, x)", rho="0.5"),
    QuestionPath("regr_sxx", "REGR_SXX(y, x)"),
    QuestionPath("regr_syy", "REGR_SYY(y, x)", Whose.ROW, _REPLACED, by=("ward",)),
    QuestionPath("regr_sxy", "REGR_SXY(y, x)"),
    QuestionPath("regr_r2", "REGR_R2(y, x)"),
    QuestionPath("median", "MEDIAN(x)", copies=_FEW),
    QuestionPath("median", "MEDIAN(x)", _PEOPLE, _REPLACED, copies=_FEW),
    QuestionPath("median", "MEDIAN(x)", _PEOPLE, rho="0.5", copies=_FEW),
    QuestionPath("quantile_cont", "QUANTILE_CONT(x, [0.25, 0.75])", copies=_FEWEST),
    QuestionPath("quantile_disc", "QUANTILE_DISC(x, 0.9)", copies=_FEW),
    QuestionPath("approx_quantiles", "APPROX_QUANTILES(x, 2)", copies=_FEWEST),
    QuestionPath("min", "MIN(x)", copies=_FEW),
    QuestionPath("max", "MAX(x)", _PEOPLE, copies=_FEW),
    QuestionPath("mode", "MODE(ward)", copies=_SOME),
    QuestionPath("mode", "MODE(ward)", _PEOPLE, _REPLACED, rho="0.5", copies=_SOME),
    QuestionPath("approx_top_k", "APPROX_TOP_K(ward, 1)", copies=_SOME),
    QuestionPath("histogram", "HISTOGRAM(x)"),
    QuestionPath("histogram", "HISTOGRAM(x, [1, 3])", _PEOPLE, _REPLACED, rho="0.5", by=("ward",)),
    QuestionPath("cdf", "CDF(x, [1, 3])"),
    QuestionPath("cdf", "CDF(x)", _PEOPLE, rho="0.5"),
)

# Tables, clauses and terms, by the word for what is special about each.
QUESTIONS: tuple[QuestionPath, ...] = (
    QuestionPath("two aggregates", "COUNT(*), SUM(x)"),
    QuestionPath("noise and a choice", "COUNT(*), MODE(ward)", copies=_SOME),
    QuestionPath("FILTER", "COUNT(*) FILTER (WHERE x > 2), COUNT(*)", _PEOPLE),
    QuestionPath("WHERE", "SUM(x)", source="people WHERE y > 2"),
    QuestionPath("grouped by keys", "COUNT(*)", _PEOPLE, by=("ward",)),
    QuestionPath("grouped by numbers", "COUNT(*)", _PEOPLE, _REPLACED, by=("x",)),
    QuestionPath("grouping sets", "COUNT(*)", by=("ward",), grouped="GROUPING SETS ((trial, ward), (trial))"),
    QuestionPath(
        "grouping sets",
        "SUM(x)",
        _PEOPLE,
        rho="0.5",
        by=("ward",),
        grouped="GROUPING SETS ((trial, ward), (trial))",
    ),
    QuestionPath("one row for each person", "COUNT(*)", _PEOPLE, unique=True),
    QuestionPath("prepared copy", "SUM(x)", _PEOPLE, prepared=True),
    QuestionPath("max_rows", "COUNT(*)", _PEOPLE, terms=(("max_rows", 1),)),
    QuestionPath("max_groups", "COUNT(DISTINCT person)", _PEOPLE, by=("ward",), terms=(("max_groups", 1),)),
    QuestionPath("unknown keys", "COUNT(*)", by=("code",), delta="0.1"),
    QuestionPath("unknown keys", "COUNT(*)", _PEOPLE, by=("code",), delta="0.1", terms=(("max_groups", 1),)),
    QuestionPath(
        "unknown keys", "COUNT(DISTINCT person)", _PEOPLE, by=("code",), delta="0.1", terms=(("max_groups", 1),)
    ),
    QuestionPath("unknown keys", "SUM(x)", _PEOPLE, _REPLACED, by=("code",), delta="0.1"),
    QuestionPath("unknown keys", "COUNT(*)", _PEOPLE, rho="0.5", by=("code",), delta="0.1"),
    QuestionPath("min_people", "COUNT(*)", _PEOPLE, delta="0.1", terms=(("min_people", 2),)),
    QuestionPath("join", "COUNT(*)", _PEOPLE, source="people JOIN stays USING (trial, person)"),
    QuestionPath(
        "left join",
        "SUM(y)",
        _PEOPLE,
        source="(SELECT s.trial AS trial, s.y AS y FROM stays AS s LEFT JOIN people AS p ON s.person = p.person "
        "WHERE p.person IS NULL)",
    ),
    QuestionPath(
        "join of a public table", "COUNT(*)", _PEOPLE, by=("floor",), source="people JOIN wards USING (ward)"
    ),
    QuestionPath(
        "EXISTS", "COUNT(*)", _PEOPLE, source="people WHERE person IN (SELECT person FROM stays WHERE x = 0)"
    ),
    QuestionPath("UNION ALL", "COUNT(*)", _PEOPLE, source="(SELECT * FROM people UNION ALL SELECT * FROM stays)"),
    QuestionPath("subquery", "AVG(z)", source="(SELECT trial, x + y AS z FROM people WHERE x > 0)"),
    QuestionPath(
        "per person first",
        "SUM(n)",
        _PEOPLE,
        source="(SELECT trial, person, COUNT(*) AS n FROM people GROUP BY trial, person)",
    ),
    QuestionPath("DISTINCT", "COUNT(*)", _PEOPLE, source="(SELECT DISTINCT trial, person, ward FROM people)"),
)

PATHS: tuple[QuestionPath, ...] = (*AGGREGATES, *QUESTIONS)


Script: TypeAlias = Callable[[jali.Database, int], Outputs]

_COUNT = f"SELECT trial, COUNT(*) FROM {TABLE} GROUP BY trial"
_BY_WARD = f"SELECT trial, ward, COUNT(*) FROM {TABLE} GROUP BY trial, ward"
# What an analyst takes for a large count.
_TWO = 2
# Of sessions that are held one after the other.
_SESSIONS = 10


@dataclass(frozen=True)
class SessionSubject:
    """A session, and of whom it asks.

    Attributes:
        name: What is special about it.
        script: What is asked of a database with this many copies of the rows; a row of numbers for each session.
        claim: What the session may lose in all.
        whose: Whose privacy counts.
        adjacency: When two tables are neighbours.
        copies: How many copies of the rows there are.
        batch: How many sessions the script holds.
        pairs: Neighbouring tables.
    """

    name: str
    script: Script
    claim: Loss
    whose: Whose
    adjacency: Adjacency
    copies: int
    batch: int
    pairs: Neighbours

    @property
    def title(self) -> str:
        """What a report calls it."""
        return ", ".join([self.name, self.whose, self.adjacency.value, str(self.claim.event)])

    def subject(self) -> Subject:
        """Return it as a subject."""
        # Sessions that are held one after the other ask about the whole table, and share it with nobody.
        apart = self.batch != self.copies
        held = Reservoir(self.once) if apart else make_reservoir(self.once, self.pairs, self.copies)
        batch = self.batch * max(1, len(held.inputs))
        return Subject(self.title, self.claim, self.adjacency, self.pairs, held.draw, self.title, batch=batch)

    def once(self, *inputs: Rows) -> tuple[Outputs, ...]:
        """Hold the sessions of one go, about each input."""
        with TableCopies(self.whose, self.adjacency, self.copies).open_database(*inputs) as database:
            return tuple(np.split(self.script(database, self.copies * len(inputs)), len(inputs)))


def register_session(
    name: str,
    script: Script,
    whose: Whose = Whose.PERSON,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    *,
    copies: int = 500,
    batch: int | None = None,
    pairs: Neighbours | None = None,
) -> SessionSubject:
    """Register a session that may lose epsilon 1; by default it is held once for each copy, at the same time."""
    found = build_neighbours(whose, adjacency) if pairs is None else pairs
    return SessionSubject(
        name, script, Pure(1), whose, adjacency, copies, copies if batch is None else batch, found
    )


def ask_adaptively(database: jali.Database, copies: int) -> Outputs:
    """Ask for a count, and look where it was large at other rows than where it was small."""
    analyst = _open_session(database, "ana")
    first = _read_numbers(analyst.ask(_COUNT, epsilon="0.5"), copies)
    large = np.flatnonzero(first[:, 0] > _TWO)
    chosen = ", ".join(map(str, large)) or "-1"
    where = f"(trial IN ({chosen}) AND x > 2) OR (trial NOT IN ({chosen}) AND y > 2)"
    second = analyst.ask(f"SELECT trial, SUM(x) FROM {TABLE} WHERE {where} GROUP BY trial", epsilon="0.5")
    return np.hstack([first, _read_numbers(second, copies)])


def ask_until_refused(database: jali.Database, _: int) -> Outputs:
    """Choose the price of a question by the answer before, and ask until the budget is spent; many times."""
    held = []
    for place in range(_SESSIONS):
        # As if the data were new, and by somebody new: else answers would be recalled.
        database.refresh(TABLE)
        held.append(_spend_budget(_open_session(database, f"analyst {place}")))
    return np.array(held, np.float64)


def _spend_budget(analyst: jali.Session) -> list[float]:
    first = float(analyst.ask(f"SELECT COUNT(*) FROM {TABLE}", epsilon="0.4").rows[0][0])
    found = [first, ABSENT, ABSENT]
    with suppress(jali.BudgetExceeded):
        price = "0.6" if first > _TWO else "0.3"
        found[1] = float(analyst.ask(f"SELECT SUM(x) FROM {TABLE}", epsilon=price).rows[0][0])
        found[2] = float(analyst.ask(f"SELECT SUM(y) FROM {TABLE}", epsilon="0.3").rows[0][0])
    return found


def ask_batch(database: jali.Database, copies: int) -> Outputs:
    """Ask two questions together, whose answers are made to agree."""
    with database.batch(epsilon=1) as asked:
        asked.ask(_COUNT)
        asked.ask(_BY_WARD)
    return np.hstack([_read_numbers(answer, copies) for answer in asked.answers])


def ask_parts(database: jali.Database, copies: int) -> Outputs:
    """Ask each part of a table for the whole price, which is charged once."""
    answers = [database.ask(_COUNT, epsilon=1, part={"ward": ward}) for ward in WARDS]
    return np.hstack([collect_release(answer, copies) for answer in answers])


def ask_again(database: jali.Database, copies: int) -> Outputs:
    """Ask the same question three times, which costs as much as once."""
    answers = [database.ask(_COUNT, epsilon=1) for _ in range(3)]
    return np.hstack([collect_release(answer, copies) for answer in answers])


def _open_session(database: jali.Database, analyst: str) -> jali.Session:
    """Return the session of an analyst who may spend what is claimed."""
    database.grant(analyst, TABLE, jali.Budget(epsilon=1))
    return database.session(analyst)


def _read_numbers(answer: jali.Answer, copies: int) -> Outputs:
    """Return the numbers of an answer about each copy, after they were made to agree."""
    return np.array([float(row[-1]) for row in answer.rows], np.float64).reshape(copies, -1)


SESSIONS: tuple[SessionSubject, ...] = (
    register_session("adaptive questions", ask_adaptively, copies=200),
    register_session("adaptive questions", ask_adaptively, Whose.ROW, Adjacency.REPLACE_ONE, copies=200),
    register_session("questions until refused", ask_until_refused, copies=1, batch=_SESSIONS),
    register_session("batch", ask_batch),
    register_session("batch", ask_batch, Whose.ROW, Adjacency.REPLACE_ONE),
    register_session("disjoint parts", ask_parts, pairs=build_everywhere()),
    register_session("the same question again", ask_again, Whose.ROW),
)
