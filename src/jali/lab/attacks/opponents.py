"""Make the oracles of counts that an attack can be pointed at: a simulator, Jali, Jali without a ledger, or a log.

`Reconstruction` is the base class of attacks that ask such an oracle. The oracles themselves, and what they need,
are loaded when one is made.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from jali.errors import CatalogError, settle
from jali.lab.attacks.attack_base import Attack, Setting
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Oracle
from jali.privacy.rationals import positive_integer

if TYPE_CHECKING:
    from jali.lab.attacks.oracles.answer_log import AnswerLog, AnswerLogs
    from jali.lab.attacks.oracles.protected_oracles import DatabaseOracle
    from jali.lab.attacks.oracles.protected_table import Promise
    from jali.lab.attacks.oracles.simulator import Simulator
    from jali.privacy import Adjacency
    from jali.privacy.rationals import Number


# Where logs are by default.
LOG_VARIABLE = "JALI_DIFFIX"
# More are seconds to write, and to count one by one.
MOST_ROWS = 100_000


def simulator(*, n: int, noise: str | Noise = "none", prior: float = 0.5, seed: int | None = None) -> Simulator:
    """Make a secret of n random bits, and answer counts about it with noise of a chosen law, without a budget.

    Args:
        n: How many people.
        noise: KIND:SIZE; see `Noise`.
        prior: The probability of a 1.
        seed: Where secret and noise come from; new ones by default.
    """
    from jali.lab.attacks.oracles.simulator import Simulator

    people = _check_people(n)
    return Simulator.of(n=people, noise=Noise.of(noise, n=people), prior=prior, seed=seed)


def database(
    *,
    n: int,
    epsilon: Number = 1,
    delta: Number = 0,
    each: Number | None = None,
    adjacency: str | Adjacency = "replace-one",
    prior: float = 0.5,
    seed: int | None = None,
) -> DatabaseOracle:
    """Make a secret of n random bits, and protect it by Jali.

    Args:
        n: How many people; each is a row.
        epsilon: The budget of the table.
        delta: With one, questions are asked with Gaussian noise, and pay in rho.
        each: What one question spends, in epsilon or rho; by default what is left is spread over the questions.
        adjacency: When two tables are neighbours.
        prior: The probability of a 1.
        seed: Where the secret comes from; the noise has no seed.
    """
    from jali.lab.attacks.oracles.protected_table import Promise

    promise = Promise.of(epsilon=epsilon, delta=delta, each=each, adjacency=adjacency)
    return _protect_bits(n, prior, seed, promise)


def unledgered(
    *,
    n: int,
    epsilon: Number = 1,
    delta: Number = 0,
    each: Number | None = None,
    adjacency: str | Adjacency = "replace-one",
    prior: float = 0.5,
    seed: int | None = None,
) -> DatabaseOracle:
    """Make a secret of n random bits, and ask a broken Jali about it, whose ledger forgets.

    The arguments are those of `database`; every question spends the whole budget unless `each` says otherwise.
    """
    from jali.lab.attacks.oracles.protected_table import Promise

    promise = Promise.of(epsilon=epsilon, delta=delta, each=each, adjacency=adjacency, kept=False)
    return _protect_bits(n, prior, seed, promise)


def _protect_bits(n: int, prior: float, seed: int | None, promise: Promise) -> DatabaseOracle:
    from jali.lab.attacks.oracles.generated_secrets import Secret
    from jali.lab.attacks.oracles.protected_oracles import DatabaseOracle

    people = _check_people(n)
    if people > MOST_ROWS:
        raise CatalogError("attack-database-too-large", most=MOST_ROWS, people=people, name="n")
    return DatabaseOracle(Secret.draw(people, np.random.default_rng(seed), prior), promise)


def _check_people(n: object) -> int:
    """Return how many people there are, if it is a number."""
    if not isinstance(n, int | np.integer):
        raise CatalogError("attack-people-not-whole", n=settle(n), name="n")
    return positive_integer(int(n), "n")


def logs(path: str | Path | None = None) -> AnswerLogs:
    """Read what a real system answered: one file answers_X.csv beside people_X.csv, or a folder of them.

    Args:
        path: Where; by default the environment variable JALI_DIFFIX says it.
    """
    from jali.lab.attacks.oracles.answer_log import AnswerLogs

    place = path or os.environ.get(LOG_VARIABLE)
    if not place:
        raise CatalogError("attack-log-unnamed")
    if not Path(place).exists():
        raise CatalogError("attack-log-missing", log=str(place), by_variable=not path)
    return AnswerLogs.of(Path(place))


def log(path: str | Path | None = None) -> AnswerLog:
    """Read one log, an oracle that only repeats its answers; the arguments are those of `logs`."""
    found = logs(path).logs
    if len(found) > 1:
        raise CatalogError("attack-logs-several", logs=tuple(one.path.name for one in found))
    return found[0]


def make_counting_oracle(setting: Setting) -> Oracle:
    """Make the oracle of a setting, which answers counts."""
    if setting.against == "simulator":
        return simulator(n=setting.n, noise=setting.noise, seed=setting.seed)
    if setting.against in ("jali", "unledgered"):
        make = database if setting.against == "jali" else unledgered
        return make(
            n=setting.n,
            epsilon=setting.epsilon,
            delta=setting.delta,
            each=setting.each,
            adjacency=setting.adjacency,
            seed=setting.seed,
        )
    if setting.against == "log":
        return log()
    if Path(setting.against).exists():
        return log(setting.against)
    raise CatalogError("attack-target-unknown", target=setting.against)


class Reconstruction(Attack[Oracle]):
    """An attack that asks an `Oracle` for counts."""

    attacks: ClassVar[str] = "counts of people"

    def opponent(self, setting: Setting) -> Oracle:
        """Make what is attacked, with a secret of its own."""
        return make_counting_oracle(setting)
