"""Setting attacks up by name: what is not said is as the lab shows it, and what is wrong is named."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from jali.errors import CatalogError
from jali.lab.attacks import attacks
from jali.lab.attacks.staging import stage
from jali.privacy import Adjacency


def test_what_is_not_said_is_as_the_lab_shows_it() -> None:
    staged = stage("hadamard")
    shown = attacks()["hadamard"].exhibit
    assert (staged.setting.n, staged.trials, staged.setting.against) == (shown.n, shown.trials, "simulator")
    assert str(staged.setting.noise) == "uniform:16"  # a quarter of sqrt(4096)
    assert (staged.setting.epsilon, staged.setting.adjacency) == (Fraction(1), Adjacency.REPLACE_ONE)


def test_a_database_is_asked_about_fewer_people() -> None:
    assert stage("hadamard", against="jali").setting.n < stage("hadamard").setting.n
    assert stage("hadamard", against="jali", n=2).setting.n == 2


def test_numbers_are_exact_and_sizes_of_noise_know_n() -> None:
    assert stage("hadamard", n=64, noise="gaussian:0.5*sqrt(n)").setting.noise.size == 4.0
    setting = stage("hadamard", against="jali", n=64, epsilon="0.1", each="1/30").setting
    assert (setting.epsilon, setting.each) == (Fraction(1, 10), Fraction(1, 30))


def test_every_secret_has_a_seed_of_its_own() -> None:
    """Two secrets of 64 bits are the same with a chance of 2^-64."""
    one, other = stage("hadamard", n=64, trials=2, seed=3).opponents()
    again = next(stage("hadamard", n=64, seed=3).opponents())
    assert not (one.secret.bits == other.secret.bits).all()
    assert (one.secret.bits == again.secret.bits).all()


def test_results_of_several_secrets_are_added_up() -> None:
    result = stage("hadamard", n=64, noise="none", trials=3, seed=1).run()
    assert (result.trials, result.guessed, result.right, result.n) == (3, 192, 192, 64)


@pytest.mark.parametrize("name", list(attacks()))
def test_every_attack_can_be_set_up_against_the_first_opponent_it_knows(name: str) -> None:
    staged = stage(name)
    assert staged.setting.against == attacks()[name].against[0]
    assert staged.attack.name == name


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": "hadamrd"}, "There is no attack 'hadamrd'."),
        ({"n": 0}, "n must be"),
        ({"trials": 0}, "trials must be"),
        ({"against": "jali", "epsilon": -1}, "epsilon must be above 0"),
        ({"against": "jali", "each": 0}, "each must be above 0"),
        ({"against": "jali", "delta": 2}, "delta must be in [0, 1), not 2. Give a small number"),
        ({"n": 1 << 25}, "n must be at most 16,777,216 for hadamard, not 33,554,432."),
        ({"noise": "blue:1"}, "There is no noise 'blue'."),
        ({"noise": "uniform:-1"}, "noise uniform: its size must be 0 or more"),
        ({"noise": "uniform:many"}, "noise 'uniform:many' cannot be read."),
        ({"against": "nobody"}, "hadamard cannot be pointed at 'nobody'."),
        ({"parameters": {"splits": 2}}, "hadamard has no parameter 'splits'."),
        ({"noise": "uniform:inf"}, "noise uniform: its size must be 0 or more and finite, not inf."),
        ({"noise": "none:3"}, "noise none takes no size."),
        ({"against": "jali", "adjacency": "next-door"}, "not 'next-door'. Leave it out for replace-one."),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], told: str) -> None:
    with pytest.raises(CatalogError, match=re.escape(told)):
        stage(**{"name": "hadamard", **given})


_WORDS: dict[str, Any] = {
    "n": 4,
    "noise": "none",
    "seed": 1,
    "epsilon": 1,
    "delta": "1e-6",
    "each": 1,
    "adjacency": "add-remove",
}
_MEANT = {
    "simulator": {"n", "noise", "seed"},
    "jali": {"n", "seed", "epsilon", "delta", "each", "adjacency"},
    "unledgered": {"n", "seed", "epsilon", "delta", "each", "adjacency"},
    "log": set(),
}


@pytest.mark.parametrize("word", _WORDS)
@pytest.mark.parametrize("foe", _MEANT)
def test_what_says_nothing_about_an_opponent_is_refused(foe: str, word: str, tmp_path: Path) -> None:
    place = str(tmp_path) if foe == "log" else foe
    if word in _MEANT[foe]:
        assert stage("least-squares", against=place, **{word: _WORDS[word]}).setting.against == foe
        return
    with pytest.raises(CatalogError, match=f"^{word} has no effect against {'a log' if foe == 'log' else foe}"):
        stage("least-squares", against=place, **{word: _WORDS[word]})


def test_the_remedy_names_opponents_of_whom_it_says_something() -> None:
    with pytest.raises(CatalogError) as caught:
        stage("hadamard", epsilon=1)
    assert caught.value.remedy == "Leave it out, or point the attack at jali or unledgered."


@pytest.mark.parametrize("name", ["replay", "least-squares"])
def test_a_log_is_attacked_once(name: str, tmp_path: Path) -> None:
    assert stage(name, against=str(tmp_path), trials=1).trials == 1
    with pytest.raises(CatalogError, match="trials must be 1 against a log, not 3"):
        stage(name, against=str(tmp_path), trials=3)


@pytest.mark.parametrize("name", list(attacks()))
def test_every_attack_says_how_many_people_are_too_many(name: str) -> None:
    kind = attacks()[name]
    attack = kind()
    attack.check(kind.most)
    with pytest.raises(CatalogError, match=r"^n (must be|is too large)"):
        attack.check(2 * kind.most)


@pytest.mark.parametrize(
    ("name", "people", "parameters"),
    [
        ("averaging", 1000, {"repeats": 10**5}),
        ("least-squares", 10**4, {"questions": 10**7}),
        ("linear-program", 100, {"questions": 10**6}),
        ("slab", 100, {"questions": 10**7}),
        ("sticky", 100, {"splits": 100}),
        ("tracing", 100, {"attributes": 10**7}),
    ],
)
def test_too_many_questions_are_refused_before_they_are_drawn(
    name: str, people: int, parameters: dict[str, int]
) -> None:
    with pytest.raises(CatalogError):
        stage(name, n=people, parameters=parameters)
    stage(name, n=people)


def test_few_members_leave_room_for_more_people() -> None:
    many = 10**6
    assert stage("least-squares", n=many, parameters={"members": 10}).setting.n == many
    with pytest.raises(CatalogError, match="n is too large for least-squares"):
        stage("least-squares", n=many)


def test_without_a_ledger_the_lab_shows_questions_that_do_harm() -> None:
    assert stage("singletons", against="unledgered").setting.each == 8
    assert stage("singletons", against="unledgered", each=1).setting.each == 1
    assert stage("singletons", against="jali").setting.each is None


def test_a_name_that_is_nearly_one_is_recognised() -> None:
    with pytest.raises(CatalogError) as caught:
        stage("hadamrd")
    assert str(caught.value.remedy).startswith("Did you mean hadamard? There are averaging")
    with pytest.raises(CatalogError) as caught:
        stage("zzz")
    assert str(caught.value.remedy).startswith("There are averaging")


def test_the_remedy_lists_what_an_attack_can_be_pointed_at() -> None:
    with pytest.raises(CatalogError) as caught:
        stage("hadamard", against="nobody")
    assert caught.value.remedy == f"Point it at {' or '.join(attacks()['hadamard'].against)}."


@pytest.mark.parametrize("name", [name for name, kind in attacks().items() if "log" in kind.against])
def test_a_log_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="There is no log at"):
        stage(name, against=str(tmp_path / "nowhere"))
