"""Randomized response: Warner's for yes/no questions, its two-coin form, and k-ary randomized response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.errors import CatalogError, MechanismError
from jali.local.frequency_estimates import Chances
from jali.local.randomizer import Categorical, Randomizer, Reports, draw_with_odds, whole_column
from jali.mechanisms.base import LogMasses, Specimen, read_parameter
from jali.privacy.losses.randomized_response_loss import RandomizedResponseLoss
from jali.privacy.rationals import Number, rational
from jali.sampling import BitSource, bernoulli
from jali.sampling.uniform import uniform_below

_HALF = Fraction(1, 2)


@dataclass(frozen=True, repr=False)
class Warner(Randomizer):
    """Answer a yes/no question with the truth or its opposite, by a biased coin (Warner 1965).

    Args:
        truth: The probability of the true answer: any rational in (0, 1) but 1/2.
        epsilon: Instead of it, the loss; the truth is then reported with probability e^epsilon / (1 + e^epsilon).

    Guarantee:
        ln(truth / (1-truth))-DP for one person's answer, in the local model (replace-one), with equality; for a
        truth below 1/2, ln((1-truth) / truth). The coin has exactly the stated probability.
    Proof:
        docs/proofs/randomized_response.md, after Warner 1965.

    Error:
        With p = truth, the estimated share has variance p (1-p) / (people (2p-1)^2), whatever the share is.

    Example:
        >>> from jali.local import Warner
        >>> mechanism = Warner(truth="2/3")
        >>> round(mechanism.loss.epsilon(0), 6), mechanism.release(True) in (0, 1)
        (0.693147, True)
        >>> round(Warner(epsilon=1).variance(), 10)
        0.9206735942
        >>> Warner(truth="3/4").estimate([1] * 500 + [0] * 500).frequencies
        (0.5, 0.5)
    """

    truth: Fraction | None
    epsilon: Fraction | None

    def __init__(self, *, truth: Number | None = None, epsilon: Number | None = None) -> None:
        if (truth is None) == (epsilon is None):
            raise MechanismError("truth-or-epsilon")
        self._fill(truth=None if truth is None else truth_of(truth))
        self._fill(epsilon=None if epsilon is None else read_parameter(epsilon, "epsilon"))

    @property
    def answers(self) -> int:
        """Two: 0 is no, 1 is yes."""
        return 2

    @property
    def loss(self) -> RandomizedResponseLoss:
        """The loss of one person's answer."""
        if self.epsilon is not None:
            return RandomizedResponseLoss(self.epsilon)
        return RandomizedResponseLoss.from_truth(max(self._truth, 1 - self._truth))

    @property
    def chances(self) -> Chances:
        """How often a report is the person's answer, and how often the other one."""
        if self.epsilon is None:
            return Chances(float(self._truth), float(1 - self._truth), float(2 * self._truth - 1))
        shrunk = math.exp(-self.epsilon)
        return Chances(1 / (1 + shrunk), shrunk / (1 + shrunk), -math.expm1(-self.epsilon) / (1 + shrunk))

    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        if self.epsilon is None:
            truthful = bernoulli(self._truth, len(values), bits=bits)
        else:
            truthful = draw_with_odds(self.epsilon, Fraction(1), len(values), bits=bits)
        return np.where(truthful, values, 1 - values).astype(np.int8)

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports no and yes."""
        yes = int(np.count_nonzero(whole_column(reports)))
        return np.array([len(np.asarray(reports)) - yes, yes])

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report."""
        if self.epsilon is None:
            true, false = math.log(self._truth), math.log(1 - self._truth)
        else:
            true = -math.log1p(math.exp(-self.epsilon))
            false = true - float(self.epsilon)
        return {int(value): true, 1 - int(value): false}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return coins given by a loss and by a bias, one of which mostly lies."""
        return cls._specimens(cls(epsilon=1), cls(epsilon="5/2"), cls(truth="3/5"), cls(truth="1/7"))

    @property
    def _truth(self) -> Fraction:
        return self.truth if self.truth is not None else _HALF


def truth_of(truth: Number) -> Fraction:
    """Return a probability of telling the truth that leaves something to estimate, or refuse it by name."""
    try:
        number = rational(truth, "truth")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if not 0 < number < 1 or number == _HALF:
        raise MechanismError("truth-out-of-range", truth=truth)
    return number


@dataclass(frozen=True, repr=False)
class AlmostRandom(Randomizer):
    """Toss a coin: heads, tell the truth; tails, answer by a second coin.

    Guarantee:
        ln(3)-DP for one person's answer, in the local model (replace-one), with equality: the truth is told with
        probability 3/4.
    Proof:
        docs/proofs/randomized_response.md, after Warner 1965.

    Error:
        With y the share of yes among the reports, the estimated share is 2y - 1/2; it has variance
        3 / (4 people), whatever the share is.

    Example:
        >>> from jali.local import AlmostRandom
        >>> mechanism = AlmostRandom()
        >>> mechanism.release(False) in (0, 1), mechanism.variance(people=100)
        (True, 0.0075)
        >>> mechanism.estimate([1] * 50 + [0] * 50).frequencies
        (0.5, 0.5)
    """

    def __init__(self) -> None:
        """Take no parameters: the coins are fair."""

    @property
    def answers(self) -> int:
        """Two: 0 is no, 1 is yes."""
        return 2

    @property
    def loss(self) -> RandomizedResponseLoss:
        """Ln 3, rounded up."""
        return RandomizedResponseLoss.from_truth("3/4")

    @property
    def chances(self) -> Chances:
        """3/4 and 1/4."""
        return Chances(0.75, 0.25, 0.5)

    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        coins = bits.integers(len(values), 2)
        return np.where(coins & 2, values, coins & 1).astype(np.int8)

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports no and yes."""
        yes = int(np.count_nonzero(whole_column(reports)))
        return np.array([len(np.asarray(reports)) - yes, yes])

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report: 3/4 and 1/4."""
        return {int(value): math.log(3 / 4), 1 - int(value): math.log(1 / 4)}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return the one case there is."""
        return cls._specimens(cls())


