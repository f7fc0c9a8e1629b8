"""Attack without limits: ask all 2^n counts, and submit a candidate that is consistent with them.

A candidate c is consistent if |a_S - c(S)| <= E for the answers a_S about all subsets S. To test each of the 2^n
candidates on each of the 2^n answers would take 4^n steps. But the largest of a_S - c(S) over S can be taken over
one person at a time: with person p decided, a set T without p has the largest of a_T and a_(T+p) - c_p, and
half as many sets are left. So all candidates together take at most n 2^n steps, and a prefix whose
smallest and largest values at some T are more than 2E apart is dropped with everything that begins with it; with
random errors nearly all of them drop at once, which leaves about 2^n steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, Setting, silent
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.subsets.subset_operators import AllSubsets

Codes: TypeAlias = NDArray[np.int64]

# Rounding of the answers must not drop the secret.
SLACK = 1e-9
_SIEVED_AT_ONCE = 15


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Candidates of which the last people are decided.

    Attributes:
        codes: The decided bits, person j at 2^j.
        most: For each set T of undecided people, in the rows, and each candidate, in the columns, the largest of
            a_S - c(S) over the sets S which are T and some decided people.
        least: The smallest of them.
    """

    codes: Codes
    most: Doubles
    least: Doubles

    def decide(self, person: int, bit: int, bound: float) -> _Candidates:
        """Give the last undecided person a bit, and keep what may still be consistent."""
        half = 1 << person
        most = self.most[half:] - float(bit)
        np.maximum(most, self.most[:half], out=most)
        least = self.least[half:] - float(bit)
        np.minimum(least, self.least[:half], out=least)
        alive = (_largest(most - least) <= 2 * bound) & (most[0] <= bound) & (least[0] >= -bound)
        codes = self.codes | (bit << person)
        if alive.all():
            return _Candidates(codes, most, least)
        return _Candidates(codes[alive], most[:, alive], least[:, alive])

    def join(self, other: _Candidates) -> _Candidates:
        """Return both; without a copy if one of them is empty."""
        if not len(self.codes) or not len(other.codes):
            return self if len(self.codes) else other
        return _Candidates(
            np.concatenate((self.codes, other.codes)),
            np.concatenate((self.most, other.most), axis=1),
            np.concatenate((self.least, other.least), axis=1),
        )


