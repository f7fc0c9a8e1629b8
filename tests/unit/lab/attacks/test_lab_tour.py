"""The tour: every attack meets every opponent it knows, and one table sums up."""

from __future__ import annotations

import json

import pytest

from jali.lab.attacks import attacks
from jali.lab.attacks import sweeps as module
from jali.lab.attacks.staging import OPPONENTS
from jali.lab.attacks.sweeps import Tour, run_tour, stops


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Tour:
    """A tour of three stops."""
    chosen = [("exponential", "simulator"), ("hadamard", "simulator"), ("singletons", "jali")]
    monkeypatch.setattr(module, "stops", lambda: iter(chosen))
    return run_tour(epsilon=1, seed=1)


def test_every_attack_meets_every_opponent_it_knows_but_the_logs_of_others() -> None:
    met = list(stops())
    assert {name for name, _ in met} == {
        name for name, kind in attacks().items() if set(kind.against) & set(OPPONENTS)
    }
    assert all(foe in attacks()[name].against for name, foe in met)
    assert not any(foe == "log" for _, foe in met)
    assert len(met) == len(set(met))


def test_a_tour_is_one_table(short: Tour) -> None:
    head, _, *rows = str(short).splitlines()
    assert head.split()[:5] == ["attack", "against", "right", "guessing", "law"]
    assert [row.split()[:2] for row in rows] == [
        ["exponential", "simulator"],
        ["hadamard", "simulator"],
        ["singletons", "jali"],
    ]
    assert "ε 1" in rows[2]
    assert "ε 1" not in rows[1]
    assert max(map(len, str(short).splitlines())) <= 80


def test_a_tour_is_plain_numbers(short: Tour) -> None:
    document = json.loads(json.dumps(short.to_dict()))
    assert [stop["opponent"] for stop in document["results"]] == ["simulator", "simulator", "jali"]
    assert document["results"][2]["epsilon_spent"] == "1"
    assert document["seconds"] == pytest.approx(sum(stop["seconds"] for stop in document["results"]))
    assert repr(short) == "Tour(3 stops)"


def test_progress_names_the_attack_and_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "stops", lambda: iter([("hadamard", "simulator")]))
    told: list[str] = []
    run_tour(seed=1, progress=told.append)
    assert told[:2] == ["hadamard against simulator", "hadamard against simulator: asking"]


def test_an_attack_that_fails_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(module, "stage", broken)
    with pytest.raises(ZeroDivisionError):
        run_tour()
