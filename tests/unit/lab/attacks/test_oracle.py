"""An attack and an opponent that do not fit are told apart before anything is asked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab import attacks
from jali.lab.attacks.oracle import OFFERS, offers

SIMULATED = [name for name, kind in attacks.attacks().items() if "simulator" in kind.against]


def made(name: str) -> Any:
    return next(attacks.stage(name, n=4, seed=1).opponents())


@pytest.mark.parametrize("name", SIMULATED)
def test_an_opponent_offers_what_its_attack_wants_and_nothing_else(name: str) -> None:
    assert [what for what in OFFERS if offers(made(name), what)] == [attacks.attacks()[name].attacks]


@pytest.mark.parametrize("name", SIMULATED)
@pytest.mark.parametrize("other", SIMULATED)
def test_an_attack_refuses_the_opponents_of_others(name: str, other: str) -> None:
    kind = attacks.attacks()[name]
    if kind.attacks == attacks.attacks()[other].attacks:
        return
    with pytest.raises(CatalogError, match=f"^{name} attacks {kind.attacks}, not ") as caught:
        kind().run(made(other))
    assert caught.value.remedy == f'Let the lab create the opponent: stage("{name}").run().'


@pytest.mark.parametrize("thing", [None, 7, "a simulator", object()])
def test_what_is_no_opponent_is_refused(thing: Any) -> None:
    with pytest.raises(CatalogError, match="hadamard attacks counts of people, not "):
        attacks.Hadamard().run(thing)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"n": 100, "noise": 4}, "noise must be a text, not 4"),
        ({"n": "100"}, "n must be a whole number, not '100'"),
        ({"n": 1.5}, "n must be a whole number, not 1.5"),
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"n": 1 << 30}, "n must be at most 16,777,216"),
    ],
)
def test_a_simulator_says_what_it_takes(given: dict[str, Any], told: str) -> None:
    with pytest.raises(CatalogError, match=told):
        attacks.simulator(**given)


def test_a_database_has_fewer_people() -> None:
    with pytest.raises(CatalogError, match="n must be at most 100,000 for a database"):
        attacks.database(n=10**6)


def test_questions_that_would_take_minutes_are_refused_before_the_first() -> None:
    oracle = attacks.unledgered(n=512, seed=1)
    with pytest.raises(CatalogError, match=r"A database would need about 7 minutes for 8,192 questions"):
        attacks.LeastSquares(questions=8192).run(oracle)
    assert oracle.unpaid() == attacks.Spent(Fraction(0))


def test_a_ledger_that_refuses_soon_is_asked_however_many_are_planned() -> None:
    """A ledger with eight answers to give ends it after eight."""
    result = attacks.LeastSquares(questions=10**6).run(attacks.database(n=16, each="1/8", seed=1))
    assert result.questions == 8


def test_an_attack_is_a_guess_and_nothing_more() -> None:
    class LeapOfFaith(attacks.Reconstruction):
        def guess(self, oracle: attacks.Oracle, progress: attacks.Progress = attacks.silent) -> attacks.Guess:
            progress("leaping")
            return attacks.Guess(np.ones(oracle.n, np.int8), np.zeros(oracle.n), 0)

    result = LeapOfFaith().run(attacks.simulator(n=100, prior=0.9, seed=1))
    assert (result.attack, result.predicted, result.law) == ("leap-of-faith", None, "")
    assert result.fraction > 0.7


def test_progress_counts_the_questions_that_a_database_answers() -> None:
    told: list[str] = []
    attacks.Hadamard().run(attacks.database(n=4, seed=1), progress=told.append)
    assert told[:5] == ["asking", "asking 1 of 4", "asking 2 of 4", "asking 3 of 4", "asking 4 of 4"]


def test_a_large_table_can_be_asked_about_each_person() -> None:
    """Its people are too many to be named in one question."""
    result = attacks.Singletons().run(attacks.unledgered(n=20_000, each=40, seed=1))
    assert result.fraction == 1
