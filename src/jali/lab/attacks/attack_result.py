"""Record what an attack achieved beside what theory predicts, and whether the attack knows how good it is.

A prediction holds in one of three senses: the share is met within chance, it is close because sizes are small for
a limit, or it is a bound from below. Calibration compares the confidence of an attack with the share of right
bits among those it is equally sure of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from jali.lab.attacks import evidence
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.evidence import LowerBound
from jali.lab.attacks.oracle import Opponent
from jali.privacy import Adjacency

if TYPE_CHECKING:
    from jali.lab.attacks.oracle import Refusal, Spent


# The share is met within chance; it is close to that; or it is a bound from below.
Sense: TypeAlias = Literal["equal", "about", "at least"]

# From here on the shares of the lab's limits are met within a percent.
LARGE_SIZE = 64


def find_limit_sense(*sizes: int) -> Sense:
    """Return the sense of a law that holds in the limit, by the sizes that grow."""
    return "equal" if min(sizes) >= LARGE_SIZE else "about"


BINS = 10


@dataclass(frozen=True)
class CalibrationBin:
    """Bits that an attack is about equally sure of.

    Attributes:
        place: Which tenth of the confidences it is, from 0.
        stated: The sum of the probabilities of being right that the confidences amount to.
        right: How many of the bits are right.
        guessed: How many bits there are.
    """

    place: int
    stated: float
    right: int
    guessed: int

    @property
    def claim(self) -> float:
        """The probability of being right that the attack states, on average."""
        return self.stated / self.guessed

    @property
    def fraction(self) -> float:
        """The share of right bits."""
        return self.right / self.guessed

    @property
    def interval(self) -> tuple[float, float]:
        """An interval for the probability of a right guess, at 95 %."""
        return evidence.interval(self.right, self.guessed)


def mark_by_confidence(opponent: Opponent, bits: Bits, confidence: Doubles) -> tuple[CalibrationBin, ...]:
    """Mark the bits of each tenth of the confidences.

    An opponent says of a guess how many bits are right, and nothing of single bits. With the bits of a bin flipped
    that number falls by those that were right and rises by those that were wrong: it changes by size - 2 right.
    Where marks are not counts of bits there are no bins.
    """
    total = opponent.mark(bits)
    places = np.minimum((BINS * confidence).astype(np.int64), BINS - 1)
    bins = []
    for place in np.unique(places):
        inside = places == place
        size = int(np.count_nonzero(inside))
        flipped = opponent.mark(np.where(inside, 1 - bits, bits).astype(bits.dtype))
        stated = float((1 + confidence[inside]).sum() / 2)
        bins.append(CalibrationBin(int(place), stated, (total - flipped + size) // 2, size))
    return tuple(bins) if sum(one.right for one in bins) == total else ()


def add_bins(runs: Iterable[tuple[CalibrationBin, ...]]) -> tuple[CalibrationBin, ...]:
    """Add up the bins of several secrets."""
    every = sorted((one for run in runs for one in run), key=lambda one: one.place)
    grouped = [(place, list(found)) for place, found in groupby(every, key=lambda one: one.place)]
    return tuple(
        CalibrationBin(
            place, sum(b.stated for b in found), sum(b.right for b in found), sum(b.guessed for b in found)
        )
        for place, found in grouped
    )


_SEVERAL = 4


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of an attack on one secret, or on many of them.

    Attributes:
        attack: Its name.
        oracle: What was attacked.
        n: How many people one secret has.
        trials: How many secrets were attacked.
        noise: The law of the noise.
        guess: The guessed bits, of one secret after the other.
        confidence: How sure the attack was of each.
        right: How many are right.
        prior: The probability that a bit is 1.
        predicted: The share of right bits that theory says; None where it is silent.
        law: The statement behind it.
        sense: Whether the share should be met within chance ("equal"), is close, as sizes are small for a limit
            ("about"), or is a bound from below ("at least").
        adjacency: The adjacency of the oracle; None for one that promises nothing.
        questions: How many answers one guess used.
        spent: The epsilon that a secret's ledger counted for the answers used, before it was asked on to see where
            it refuses; the largest over the secrets, and None without a ledger.
        refusal: Where the ledger refused; None if it did not, or if there is none.
        delta: The delta beside the epsilon spent.
        figures: Other numbers that the attack found, on average over the secrets.
        seconds: How long it took.
        calibration: The marks of the bits, by how sure the attack was of them.
        things: What is guessed, if it is not bits.
        chance: The probability of a right guess without a release, if it is not of bits.
        notes: What the attack found in words, by a label each; of a single secret.
        unpaid: What the answers for one secret would have cost, where a ledger forgot to count.
        rights: How many are right of each secret; nothing where that is not known.
    """

    attack: str
    oracle: str
    n: int
    trials: int
    noise: str
    guess: Bits
    confidence: Doubles
    right: int
    prior: float
    predicted: float | None
    law: str
    sense: Sense
    adjacency: Adjacency | None
    questions: int
    spent: Fraction | None
    refusal: Refusal | None
    seconds: float
    delta: Fraction = Fraction(0)
    figures: Mapping[str, float] = field(default_factory=dict)
    calibration: tuple[CalibrationBin, ...] = ()
    things: str = "bits"
    chance: float | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    unpaid: Spent | None = None
    rights: tuple[int, ...] = ()

    @property
    def guessed(self) -> int:
        """How many bits were guessed."""
        return len(self.guess)

    @property
    def fraction(self) -> float:
        """The share of right bits."""
        return self.right / self.guessed

    @property
    def law_is_exact(self) -> bool:
        """Whether the predicted share should be met within chance."""
        return self.predicted is not None and self.sense == "equal"

    @property
    def baseline(self) -> float:
        """The share that anybody guesses right without a release: the likelier value, for everybody."""
        return max(self.prior, 1 - self.prior) if self.chance is None else self.chance

    @property
    def scatter_is_known(self) -> bool:
        """Whether there are enough secrets to see how their shares scatter."""
        return len(self.rights) >= _SEVERAL

    @cached_property
    def interval(self) -> tuple[float, float]:
        """An interval for the probability of a right guess, at 95 %.

        It is that of Clopper and Pearson, which takes bits as independent. Bits that were found together are not,
        quite: after linear programs, coarse rounding or few answers one secret's share scatters more, and such an
        interval holds less often. The shares of several secrets are independent, and four or more tell how they
        scatter: then the interval reaches to both ends of Student's, too. The lower bound of epsilon needs no
        independence.
        """
        low, high = evidence.interval(self.right, self.guessed)
        if not self.scatter_is_known:
            return low, high
        between = evidence.interval_of_mean([right * self.trials / self.guessed for right in self.rights])
        return min(low, between[0]), max(high, between[1])

    @cached_property
    def epsilon_lower_bound(self) -> LowerBound:
        """A loss that the oracle has, whatever it claims, at 95 %; for replace-one if it names no adjacency.

        It is an epsilon beside the delta of what was spent.
        """
        return evidence.lower_bound(
            self.right,
            self.guessed,
            self.adjacency or Adjacency.REPLACE_ONE,
            prior=self.prior,
            chance=self.chance,
            delta=float(self.delta),
        )

    @property
    def ceiling(self) -> float | None:
        """The largest probability of a right guess that the spent loss allows; None without a ledger."""
        if self.spent is None or self.adjacency is None:
            return None
        epsilon, delta = float(self.spent), float(self.delta)
        return evidence.ceiling(epsilon, self.adjacency, self.prior, chance=self.chance, delta=delta)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"{self.attack} against {self.oracle}: {self.fraction:.3f} of {self.guessed:,} {self.things} right "
            f"[{low:.3f}, {high:.3f}], {self.baseline:.3f} without a release"
        )

    def __str__(self) -> str:
        from jali.lab.attacks.attack_report import write_report

        return write_report(self)

    def _repr_html_(self) -> str:
        from jali.display.html import write_facts, write_section
        from jali.lab.attacks.attack_report import list_facts, write_title

        return write_section(write_title(self), write_facts(list_facts(self)))

    def plot(self, axes: Any = None) -> Any:
        """Draw the share of right bits against how sure the attack was, and return the axes (needs matplotlib).

        Where the guess is not of bits, only the shares are drawn.
        """
        if self.calibration:
            from jali.lab.attacks.attack_plots import attack_calibration

            return attack_calibration(self, axes=axes)
        from jali.lab.attacks.attack_plots import attack_shares

        return attack_shares(self, axes=axes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the bits as plain numbers and texts.

        `epsilon_spent` is for the answers used; where the ledger refused, `refused` counts those asked further.
        """
        bound = self.epsilon_lower_bound
        return {
            "attack": self.attack,
            "against": self.oracle,
            "n": self.n,
            "trials": self.trials,
            "noise": self.noise,
            "questions": self.questions,
            "fraction": self.fraction,
            "right": self.right,
            "guessed": self.guessed,
            "interval": list(self.interval),
            "baseline": self.baseline,
            "predicted": self.predicted,
            "law": self.law,
            "sense": self.sense,
            "law_is_exact": self.law_is_exact,
            "epsilon_lower_bound": {
                "epsilon": bound.epsilon,
                "delta": bound.delta,
                "adjacency": bound.adjacency.value,
                "confidence": bound.confidence,
            },
            "epsilon_spent": None if self.spent is None else str(self.spent),
            "delta": None if self.spent is None else str(self.delta),
            "ceiling": self.ceiling,
            "epsilon_unpaid": None if self.unpaid is None else str(self.unpaid.epsilon),
            "refused": None if self.refusal is None else asdict(self.refusal),
            "figures": dict(self.figures),
            "notes": dict(self.notes),
            "calibration": [[one.claim, one.right, one.guessed] for one in self.calibration],
            "seconds": self.seconds,
        }
