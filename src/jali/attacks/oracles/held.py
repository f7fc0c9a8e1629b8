"""A table of generated people in a database of Jali's, and an analyst who asks about it and means no good."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

import jali
from jali.attacks.arrays import Doubles
from jali.attacks.attack import Progress, silent
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.people import TABLE, People
from jali.attacks.oracles.promise import Promise
from jali.attacks.oracles.unledgered import ForgetfulLedger
from jali.engines.duckdb import DuckDBEngine
from jali.errors import CatalogError
from jali.privacy import Concentrated

_ANALYST = "attacker"
# What a question takes, and what each person takes whom it names, about; and what all may take.
_SECONDS, _SECONDS_NAMED, _PATIENCE = 0.008, 8e-5, 300.0


class Held:
    """The table, declared as any curator would, with a row for each person; it is gone when nobody needs it.

    Answers are exact numbers plus exact noise. Where the promise is kept the ledger counts, and equal questions
    have one answer, which costs nothing the second time. Otherwise everything is answered, always anew.
    """

    def __init__(
        self,
        people: People,
        promise: Promise,
        *,
        questions: int = 1,
        columns: Mapping[str, jali.Range | jali.Keys] | None = None,
        rows: int | None = None,
        named: int = 0,
    ) -> None:
        """Protect people, whose columns and number may be declared, and offer a price for so many questions.

        A question names about so many people, one by one.
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
        self.price = promise.each or self._left()
        self.offer(questions)

    def _left(self) -> Fraction:
        left = self._session.remaining(TABLE)
        return left.rho if self.promise.in_rho else left.epsilon

    def offer(self, questions: int) -> None:
        """Spread what is left over so many questions, unless the price of one is fixed.

        Where nothing is left the price stays. Without a ledger everything is left, for every question.
        """
        if self.promise.each is None:
            self.price = self._left() / (max(1, questions) if self.promise.kept else 1) or self.price
        self._expected = min(questions, math.ceil(self._left() / self.price)) if self.promise.kept else questions
        _check(self._expected, self._named)

    def watch(self, progress: Progress) -> None:
        """Tell somebody how many questions are answered."""
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

        Of numbers that share one draw, each has noise told as the Laplace law of the same standard deviation.
        """
        mechanism = self._session.explain(text, **self.promise.terms(self.price)).parts[0].mechanisms[0]
        if mechanism.shared is not None:
            return Noise("laplace", mechanism.noise_law.stddev / mechanism.multiplier / math.sqrt(2))
        described = mechanism.describe()
        return Noise("gaussian" if described.norm == "L2" else "geometric", described.scale)

    def spent(self) -> Spent | None:
        """Return what the ledger counts for the table; a rho as its epsilon beside the delta of the budget."""
        if not self.promise.kept:
            return None
        loss, budget = self._database.accounts()[0].spent, self.promise.budget
        if loss.epsilon is not None:
            return Spent(loss.epsilon)
        return Spent(min(budget.epsilon, _epsilon(loss.rho, budget.delta)), budget.delta)

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost together, had the ledger counted; None if it did."""
        if self.promise.kept:
            return None
        if not self.promise.in_rho:
            return Spent(self._unpaid)
        delta = self.promise.budget.delta
        return Spent(_epsilon(self._unpaid, delta), delta)

    def refusal(self, further: Iterable[str]) -> Refusal | None:
        """Return where the ledger refused; if it has not, ask further questions to find out."""
        if self.promise.kept and self._refused is None:
            more = sum(1 for _ in self.answers(further))
            self._refused = _after(self._refused, more)
        return self._refused


def _after(refused: Refusal | None, more: int) -> Refusal | None:
    """Say of a refusal that it was met by so many further questions."""
    return None if refused is None else replace(refused, further=more)


def _epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Return a rho as its epsilon beside a delta."""
    return Fraction(Concentrated(rho).epsilon(float(delta))) if rho else Fraction(0)


def _check(questions: int, named: int) -> None:
    """Refuse questions that would take minutes, each of which names so many people."""
    seconds = questions * (_SECONDS + named * _SECONDS_NAMED)
    if seconds > _PATIENCE:
        about = f"{seconds / 60:,.0f} minutes"
        raise CatalogError("attack-too-slow", questions=questions, duration=about)


def _close(database: jali.Database, people: People) -> None:
    database.close()
    people.delete()
