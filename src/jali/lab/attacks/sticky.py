"""Attack sticky noise: what two questions share in noise gives away whether they count the same people.

`LayerLaw` is the law of the differences that sticky layers leave, with the noncentral chi-square law, which is
summed here without a library. `predict_sum` is the law where noises are independent instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Attack, Exhibit, Facts, Guess, Prediction, Progress, Setting, silent
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Condition, Conditions, RecordOracle, Values
from jali.numbers.poisson import mass
from jali.privacy.rationals import positive_integer

_NORMAL_FROM = 100_000
_CENTRAL = 1e-12


def compute_noncentral_cdf(x: float, degrees: int, noncentrality: float) -> float:
    """Return Pr[X <= x] for the sum X of squares of normal variables of variance 1.

    It is a mixture of central laws with degrees + 2 J degrees of freedom, J Poisson with half the noncentrality.
    From a noncentrality of 100,000 on it is taken for the normal law, which it is within 0.001.

    Args:
        x: Where.
        degrees: How many variables.
        noncentrality: The sum of the squares of their means.

    Example:
        >>> round(compute_noncentral_cdf(1.0, 1, 0.0), 4), round(compute_noncentral_cdf(4.0, 2, 1.0), 4)
        (0.6827, 0.731)
    """
    if x <= 0:
        return 0.0
    if noncentrality > _NORMAL_FROM:
        return NormalDist(degrees + noncentrality, math.sqrt(2 * (degrees + 2 * noncentrality))).cdf(x)
    mean = noncentrality / 2 if noncentrality > _CENTRAL else 0.0
    last = math.ceil(mean + 12 * math.sqrt(mean) + 40)
    total, central, half = 0.0, _compute_central_cdf(x / 2, degrees), degrees / 2
    for j in range(last):
        total += mass(j, mean) * central
        central -= _compute_step(x / 2, half + j)
    return min(1.0, total)


def _compute_central_cdf(x: float, degrees: int) -> float:
    """Return the regularized incomplete gamma function P(degrees / 2, x), by steps of 1 from P(1/2) or P(1)."""
    order, value = (0.5, math.erf(math.sqrt(x))) if degrees % 2 else (1.0, -math.expm1(-x))
    while order < degrees / 2:
        value -= _compute_step(x, order)
        order += 1
    return value


def _compute_step(x: float, order: float) -> float:
    """Return P(order, x) - P(order + 1, x)."""
    return math.exp(order * math.log(x) - x - math.lgamma(order + 1))


def predict_sum(noise: Noise, splits: int) -> float | None:
    """Return how often a sum of differences tells a fair bit right, if above half their number it says 1.

    The sum has the noise of 2 * splits answers. For Laplace noise on whole numbers that is the difference of two
    negative binomial variables, and its law is summed exactly.

    Example:
        >>> round(predict_sum(Noise("gaussian", 1.0), 2), 4)  # Phi(1 / 2)
        0.6915
    """
    if noise.stddev is None or noise.kind not in ("none", "gaussian", "geometric"):
        return None
    if noise.stddev == 0 or splits == 0:
        return 1.0 if splits else 0.5
    if noise.kind == "gaussian":
        return NormalDist().cdf(splits / 2 / (noise.stddev * math.sqrt(2 * splits)))
    above, at = _compute_geometric_tail(noise.size, 2 * splits, splits / 2)
    return 1 - above - at / 2


def _compute_geometric_tail(scale: float, terms: int, bound: float) -> tuple[float, float]:
    """Return Pr[S > bound] and Pr[S = bound] for the sum S of discrete Laplace variables."""
    chance = _tabulate_negative_binomial(math.exp(-1 / scale), terms)
    whole = math.floor(bound)
    beyond = np.concatenate([chance[whole:], np.zeros(whole)])
    tail = np.cumsum(beyond[::-1])[::-1] - beyond
    at = float(chance @ beyond) if whole == bound else 0.0
    return float(chance @ tail), at


def _tabulate_negative_binomial(q: float, terms: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the law of a sum of geometric variables with masses (1 - q) q^x, as far as it matters."""
    mean, spread = terms * q / (1 - q), math.sqrt(terms * q) / (1 - q)
    x = np.arange(math.ceil(mean + 40 * spread) + 40)
    steps = np.log(q * (x[1:] + terms - 1) / x[1:])
    return np.exp(terms * math.log1p(-q) + np.concatenate([[0.0], np.cumsum(steps)]))


