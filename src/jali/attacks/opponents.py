"""The oracles that an attack can be pointed at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.attacks.noises import Noise
from jali.attacks.setting import Setting
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.attacks.oracle import Oracle
    from jali.attacks.oracles.simulator import Simulator


def simulator(*, n: int, noise: str | Noise = "none", prior: float = 0.5, seed: int | None = None) -> Simulator:
    """Make a secret of n random bits, and answer counts about it with noise of a chosen law, without a budget.

    Args:
        n: How many people.
        noise: KIND:SIZE; see `Noise`.
        prior: The probability of a 1.
        seed: Where secret and noise come from; new ones by default.
    """
    from jali.attacks.oracles.simulator import Simulator

    return Simulator.of(n=n, noise=Noise.of(noise, n=n), prior=prior, seed=seed)


def counting(setting: Setting) -> Oracle:
    """Make the oracle of a setting, which answers counts."""
    if setting.against == "simulator":
        return simulator(n=setting.n, noise=setting.noise, seed=setting.seed)
    raise CatalogError(f"There is nothing to attack called {setting.against!r}.")
