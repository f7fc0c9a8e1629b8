"""Setting an attack up from its name and what was said about it, and running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from jali.attacks.attack import Attack, Progress, silent
from jali.attacks.noises import Noise
from jali.attacks.registry import attack_named
from jali.attacks.result import Result
from jali.attacks.setting import Setting
from jali.errors import CatalogError
from jali.privacy import Adjacency
from jali.privacy.rationals import Number, positive, positive_integer


@dataclass(frozen=True)
class Staged:
    """An attack with everything it needs."""

    attack: Attack[Any]
    setting: Setting
    trials: int

    def run(self, *, progress: Progress = silent) -> Result:
        """Attack one secret after the other."""
        return self.attack.repeat(self._opponents(), progress=progress)

    def _opponents(self) -> Iterator[Any]:
        for trial in range(self.trials):
            seed = None if self.setting.seed is None else self.setting.seed + trial
            yield self.attack.opponent(replace(self.setting, seed=seed))


def stage(
    name: str,
    *,
    n: int | None = None,
    noise: str | Noise | None = None,
    against: str = "simulator",
    epsilon: Number = 1,
    each: Number | None = None,
    adjacency: str | Adjacency = Adjacency.REPLACE_ONE,
    trials: int | None = None,
    seed: int | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Staged:
    """Set up an attack; what is not said is as the lab shows it.

    Args:
        name: The attack.
        n: How many people one secret has.
        noise: KIND:SIZE, for a simulator.
        against: "simulator", "jali", "unledgered", or the path of a log.
        epsilon: The budget of Jali's ledger.
        each: What one question spends of it; by default the budget is spread over the questions.
        adjacency: When two tables are neighbours.
        trials: How many secrets are attacked.
        seed: Where secrets, questions and a simulator's noise come from.
        parameters: The attack's own parameters, by name.
    """
    kind = attack_named(name)
    attack = kind(**_known(kind, dict(parameters or {}), seed))
    people = positive_integer(attack.exhibit.n if n is None else n, "n")
    setting = Setting(
        n=people,
        noise=Noise.of(attack.exhibit.noise if noise is None else noise, n=people),
        against=against,
        epsilon=positive(epsilon, "epsilon"),
        each=None if each is None else positive(each, "each"),
        adjacency=Adjacency.of(adjacency),
        seed=seed,
    )
    repeats = attack.exhibit.trials if trials is None else trials
    return Staged(attack, setting, positive_integer(repeats, "trials"))


def _known(kind: type[Attack[Any]], given: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the parameters if the attack has all of them, and the seed if it draws its questions."""
    own = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    unknown = [name for name in given if name not in own]
    if unknown:
        takes = f"It takes {', '.join(own)}." if own else "It takes no parameters of its own."
        raise CatalogError(f"{kind.name} has no parameter {unknown[0]!r}.", remedy=takes)
    return given | {"seed": seed} if "seed" in own else given