def _largest(values: Doubles) -> Doubles:
    """Return the largest value of each column, by halves in place: numpy is slow where columns are few."""
    while (half := len(values) // 2) > 0:
        values = np.maximum(values[:half], values[half:], out=values[:half])
    return np.asarray(values[0])


def _sieve(left: _Candidates, undecided: int, bound: float) -> Iterator[Codes]:
    """Decide one person after the other: depth first while sets are many, then all that fits a cache at once."""
    if not len(left.codes):
        return
    if undecided == 0:
        yield np.sort(left.codes)
        return
    children = (left.decide(undecided - 1, bit, bound) for bit in (0, 1))
    branches = children if undecided > _SIEVED_AT_ONCE else [next(children).join(next(children))]
    for branch in branches:
        yield from _sieve(branch, undecided - 1, bound)


def find_survivors(answers: Doubles, bound: float) -> Codes:
    """Return all candidates that agree with every answer within a bound, in order, as numbers.

    The answers are those about all subsets of k people in the order of `AllSubsets`, or the first of them; k is as
    small as it can be.

    Example:
        >>> find_survivors(np.array([0.0, 0.5, 0.5, 1.0]), 0.5).tolist()
        [1, 2]
    """
    people = count_people_asked(len(answers))
    missing = (1 << people) - len(answers)
    # What was not answered excludes nothing.
    most = np.pad(answers, (0, missing), constant_values=-np.inf) if missing else answers
    least = np.pad(answers, (0, missing), constant_values=np.inf) if missing else answers
    left = _Candidates(np.zeros(1, np.int64), most[:, None], least[:, None])
    found = list(_sieve(left, people, bound + SLACK))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def count_people_asked(questions: int) -> int:
    """Return how many people the first questions of `AllSubsets` are about."""
    return max(0, questions - 1).bit_length()


def decode_bits(codes: Codes, people: int) -> Bits:
    """Return candidates as rows of bits."""
    return (codes[:, None] >> np.arange(people) & 1).astype(np.int8)


# A database answers one question after the other.
_MOST_ASKED = 12
_EXCEEDED = 0.01
_AT_ONCE = 1 << 16
# A variance that is not rounded to 0, and far below any that matters.
_LEAST = 1e-100


@dataclass(frozen=True)
class Exponential(Reconstruction):
    """Ask for the counts of all subsets, and submit a candidate that agrees with every answer within E.

    Dinur and Nissim 2003: errors within E = o(n) leave no privacy against an adversary without limits.

    Error:
        At most 2 floor(2E) <= 4E bits are wrong. On the people who have the trait in the candidate only, candidate
        and secret both are within E of the answer, so there are at most 2E of them; the same holds
        for those who have it in the secret only. The decoys reach it (see `DecoySimulator`).

    Of several candidates it takes the one with the least squares, and the first of equals. Where the noise has no
    bound, E is what the largest of all errors exceeds with probability at most 1 %; if nothing is consistent
    then, E is doubled until something is.

    Attributes:
        bound: E; by default from the law of the noise.
    """

    bound: float | None = None

    name: ClassVar[str] = "exponential"
    statement: ClassVar[str] = (
        "answers within E on all 2^n subsets: every consistent candidate has at most 4E bits wrong "
        "(Dinur, Nissim 2003)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=20, noise="uniform:0.5*sqrt(n)", few=8)
    most: ClassVar[int] = 25

    def __post_init__(self) -> None:
        if self.bound is not None and not (math.isfinite(self.bound) and self.bound >= 0):
            raise CatalogError("attack-bound-negative", bound=self.bound, name="bound")

    def check(self, people: int) -> None:
        """Refuse more people than have subsets that can be listed."""
        _check_number(people, self.most)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        progress("asking")
        answers = np.asarray(oracle.ask(AllSubsets(oracle.n)), np.float64)
        progress("sieving")
        assumed = self.assumed(Facts(oracle.n, oracle.noise, len(answers)))
        found, bound = _widen_bound(answers, assumed)
        progress("choosing")
        squares = _sum_squares(found, answers)
        best = int(np.argmin(squares))
        unknown = oracle.n - count_people_asked(len(answers))
        figures = {
            "bound": float(bound),
            "consistent": float(bound == assumed),
            "survivors": float(len(found)) * 2**unknown,
            "wrong at most": float(np.bitwise_count(found ^ found[best]).max()) + unknown,
        }
        notes = {"candidates": _describe_candidates(figures, assumed)}
        bits = decode_bits(found[best : best + 1], oracle.n)[0]
        bits[oracle.n - unknown :] = oracle.prior > 0.5
        confidence = np.abs(2 * _average_candidates(found, _weigh_candidates(squares, oracle.noise), oracle.n) - 1)
        confidence[oracle.n - unknown :] = 0
        return Guess(bits, confidence, len(answers), figures, notes)

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the share that is right at least; of people that no answer is about, none.

        An E that errors may exceed promises nothing.
        """
        if self.bound is not None and self.bound < Exponential().assumed(facts):
            return None
        known = max(1, facts.questions).bit_length() - 1
        wrong = 2 * math.floor(2 * (self.assumed(facts) + SLACK)) + facts.n - known
        return Prediction(1 - min(1.0, wrong / facts.n), "at most 4E bits wrong", "at least", any_prior=True)

    def opponent(self, setting: Setting) -> Oracle:
        """Make what is attacked; errors that are chosen to mislead are those of the decoys."""
        if setting.against != "simulator":
            _check_number(setting.n, _MOST_ASKED)
        elif setting.noise.kind == "worst":
            from jali.lab.attacks.oracles.simulator import DecoySimulator

            return DecoySimulator.of(n=setting.n, noise=setting.noise, seed=setting.seed)
        return super().opponent(setting)

    def assumed(self, facts: Facts) -> float:
        """Return E: what no error exceeds; or with probability at most 1 %, if the noise has no bound."""
        noise = facts.noise
        bound = noise.bound if self.bound is None else self.bound
        if bound is not None:
            return bound
        exceeded = _EXCEEDED / max(1, facts.questions)
        if noise.kind == "gaussian":
            return -noise.size * NormalDist().inv_cdf(exceeded / 2)
        if noise.kind in ("laplace", "geometric"):
            # Pr[|x| > t] is exp(-t / scale), and on whole numbers less than twice that.
            return noise.size * math.log(2 / exceeded)
        return float(facts.n)


def _describe_candidates(figures: Mapping[str, float], assumed: float) -> str:
    """Describe how many candidates are left, and how far apart they are."""
    number, bound, apart = figures["survivors"], figures["bound"], figures["wrong at most"]
    before = "" if figures["consistent"] else f"none agrees with all answers within {assumed:.3g}; "
    agree = f"{number:,.0f} agree{'s' if number == 1 else ''} with all answers within {bound:.3g}"
    return f"{before}{agree}" + (f", and differ from the guess in up to {apart:.0f} bits" if number > 1 else "")


def _check_number(people: int, most: int) -> None:
    if people > most:
        raise CatalogError("attack-subsets-too-many", most=most, people=people, name="n")


def _widen_bound(answers: Doubles, bound: float) -> tuple[Codes, float]:
    """Return what is consistent within the bound; if nothing is, within the first double of it that has any."""
    found = find_survivors(answers, bound)
    while not len(found):
        bound = max(2 * bound, 0.5)
        found = find_survivors(answers, bound)
    return found, bound


def _sum_squares(found: Codes, answers: Doubles) -> Doubles:
    """Return the sum of squared errors of each candidate c, less that of 0: c' A'A c - 2 c' A'a."""
    subsets = AllSubsets(max(1, count_people_asked(len(answers))), len(answers))
    shared, sums = subsets.gram(), subsets.rmatvec(answers)
    squares = np.empty(len(found))
    for start in range(0, len(found), _AT_ONCE):
        bits = decode_bits(found[start : start + _AT_ONCE], len(sums)).astype(np.float64)
        squares[start : start + _AT_ONCE] = ((bits @ shared - 2 * sums) * bits).sum(axis=1)
    return squares


def _weigh_candidates(squares: Doubles, noise: Noise) -> Doubles:
    """Return the likelihoods of candidates: equal for errors that are bounded and otherwise unknown, or normal."""
    if noise.bound is not None or not noise.stddev:
        return np.full(len(squares), 1 / len(squares))
    weights = np.exp((squares.min() - squares) / max(2 * noise.stddev**2, _LEAST))
    return np.asarray(weights / weights.sum())


def _average_candidates(found: Codes, weights: Doubles, people: int) -> Doubles:
    """Return the weighted mean of candidates, bit by bit."""
    blocks = range(0, len(found), _AT_ONCE)
    return np.asarray(
        sum(weights[i : i + _AT_ONCE] @ decode_bits(found[i : i + _AT_ONCE], people) for i in blocks)
    )
