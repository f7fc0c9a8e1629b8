"""Find all candidates that are consistent with all answers: the sieve of the exponential adversary.

A candidate c is consistent if |a_S - c(S)| <= E for the answers a_S about all subsets S. To test each of the 2^n
candidates on each of the 2^n answers would take 4^n steps. But the largest of a_S - c(S) over S can be taken over
one person at a time: with person p decided, a set T without p has the largest of a_T and a_(T+p) - c_p, and
half as many sets are left. So all candidates together take at most n 2^n steps, and a prefix whose
smallest and largest values at some T are more than 2E apart is dropped with everything that begins with it; with
random errors nearly all of them drop at once, which leaves about 2^n steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.lab.attacks.arrays import Bits, Doubles

Codes: TypeAlias = NDArray[np.int64]

# Rounding of the answers must not drop the secret.
SLACK = 1e-9
_AT_ONCE = 15


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
    branches = children if undecided > _AT_ONCE else [next(children).join(next(children))]
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
