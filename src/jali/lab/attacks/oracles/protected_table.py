"""Protect a table of generated people by Jali, and ask about it as an analyst who attacks it.

A `Promise` is what the database promises. Where it is broken, the planner, the engine and the noise are the same,
and the ledger forgets: it grants every debit and remembers none, nor any answer.
"""

from __future__ import annotations

import math
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles, Members
from jali.lab.attacks.attack_base import Progress, Setting, silent
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Refusal, Spent
from jali.ledger import Debit, QuestionHistory, Reservation, SqliteLedger
from jali.planner.terms import TermArguments
from jali.privacy import Adjacency, Budget, Concentrated
from jali.privacy.rationals import Number, positive

if TYPE_CHECKING:
    import duckdb


TABLE = "people"


class PeopleFile:
    """A file of generated people, each a row; its columns are given by name.

    It is in a folder of its own until it is deleted.
    """

    def __init__(self, columns: Mapping[str, Sequence[int] | Sequence[str]]) -> None:
        self.folder = tempfile.mkdtemp(prefix="jali-attacks-")
        self.path = Path(self.folder) / f"{TABLE}.parquet"
        rows = "SELECT " + ", ".join(f"unnest(${name}) AS {name}" for name in columns)
        # COPY takes no parameter for a path.
        quoted = str(self.path).replace("'", "''")
        _open_writer().cursor().execute(
            f"COPY ({rows}) TO '{quoted}'", {name: list(column) for name, column in columns.items()}
        )

    def delete(self) -> None:
        """Delete the file and its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@lru_cache(maxsize=1)
def _open_writer() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect()


EACH_PERSON = f"SELECT id, COUNT(*) FROM {TABLE} WHERE trait = 1 GROUP BY id ORDER BY id"


def write_count(condition: str) -> str:
    """Write the question how many people meet a condition."""
    return f"SELECT COUNT(*) FROM {TABLE} WHERE {condition}"


def write_subset_count(members: Members, *, nobody: int | None = None) -> str:
    """Write the question how many people of a subset have the trait.

    Args:
        members: Who is in the subset.
        nobody: A number that nobody has. With it, the question is another one and its answer has the same law.

    Example:
        >>> write_subset_count(np.array([True, False, True]))
        'SELECT COUNT(*) FROM people WHERE trait = 1 AND id IN (0, 2)'
    """
    numbers = [*np.flatnonzero(members).tolist(), *([] if nobody is None else [nobody])]
    listed = ", ".join(map(str, numbers or [len(members)]))
    return write_count(f"trait = 1 AND id IN ({listed})")


@dataclass(frozen=True)
class Promise:
    """What a database promises, and what the attacker makes of it.

    Attributes:
        budget: What may be spent in all. With a delta, questions are asked with Gaussian noise, in rho.
        adjacency: When two tables are neighbours.
        each: What one question spends, epsilon or rho; None spreads what is left over the questions.
        kept: Whether a ledger counts. Otherwise every question may spend the whole budget.
    """

    budget: Budget
    adjacency: Adjacency = Adjacency.REPLACE_ONE
    each: Fraction | None = None
    kept: bool = True

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number,
        delta: Number,
        each: Number | None,
        adjacency: str | Adjacency,
        kept: bool = True,
    ) -> Promise:
        """Read a promise from numbers and words; all of delta serves to add up losses."""
        budget = Budget(epsilon, delta, delta_events=0)
        return cls(budget, Adjacency.of(adjacency), None if each is None else positive(each, "each"), kept)

    @classmethod
    def under(cls, setting: Setting) -> Promise:
        """Return what the lab was asked for."""
        return cls.of(
            epsilon=setting.epsilon,
            delta=setting.delta,
            each=setting.each,
            adjacency=setting.adjacency,
            kept=setting.against != "unledgered",
        )

    def __str__(self) -> str:
        return f"Jali {'with a budget of' if self.kept else 'without its ledger, claiming'} {self.budget}"

    @property
    def in_rho(self) -> bool:
        """Whether questions are charged in rho, not in epsilon."""
        return self.budget.delta > 0

    def terms(self, price: Fraction) -> TermArguments:
        """Return the terms on which a question is asked for a price."""
        return {"rho": price} if self.in_rho else {"epsilon": price}


class ForgetfulLedger(SqliteLedger):
    """A ledger that grants every debit and remembers none, nor any answer."""

    def look_up(
        self, key: str, question: str, *, analyst: str, others: bool, grants: Sequence[Debit] = ()
    ) -> QuestionHistory:
        """Know of no answer."""
        return replace(super().look_up(key, question, analyst=analyst, others=others, grants=grants), hit=None)

    def recall(self, *_: object, **__: object) -> Reservation | None:
        """Know of no answer."""
        return None

    def reserve(self, **_: object) -> str:
        """Charge nothing."""
        return secrets.token_hex(16)

    def release(self, _: str, answer: str, *__: object) -> str:
        """Keep nothing."""
        return answer


_ANALYST = "attacker"
# What a question takes, and what each person takes whom it names, about; and what all may take.
_SECONDS, _SECONDS_NAMED, _PATIENCE = 0.008, 8e-5, 300.0


class ProtectedTable:
    """The table, declared as any curator would, with a row for each person; it is gone when nobody needs it.

    Answers are exact numbers plus exact noise. Where the promise is kept the ledger counts, and equal questions
    have one answer, which costs nothing the second time. Otherwise every question is answered with fresh noise.
    """

    def __init__(
        self,
        people: PeopleFile,
        promise: Promise,
        *,
        questions: int = 1,
        columns: Mapping[str, jali.Range | jali.Keys] | None = None,
        rows: int | None = None,
        named: int = 0,
    ) -> None:
        """Protect people, whose columns and number may be declared, and price a number of questions.

        A question names about `named` people, one by one.
        """
        self.promise = promise
        self._named = named
        self.answered = 0
        self._refused: Refusal | None = None
        self._unpaid = Fraction(0)
        self._told: Progress = silent
        self._expected = 0
        self._database = jali.connect() if promise.kept else jali.Database(ForgetfulLedger(None), DuckDBEngine())
        weakref.finalize(self, _close, self._database, people)
        self._database.protect(
            TABLE,
            people.path,
            unit=None,
            columns=columns,
            budget=promise.budget,
            adjacency=promise.adjacency,
            rows=rows,
        )
        self._database.grant(_ANALYST, TABLE, promise.budget)
        self._session = self._database.session(_ANALYST)
        self.price = promise.each or self._find_remaining()
        self.offer(questions)

    def _find_remaining(self) -> Fraction:
        left = self._session.remaining(TABLE)
        return left.rho if self.promise.in_rho else left.epsilon

    def offer(self, questions: int) -> None:
        """Spread what is left over this many questions, unless the price of one is fixed.

        Where nothing is left the price stays. Without a ledger everything is left, for every question.
        """
        if self.promise.each is None:
            self.price = self._find_remaining() / (max(1, questions) if self.promise.kept else 1) or self.price
        self._expected = (
            min(questions, math.ceil(self._find_remaining() / self.price)) if self.promise.kept else questions
        )
        _check_duration(self._expected, self._named)

    def watch(self, progress: Progress) -> None:
        """Report how many questions are answered."""
        self._told = progress

    def ask(self, text: str) -> jali.Answer | None:
        """Ask one question for the price; None if the ledger refuses it."""
        try:
            found = self._session.ask(text, **self.promise.terms(self.price))
        except jali.BudgetExceeded as error:
            self._refused = self._refused or Refusal(self.answered, str(error))
            return None
        self.answered += 1
        self._unpaid += 0 if self.promise.kept else self.price
        return found

    def answers(self, texts: Iterable[str]) -> Iterator[jali.Answer]:
        """Ask one question after the other until one is refused."""
        for place, text in enumerate(texts):
            self._told(f"asking {place + 1:,} of {max(place + 1, self._expected):,}")
            found = self.ask(text)
            if found is None:
                return
            yield found

    def counts(self, texts: Iterable[str]) -> Doubles:
        """Answer questions for one number each: all of them, or the first ones if it refuses."""
        return np.array([float(answer.rows[0][0]) for answer in self.answers(texts)], np.float64)

    def noise(self, text: str) -> Noise:
        """Return the noise that the plan of a question announces for its first number; explaining is free.

        Numbers that share one draw are described by the Laplace law of the same standard deviation.
        """
        mechanism = self._session.explain(text, **self.promise.terms(self.price)).parts[0].mechanisms[0]
        if mechanism.joint_mechanism is not None:
            return Noise("laplace", mechanism.noise_law.stddev / mechanism.multiplier / math.sqrt(2))
        described = mechanism.describe()
        return Noise("gaussian" if described.norm == "L2" else "geometric", described.scale)

    def spent(self) -> Spent | None:
        """Return what the ledger counts for the table; a rho as its epsilon beside the delta of the budget."""
        if not self.promise.kept:
            return None
        loss, budget = self._database.ledger.accounts()[0].spent, self.promise.budget
        if loss.epsilon is not None:
            return Spent(loss.epsilon)
        return Spent(min(budget.epsilon, _convert_rho(loss.rho, budget.delta)), budget.delta)

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost together, had the ledger counted; None if it did."""
        if self.promise.kept:
            return None
        if not self.promise.in_rho:
            return Spent(self._unpaid)
        delta = self.promise.budget.delta
        return Spent(_convert_rho(self._unpaid, delta), delta)

    def refusal(self, further: Iterable[str]) -> Refusal | None:
        """Return where the ledger refused; if it has not, ask further questions to find out."""
        if self.promise.kept and self._refused is None:
            more = sum(1 for _ in self.answers(further))
            self._refused = _count_further(self._refused, more)
        return self._refused


def _count_further(refused: Refusal | None, more: int) -> Refusal | None:
    """Say of a refusal that it was met by this many further questions."""
    return None if refused is None else replace(refused, further=more)


def _convert_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """Return a rho as its epsilon beside a delta."""
    return Fraction(Concentrated(rho).epsilon(float(delta))) if rho else Fraction(0)


def _check_duration(questions: int, named: int) -> None:
    """Refuse questions that would take minutes, each of which names this many people."""
    seconds = questions * (_SECONDS + named * _SECONDS_NAMED)
    if seconds > _PATIENCE:
        about = f"{seconds / 60:,.0f} minutes"
        raise CatalogError("attack-too-slow", questions=questions, duration=about)


def _close(database: jali.Database, people: PeopleFile) -> None:
    database.close()
    people.delete()
