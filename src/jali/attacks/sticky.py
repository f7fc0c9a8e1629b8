"""The attack on sticky noise: the noise that two questions share gives away whether they count the same people."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.attack import Attack, Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.attacks.laws.layer_law import LayerLaw
from jali.attacks.laws.sum_law import sum_right
from jali.attacks.noises import Noise
from jali.attacks.records import Condition, Conditions, Records, Values
from jali.attacks.setting import Setting
from jali.errors import CatalogError
from jali.privacy.rationals import positive_integer

# Of the table, in companions.
_MOST_VALUES = 500_000


@dataclass(frozen=True)
class Sticky(Attack[Records]):
    """Know k columns of a victim, which single them out, and ask k pairs of questions about the trait.

    Pair i counts the people with the trait who share all known columns but the i-th, once with the condition that
    the i-th differs from the victim's and once without: only the victim can make a difference. Sticky layers then
    differ by N(0, 2) without the trait and by N(1, 2 k + 2) with it: that the noise cancels betrays who is not
    there. Where noises are independent the differences are added up instead.

    Error:
        The likelihood ratio of k such pairs is right with a probability that noncentral chi-square laws give:
        0.921 for k = 5; see `LayerLaw`.

    Attributes:
        splits: How many columns the attacker knows, k.
    """

    splits: int = 5

    name: ClassVar[str] = "sticky"
    statement: ClassVar[str] = (
        "noise that is the same for the same condition and people cancels in pairs of questions, and that tells "
        "whether a victim is among them (Gadotti, Houssiau, Rocher, Livshits, de Montjoye 2019)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=400, noise="layers:1", few=100)
    against: ClassVar[tuple[str, ...]] = ("simulator", "jali")
    attacks: ClassVar[str] = "counts by conditions"
    noises: ClassVar[tuple[str, ...]] = ("layers",)
    most: ClassVar[int] = 20_000

    def __post_init__(self) -> None:
        positive_integer(self.splits, "splits")

    def check(self, people: int) -> None:
        """Refuse a larger table than fits: each column has companions of its own for everybody."""
        super().check(people)
        if people * self.splits**2 > _MOST_VALUES:
            raise CatalogError(
                "attack-splits-too-many",
                most=math.isqrt(_MOST_VALUES // people),
                people=people,
                splits=self.splits,
                name="splits",
            )

    def guess(self, oracle: Records, progress: Progress = silent) -> Guess:
        """Ask about one victim after the other, and guess their traits."""
        progress("asking")
        answers = oracle.ask([question for victim in oracle.known for question in self._questions(victim)])
        progress("comparing")
        pairs = len(answers) // 2
        differences = answers[0 : 2 * pairs : 2] - answers[1 : 2 * pairs : 2]
        weight = self._log_odds(oracle.noise, differences)
        total = np.bincount(np.arange(pairs) // self.splits, weight, minlength=oracle.n)
        return Guess((total > 0).astype(np.int8), np.tanh(np.abs(total) / 2), len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return how often the test is right, over the victims asked about and a coin for the others."""
        full = self._right(facts.noise, self.splits)
        if full is None:
            return None
        victims, rest = divmod(facts.questions // 2, self.splits)
        partly = self._right(facts.noise, rest) or 0.5
        share = 0.5 + (victims * (full - 0.5) + partly - 0.5) / facts.n
        if facts.noise.kind == "layers":
            return Prediction(
                share, f"likelihood ratio of {self.splits} differences, N(0, 2 s^2) or N(1, 2 (k+1) s^2)"
            )
        return Prediction(share, "Pr[the noise of 2 k answers < k / 2]")

    def opponent(self, setting: Setting) -> Records:
        """Make a table with victims in it."""
        if setting.against == "simulator":
            from jali.attacks.oracles.layers import Layers

            return Layers.of(n=setting.n, columns=self.splits, noise=setting.noise, seed=setting.seed)
        from jali.attacks.oracles.protected_records import ProtectedRecords

        return ProtectedRecords.of(setting, self.splits)

    def _questions(self, victim: Values) -> Iterator[Conditions]:
        """Return the pairs of questions about a victim, one after the other."""
        known = [Condition(column, int(value)) for column, value in enumerate(victim)]
        trait = Condition(len(known), 1)
        for split in known:
            common = (*(one for one in known if one != split), trait)
            yield common
            yield (*common, Condition(split.column, split.value, equal=False))

    def _log_odds(self, noise: Noise, differences: Doubles) -> Doubles:
        """Return how much each difference speaks for the trait; by its size where noises are independent."""
        if noise.kind == "layers":
            return LayerLaw(self.splits, noise.size).log_odds(differences)
        variance = 2 * (noise.stddev or 0.0) ** 2
        return (differences - 0.5) / variance if variance else (differences - 0.5) * np.inf

    def _right(self, noise: Noise, splits: int) -> float | None:
        if noise.kind == "layers":
            return LayerLaw(self.splits, noise.size).right(splits)
        return sum_right(noise, splits)
