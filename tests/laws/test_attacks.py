"""The laws of every attack: members join by registration in `jali.lab.attacks`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from tests.depth import thinned

from jali.lab.attacks import Noise, Oracle, Reconstruction, Refusal, Spent, Subsets, attacks, simulator
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.staging import stage
from jali.privacy import Adjacency

_PEOPLE = 16
SIMULATED = [name for name, kind in attacks().items() if "simulator" in kind.against]
COUNTING = [name for name in SIMULATED if issubclass(attacks()[name], Reconstruction)]


@dataclass
class Curtain:
    """An oracle with nothing to be seen but what `Oracle` says, which stops answering after a while."""

    behind: Oracle
    answers: int
    asked: int = 0

    @property
    def name(self) -> str:
        return "a curtain"

    @property
    def n(self) -> int:
        return self.behind.n

    @property
    def prior(self) -> float:
        return self.behind.prior

    @property
    def noise(self) -> Noise:
        return self.behind.noise

    @property
    def adjacency(self) -> Adjacency | None:
        return Adjacency.REPLACE_ONE

    def ask(self, subsets: Subsets) -> Doubles:
        left = max(0, self.answers - self.asked)
        self.asked += min(left, len(subsets))
        return self.behind.ask(subsets)[:left]

    def spent(self) -> Spent | None:
        return Spent(Fraction(1))

    def refusal(self) -> Refusal | None:
        return Refusal(self.asked, "No.")

    def mark(self, guess: Bits) -> int:
        assert guess.shape == (self.n,)
        return self.behind.mark(guess)


@pytest.mark.parametrize("name", attacks())
def test_an_attack_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    kind = attacks()[name]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert re.search(r"\b(19|20)\d\d\b", kind.statement), "the statement names its source and year"
    assert kind.__doc__
    assert set(kind.against) <= {"simulator", "jali", "unledgered", "log"}


@pytest.mark.parametrize("name", COUNTING)
def test_exact_answers_give_everything_away(name: str) -> None:
    for seed in range(3):
        result = stage(name, n=_PEOPLE, noise="none", trials=5, seed=seed).run()
        assert result.fraction == 1
        assert result.predicted is None or result.predicted == pytest.approx(1)


@pytest.mark.parametrize("name", COUNTING)
def test_an_attack_needs_no_more_than_an_oracle_offers(name: str) -> None:
    attack = stage(name, seed=4).attack
    behind = simulator(n=_PEOPLE, noise="none", seed=4)
    result = attack.run(Curtain(behind, answers=1 << 30))
    assert result.fraction == 1


@pytest.mark.parametrize("name", COUNTING)
@pytest.mark.parametrize("answers", [0, 1, 2, 7])
def test_an_attack_goes_on_with_few_answers(name: str, answers: int) -> None:
    attack = stage(name, seed=5).attack
    result = attack.run(Curtain(simulator(n=_PEOPLE, noise="uniform:1", seed=5), answers))
    assert 0 <= result.right <= _PEOPLE
    assert result.questions <= answers
    assert result.refusal == Refusal(result.refusal.after if result.refusal else 0, "No.")
    assert np.isfinite(result.confidence).all()


@thinned(4)
@pytest.mark.parametrize("name", SIMULATED)
def test_a_result_is_the_same_for_the_same_seed_and_complete(name: str) -> None:
    kind = attacks()[name]
    people = _PEOPLE if issubclass(kind, Reconstruction) else None
    first, again = (stage(name, n=people, trials=2 if people else 1, seed=11).run() for _ in range(2))
    assert (first.guess == again.guess).all()
    assert first.right == again.right
    assert len(first.confidence) == len(first.guess) == first.guessed
    assert ((first.confidence >= 0) & (first.confidence <= 1)).all()
    low, high = first.interval
    assert low <= first.fraction <= high
    assert 0 < first.baseline <= 1
    assert first.predicted is None or (0 <= first.predicted <= 1 and first.law)
    told = json.loads(json.dumps(first.to_dict()))
    for key in ("fraction", "interval", "baseline", "predicted", "epsilon_lower_bound", "questions", "seconds"):
        assert key in told


@thinned(4)
@pytest.mark.parametrize("name", SIMULATED)
def test_the_exhibit_is_as_good_as_its_law(name: str) -> None:
    """Seeded; the law is met within five standard deviations of independent bits, or exceeded if it is a bound."""
    result = stage(name, seed=7).run()
    assert result.fraction > result.baseline
    if result.predicted is None:
        return
    spread = (max(result.predicted * (1 - result.predicted), 1 / result.guessed) / result.guessed) ** 0.5
    assert result.fraction >= result.predicted - 5 * spread
    if result.law_is_exact:
        assert result.fraction <= result.predicted + 5 * spread