@dataclass(frozen=True, repr=False, init=False)
class KaryResponse(Categorical):
    """Tell the true category with odds e^epsilon against each other one.

    Args:
        categories: How many there are, k; a value is one of 0 .. k-1.
        epsilon: The loss.

    Guarantee:
        epsilon-DP for one person's value, in the local model (replace-one), with equality. The truth is told with
        probability p = e^epsilon / (e^epsilon + k - 1), exactly, and each other category with q = p e^-epsilon.
    Proof:
        docs/proofs/local_frequencies.md, after Kairouz, Bonawitz and Ramage 2016.

    Error:
        An estimated frequency f has variance (f p (1-p) + (1-f) q (1-q)) / (people (p-q)^2). At small f that is
        less than for unary encoding iff k < 3 e^epsilon + 2.

    Example:
        >>> from jali.local import KaryResponse
        >>> mechanism = KaryResponse(categories=8, epsilon=1)
        >>> round(mechanism.variance(), 7)
        2.9528549
        >>> mechanism.release(3) in range(8)
        True
    """

    @property
    def loss(self) -> RandomizedResponseLoss:
        """The loss of one person's answer."""
        return RandomizedResponseLoss(self.epsilon, self.categories)

    @property
    def chances(self) -> Chances:
        """How often the true category is reported, and how often a given other one."""
        shrunk = math.exp(-self.epsilon)
        total = 1 + (self.categories - 1) * shrunk
        return Chances(1 / total, shrunk / total, -math.expm1(-self.epsilon) / total)

    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        others = self.categories - 1
        lies = np.flatnonzero(~draw_with_odds(self.epsilon, Fraction(others), len(values), bits=bits))
        reports = values.copy()
        reports[lies] = (values[lies] + 1 + uniform_below(others, len(lies), bits=bits)) % self.categories
        return reports

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports of each category."""
        return np.bincount(whole_column(reports, self.categories), minlength=self.categories)

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report."""
        true = -math.log1p((self.categories - 1) * math.exp(-self.epsilon))
        return {other: true - (other != value) * float(self.epsilon) for other in range(self.categories)}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two, three and eight categories."""
        cases = ((2, "1"), (3, "3/4"), (8, "2"))
        return cls._specimens(*(cls(categories=k, epsilon=epsilon) for k, epsilon in cases))