@dataclass(frozen=True)
class LayerLaw:
    """A difference of two counts, one of which has an additional condition that excludes the victim alone.

    Each condition adds a static layer, which depends on it alone, and a dynamic layer, which depends on it and on
    who is counted; both are normal with standard deviation s. The static layers of the k common conditions cancel.
    Without the trait the victim is in neither count: the same people are counted twice, the dynamic layers cancel
    too, and what is left are the two layers of the additional condition: N(0, 2 s^2). With it, nothing else
    cancels: N(1, (2 k + 2) s^2) (Gadotti, Houssiau, Rocher, Livshits and de Montjoye 2019).

    Attributes:
        common: How many conditions both questions have.
        stddev: The standard deviation of a layer.
    """

    common: int
    stddev: float

    @property
    def without(self) -> float:
        """The variance of a difference without the trait."""
        return 2 * self.stddev**2

    @property
    def beside(self) -> float:
        """The variance of a difference with the trait."""
        return (2 * self.common + 2) * self.stddev**2

    def log_odds(self, differences: Doubles) -> Doubles:
        """Return the logarithm of the likelihood ratio of each difference, of the trait to none."""
        if self.stddev == 0:
            return np.where(differences > 0.5, math.inf, -math.inf)
        swing = differences**2 / self.without - (differences - 1) ** 2 / self.beside
        return np.asarray((swing - math.log(self.beside / self.without)) / 2)

    def right(self, splits: int) -> float:
        """Return the probability that this many independent differences tell the trait, a fair bit, right.

        Completing the square, the log-likelihood ratio exceeds 0 where the sum of (difference + c)^2 exceeds a
        threshold, with c = 1 / k: in units of either variance that sum is a noncentral chi-square variable.
        """
        if self.stddev == 0 or splits == 0:
            return 1.0 if splits else 0.5
        shift = 1 / self.common
        slope = 1 / self.without - 1 / self.beside
        level = slope * shift**2 + 1 / self.beside + math.log(self.beside / self.without)
        threshold = splits * level / slope
        none = compute_noncentral_cdf(threshold / self.without, splits, splits * shift**2 / self.without)
        some = compute_noncentral_cdf(threshold / self.beside, splits, splits * (1 + shift) ** 2 / self.beside)
        return (none + 1 - some) / 2


# Of the table, in companions.
_MOST_VALUES = 500_000


@dataclass(frozen=True)
class Sticky(Attack[RecordOracle]):
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

    def guess(self, oracle: RecordOracle, progress: Progress = silent) -> Guess:
        """Ask about one victim after the other, and guess their traits."""
        progress("asking")
        answers = oracle.ask(
            [question for victim in oracle.victim_columns for question in self._list_questions(victim)]
        )
        progress("comparing")
        pairs = len(answers) // 2
        differences = answers[0 : 2 * pairs : 2] - answers[1 : 2 * pairs : 2]
        weight = self._find_log_odds(oracle.noise, differences)
        total = np.bincount(np.arange(pairs) // self.splits, weight, minlength=oracle.n)
        return Guess((total > 0).astype(np.int8), np.tanh(np.abs(total) / 2), len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return how often the test is right, over the victims asked about and a coin for the others."""
        full = self._predict_right(facts.noise, self.splits)
        if full is None:
            return None
        victims, rest = divmod(facts.questions // 2, self.splits)
        partly = self._predict_right(facts.noise, rest) or 0.5
        share = 0.5 + (victims * (full - 0.5) + partly - 0.5) / facts.n
        if facts.noise.kind == "layers":
            return Prediction(
                share, f"likelihood ratio of {self.splits} differences, N(0, 2 s^2) or N(1, 2 (k+1) s^2)"
            )
        return Prediction(share, "Pr[the noise of 2 k answers < k / 2]")

    def opponent(self, setting: Setting) -> RecordOracle:
        """Make a table with victims in it."""
        if setting.against == "simulator":
            from jali.lab.attacks.oracles.simulator import StickyLayers

            return StickyLayers.of(n=setting.n, columns=self.splits, noise=setting.noise, seed=setting.seed)
        from jali.lab.attacks.oracles.protected_oracles import ProtectedRecords

        return ProtectedRecords.of(setting, self.splits)

    def _list_questions(self, victim: Values) -> Iterator[Conditions]:
        """Return the pairs of questions about a victim, one after the other."""
        known = [Condition(column, int(value)) for column, value in enumerate(victim)]
        trait = Condition(len(known), 1)
        for split in known:
            common = (*(one for one in known if one != split), trait)
            yield common
            yield (*common, Condition(split.column, split.value, equal=False))

    def _find_log_odds(self, noise: Noise, differences: Doubles) -> Doubles:
        """Return how much each difference speaks for the trait; by its size where noises are independent."""
        if noise.kind == "layers":
            return LayerLaw(self.splits, noise.size).log_odds(differences)
        variance = 2 * (noise.stddev or 0.0) ** 2
        return (differences - 0.5) / variance if variance else (differences - 0.5) * np.inf

    def _predict_right(self, noise: Noise, splits: int) -> float | None:
        if noise.kind == "layers":
            return LayerLaw(self.splits, noise.size).right(splits)
        return predict_sum(noise, splits)
