"""Setting attacks up by name: what is not said is as the lab shows it, and what is wrong is named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from jali.attacks import attacks
from jali.attacks.staging import stage
from jali.errors import CatalogError
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
    setting = stage("hadamard", n=64, noise="gaussian:0.5*sqrt(n)", epsilon="0.1", each="1/30").setting
    assert (setting.noise.size, setting.epsilon, setting.each) == (4.0, Fraction(1, 10), Fraction(1, 30))


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
        ({"epsilon": -1}, "epsilon must be above 0"),
        ({"each": 0}, "each must be above 0"),
        ({"noise": "blue:1"}, "There is no noise 'blue'."),
        ({"noise": "uniform:-1"}, "noise uniform: its size must be 0 or more"),
        ({"noise": "uniform:many"}, "noise: 'uniform:many' cannot be read."),
        ({"against": "nobody"}, "hadamard cannot be pointed at 'nobody'."),
        ({"parameters": {"splits": 2}}, "hadamard has no parameter 'splits'."),
        ({"adjacency": "next-door"}, "adjacency"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], told: str) -> None:
    with pytest.raises(CatalogError, match=told.replace("(", r"\(")):
        stage(**{"name": "hadamard", **given})


def test_the_remedy_lists_what_an_attack_can_be_pointed_at() -> None:
    with pytest.raises(CatalogError) as caught:
        stage("hadamard", against="nobody")
    assert caught.value.remedy == f"Point it at {' or '.join(attacks()['hadamard'].against)}."


@pytest.mark.parametrize("name", [name for name, kind in attacks().items() if "log" in kind.against])
def test_a_log_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="There is no log at"):
        stage(name, against=str(tmp_path / "nowhere"))
