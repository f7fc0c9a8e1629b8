"""Find an attack by its name, set it up from what the user specified, and run it.

The registry holds every public class of `jali.lab.attacks` that extends `Attack`: a line in `__init__.pyi`
registers one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from inspect import isabstract
from pathlib import Path
from typing import Any

import jali.lab.attacks
from jali.errors import CatalogError
from jali.lab.attacks.attack_base import Attack, Progress, Setting, silent
from jali.lab.attacks.attack_result import Result
from jali.lab.attacks.noise_models import Noise
from jali.privacy import Adjacency
from jali.privacy.rationals import Number, positive, positive_integer, probability


@lru_cache(maxsize=1)
def attacks() -> dict[str, type[Attack[Any]]]:
    """Return the attacks by their names.

    Example:
        >>> attacks()["hadamard"].__name__
        'Hadamard'
    """
    public = [getattr(jali.lab.attacks, name) for name in dir(jali.lab.attacks)]
    kinds = [
        item for item in public if isinstance(item, type) and issubclass(item, Attack) and not isabstract(item)
    ]
    return {kind.name: kind for kind in kinds}


def find_attack(name: str) -> type[Attack[Any]]:
    """Return an attack by its name."""
    if name not in attacks():
        near = get_close_matches(str(name).lower(), attacks(), n=1)
        raise CatalogError("attack-unknown", attack=name, near=next(iter(near), None), attacks=tuple(attacks()))
    return attacks()[name]


OPPONENTS = ("simulator", "jali", "unledgered")
_PROTECTED = ("jali", "unledgered")
# About which opponents a word says anything.
_MEANINGFUL = {"n": OPPONENTS, "noise": ("simulator",), "seed": OPPONENTS} | dict.fromkeys(
    ("epsilon", "delta", "each", "adjacency"), _PROTECTED
)


@dataclass(frozen=True)
class Staged:
    """An attack with everything it needs."""

    attack: Attack[Any]
    setting: Setting
    trials: int

    def run(self, *, progress: Progress = silent) -> Result:
        """Attack one secret after the other."""
        return self.attack.repeat(self.opponents(), progress=progress)

    def opponents(self) -> Iterator[Any]:
        """Make what is attacked, one secret after the other."""
        for trial in range(self.trials):
            seed = None if self.setting.seed is None else self.setting.seed + trial
            yield self.attack.opponent(replace(self.setting, seed=seed))


def stage(
    name: str,
    *,
    n: int | None = None,
    noise: str | Noise | None = None,
    against: str | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    each: Number | None = None,
    adjacency: str | Adjacency | None = None,
    trials: int | None = None,
    seed: int | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Staged:
    """Set up an attack; what is not said is as the lab shows it. What has no meaning there is refused.

    Args:
        name: The attack.
        n: How many people one secret has.
        noise: KIND:SIZE, for a simulator.
        against: "simulator", "jali", "unledgered", or the path of a log; the first it knows by default.
        epsilon: The budget of Jali's ledger; 1 by default.
        delta: Its delta, 0 by default; with one, questions are asked with Gaussian noise.
        each: What one question spends of it; by default the budget is spread over the questions.
        adjacency: When two tables are neighbours; replace-one by default.
        trials: How many secrets are attacked; a log holds one.
        seed: Where secrets, questions and a simulator's noise come from.
        parameters: The attack's own parameters, by name.
    """
    kind = find_attack(name)
    attack = kind(**_check_parameters(kind, dict(parameters or {}), seed))
    foe = _check_target(kind, against)
    told = {"n": n, "noise": noise, "epsilon": epsilon, "delta": delta, "each": each, "adjacency": adjacency}
    _check_meaning(kind, foe, told | {"seed": seed})
    people = positive_integer(_choose_people(attack, foe) if n is None else n, "n")
    attack.check(people)
    setting = Setting(
        n=people,
        noise=Noise.of(attack.exhibit.noise if noise is None else noise, n=people),
        against=foe,
        epsilon=positive(1 if epsilon is None else epsilon, "epsilon"),
        delta=_read_delta(0 if delta is None else delta),
        each=_choose_each(attack, foe, each),
        adjacency=_read_adjacency(Adjacency.REPLACE_ONE if adjacency is None else adjacency),
        seed=seed,
    )
    return Staged(attack, setting, _check_trials(foe, attack.exhibit.trials if trials is None else trials))


def _check_meaning(kind: type[Attack[Any]], foe: str, told: Mapping[str, object]) -> None:
    """Refuse what says nothing about an opponent."""
    for name, value in told.items():
        able = _MEANINGFUL[name]
        if value is None or foe in able:
            continue
        others = [one for one in kind.against if one in able]
        where = foe if foe in OPPONENTS else "a log"
        raise CatalogError(
            "attack-option-meaningless", name=name, target=where, has_others=bool(others), others=tuple(others)
        )


def _read_delta(delta: Number) -> Fraction:
    try:
        return probability(delta, "delta")
    except CatalogError as error:
        raise CatalogError("attack-delta-wrong", problem=error.phrase) from None


def _read_adjacency(name: str | Adjacency) -> Adjacency:
    try:
        return Adjacency.of(name)
    except CatalogError as error:
        raise CatalogError("attack-adjacency-wrong", problem=error.phrase) from None


def _choose_each(attack: Attack[Any], foe: str, each: Number | None) -> Fraction | None:
    """Return what a question spends, where it is fixed."""
    shown = attack.exhibit.each if foe == "unledgered" and each is None else each
    return None if shown is None else positive(shown, "each")


def _check_trials(foe: str, trials: int) -> int:
    """Return how many secrets there are to attack."""
    wanted = positive_integer(trials, "trials")
    if wanted > 1 and foe not in OPPONENTS:
        raise CatalogError("attack-trials-of-log", trials=wanted, name="trials")
    return wanted


def _choose_people(attack: Attack[Any], foe: str) -> int:
    """Return how many people the lab shows an attack on."""
    return attack.exhibit.n if foe == "simulator" else min(attack.exhibit.n, attack.exhibit.few)


def _check_target(kind: type[Attack[Any]], against: str | None) -> str:
    """Return what an attack is pointed at, if it can be."""
    foe = kind.against[0] if against is None else against
    if foe in kind.against:
        return foe
    targets = tuple("the path of a log" if one == "log" else one for one in kind.against)
    if foe in OPPONENTS or "log" not in kind.against:
        raise CatalogError("attack-target-wrong", attack=kind.name, target=foe, targets=targets)
    if not Path(foe).exists():
        raise CatalogError("attack-log-not-found", log=foe, targets=targets)
    return foe


def _check_parameters(kind: type[Attack[Any]], given: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the parameters if the attack has all of them, and the seed if it draws its questions."""
    own = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    unknown = [name for name in given if name not in own]
    if unknown:
        raise CatalogError(
            "attack-parameter-unknown",
            attack=kind.name,
            parameter=unknown[0],
            has_parameters=bool(own),
            parameters=tuple(own),
        )
    return given | {"seed": seed} if "seed" in own else given
