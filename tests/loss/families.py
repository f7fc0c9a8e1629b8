"""What is asked: questions of the whole grammar, some of them in batches, on parts, or as close as wanted."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fuzz.questions import question
from tests.loss.asks import Asked, Terms
from tests.loss.seen import Call, Draw, Joint, Noise, Quantile

# Expressions with known values over one row of a table, and some of these.
_PARTS: dict[str, tuple[tuple[str, tuple[Any, ...]], ...]] = {
    "visits": (("ward", ("A", "B", "é", "", None)), ("FLOOR(age / 4)", (0, 1, 2))),
    "people": (("sex", ("m", "f")), ("ward", ("A", "B"))),
    "items": (("drug", ("a", "b", "c")),),
    "readings": (("g", ("A", "B")), ("k", (0, 1, 5))),
}
_FROM = re.compile(r"FROM (visits|people|items|readings)\b")
_TOTALS: tuple[Terms, ...] = (
    {"epsilon": 1},
    {"epsilon": 8},
    {"rho": "1/2"},
    {"epsilon": 2, "delta": "1/1000000"},
    {"epsilon": "1/2", "delta": "1/100000"},
    {"rho": 2, "agree": False},
    {"epsilon": 3, "agree": False},
    {},
)
_TOLD = (
    "SELECT code, COUNT(DISTINCT uid) AS a0, SUM(cost) AS a1 FROM visits GROUP BY code",
    "SELECT n, ok, COUNT(DISTINCT uid) AS a0 FROM visits WHERE age > 0 GROUP BY n, ok",
    "SELECT born, COUNT(DISTINCT pid) AS a0, MEDIAN(income) AS a1 FROM people GROUP BY born",
    "SELECT code, COUNT(*) AS a0, AVG(x) AS a1 FROM readings GROUP BY code",
    "SELECT code, COUNT(*) AS a0, MODE(k) AS a1 FROM readings GROUP BY code HAVING COUNT(*) > 1",
    "SELECT v.code, COUNT(DISTINCT v.uid) AS a0 FROM visits v JOIN people p ON v.uid = p.pid GROUP BY v.code",
)
_LOSSES = ("epsilon", "rho")
# What is seen of a question by its text.
_WORDS = {
    "join": r" JOIN ",
    "outer join": r"(LEFT|RIGHT|FULL) JOIN",
    "semi or anti join": r"(SEMI|ANTI) JOIN",
    "cross join": r"CROSS JOIN",
    "subquery": r"FROM \(SELECT",
    "IN or EXISTS": r"(IN \(SELECT|EXISTS \()",
    "common table": r"^WITH ",
    "union": r"UNION",
    "select distinct": r"SELECT DISTINCT",
    "summary of a person": r"AS owner",
    "grouping sets": r"(ROLLUP|CUBE|GROUPING SETS)",
    "count distinct": r"COUNT\(DISTINCT",
    "quantile": r"(MEDIAN|QUANTILE|PERCENTILE|MIN\(|MAX\()",
    "mode": r"MODE\(",
    "top k": r"APPROX_TOP_K",
    "histogram": r"HISTOGRAM",
    "distribution function": r"CDF\(",
    "moments": r"(VAR_|STDDEV|COVAR|CORR|REGR_)",
    "mean": r"(AVG|MEAN)\(",
    "filter": r"FILTER \(WHERE",
    "having": r"HAVING",
}
_TERMS = ("within", "part", "min_people", "max_rows", "max_groups", "delta")


@dataclass
class Family:
    """Makes what is asked, one after the other, from one random number generator.

    Attributes:
        known: Questions that were accepted lately: what batches are made of.
    """

    chance: Random
    known: deque[tuple[str, Terms]] = field(default_factory=lambda: deque(maxlen=60))

    def next(self) -> Asked:
        """Make what is asked next."""
        kind = self.chance.random()
        if kind < 0.03:
            return self._told()
        if kind < 0.09:
            return self._within()
        if kind < 0.16:
            return self._parts()
        if kind < 0.28 and len(self.known) > 10:
            return self._batch()
        return Asked((self._question(),))

    def accepted(self, asked: Asked) -> None:
        """Remember a question that was accepted."""
        if (
            asked.batch is None
            and len(asked.questions) == 1
            and not {"part", "within"} & asked.questions[0][1].keys()
        ):
            self.known.append(asked.questions[0])

    def _question(self) -> tuple[str, Terms]:
        made = question(self.chance.randbytes(16))
        return made.sql, {name: value for name, value in made.terms.items() if name != "analyst"}

    def _told(self) -> Asked:
        """A question whose groups are told with the number of their people."""
        terms: Terms = {self.chance.choice(_LOSSES): self.chance.choice(("1/4", 1, 6)), "delta": "1/1000000"}
        if self.chance.random() < 0.5:
            terms["max_groups"] = self.chance.choice((1, 2, 4))
        return Asked(((self.chance.choice(_TOLD), terms),))

    def _within(self) -> Asked:
        """A question that is to come close; its loss is found."""
        sql, terms = self._question()
        kept = {name: value for name, value in terms.items() if name not in _LOSSES}
        kept |= {"within": self.chance.choice((2, 20, 300, 5000)), "group_rows": self.chance.choice((50, 5000))}
        return Asked(((sql, kept | {"noise": self.chance.choice(("laplace", "gaussian"))}),))

    def _parts(self) -> Asked:
        """A question on one part of the first table, or on several parts."""
        while not (found := _FROM.search((made := self._question())[0])):
            pass
        by, keys = self.chance.choice(_PARTS[found[1]])
        some = self.chance.sample(keys, self.chance.randint(1, min(3, len(keys))))
        return Asked(tuple((made[0], made[1] | {"part": {by: key}}) for key in some))

    def _batch(self) -> Asked:
        """Two to four questions that were accepted, at one total or at their own losses."""
        total = dict(self.chance.choice(_TOTALS))
        asked = self.chance.sample(list(self.known), self.chance.randint(2, 4))
        own = not {"epsilon", "rho"} & total.keys()
        kept = [(sql, {n: v for n, v in terms.items() if own or n not in _LOSSES}) for sql, terms in asked]
        return Asked(tuple(kept), total)


def families(asked: Asked, charged: Iterable[str], draws: Iterable[Draw]) -> set[str]:
    """Name what is in a question and what met noise."""
    names = {word for sql, _ in asked.questions for word, shape in _WORDS.items() if re.search(shape, sql)}
    names |= {term for _, terms in asked.questions for term in _TERMS if term in terms}
    names |= {f"table {name}" for name in charged}
    if len(asked.questions) > 1:
        names.add("several parts" if asked.batch is None else "batch")
    if asked.batch is not None:
        names.add("batch with a total" if {"epsilon", "rho"} & asked.batch.keys() else "batch of own losses")
        names |= {"batch with a delta"} if "delta" in asked.batch else set()
    for draw in draws:
        names |= {f"by {_kind(call)}" for call in draw.calls}
        if draw.choice is not None:
            names.add(
                "by coins" if draw.choice.threshold is None else f"by {draw.choice.threshold.noise} threshold"
            )
    return names


def _kind(call: Call) -> str:
    if isinstance(call, Noise):
        return f"{call.kind} noise"
    if isinstance(call, Joint):
        return "joint noise"
    return f"{call.kind} {'quantile' if isinstance(call, Quantile) else 'pick'}"
