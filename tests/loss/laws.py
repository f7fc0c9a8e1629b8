"""Formulas of privacy loss from first principles: two exact inputs and a law of noise go in, a loss comes out.

Nothing here knows how the package computes a loss. A loss is a pair: epsilon, the largest |ln(P/Q)| over all
outputs, and rho, for which the pair is rho-zCDP: every Renyi divergence of order a is at most a rho, both ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Number: TypeAlias = Fraction | float
Doubles: TypeAlias = NDArray[np.float64]

# Up to so many candidates the law of permute-and-flip is computed; beyond, the theorem bounds it.
FEW = 512


@dataclass(frozen=True)
class Loss:
    """What two inputs lose at most by one release, or by several together."""

    epsilon: Number = Fraction(0)
    rho: Number = Fraction(0)

    def __add__(self, other: Loss) -> Loss:
        """Add two losses: of releases with noise of their own, also if the second is chosen after the first.

        Ratios of probabilities multiply along a transcript, so logarithms add; Renyi divergences of adaptively
        chosen releases add (Bun and Steinke 2016, Lemma 1.7 and Theorem 1.9).
        """
        return Loss(_sum(self.epsilon, other.epsilon), _sum(self.rho, other.rho))


NO_LOSS = Loss()


def _sum(one: Number, other: Number) -> Number:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one + other
    return float(one) + float(other)


def pure(epsilon: Number) -> Loss:
    """Return the loss of an epsilon-DP pair, which is epsilon^2/2-zCDP (Bun and Steinke 2016, Proposition 1.4)."""
    return Loss(epsilon, epsilon * epsilon / 2)


def laplace(moves: Iterable[int], scale: Fraction) -> Loss:
    """Return the loss of discrete Laplace noise of this scale on integers that move so far.

    Its mass is proportional to exp(-|z|/scale), so that by the triangle inequality ln(P/Q) of one coordinate is at
    most |move|/scale, which is reached; coordinates have independent noises, and add (Dwork, McSherry, Nissim and
    Smith 2006, Theorem 1; Ghosh, Roughgarden and Sundararajan 2012).
    """
    sizes = [abs(move) for move in moves if move]
    return Loss(sum(sizes, 0) / scale, sum(size * size for size in sizes) / scale**2 / 2)


def gaussian(moves: Iterable[int], variance: Fraction) -> Loss:
    """Return the loss of discrete Gaussian noise of this variance on integers that move so far.

    The Renyi divergence of order a of a shift by m is at most a m^2/(2 variance), and independent coordinates add
    (Canonne, Kamath and Steinke 2020, Proposition 5). No epsilon bounds the ratio unless nothing moves.
    """
    squares = sum(move * move for move in moves)
    return Loss(math.inf if squares else Fraction(0), squares / (2 * variance))


def cube(moves: Iterable[Sequence[int]], rate: Fraction) -> Loss:
    """Return the loss of joint noise: one vector of mass proportional to exp(-rate max|z_i|) for each row.

    By the triangle inequality of the largest-coordinate norm ln(P/Q) of one row is at most rate max|move_i|, which
    is reached; rows have independent noises, and add (Hardt and Talwar 2010, Theorem 4.1).
    """
    sizes = [rate * max(map(abs, row), default=0) for row in moves]
    return sum(map(pure, sizes), NO_LOSS)


def exponential(moves: Sequence[Fraction]) -> Loss:
    """Return the loss of a choice of mass proportional to exp(-x_i), whose exponents move by `moves`.

    ln(P_i/Q_i) = move_i + ln(Z'/Z), so that all losses lie in an interval of length r = max move - min move, and
    0 lies in it as both laws sum to 1: epsilon is at most r (McSherry and Talwar 2007, Theorem 6), and the pair is
    r^2/8-zCDP (Cesar and Rogers 2021, Lemma 3.4, by Hoeffding's lemma).
    """
    length = max(moves) - min(moves)
    return Loss(length, length * length / 8)


def exponential_law(exponents: Sequence[Fraction]) -> Doubles:
    """Return ln P_i for mass proportional to exp(-x_i)."""
    x = _above_least(exponents)
    return np.asarray(-x - math.log(math.fsum(np.exp(-x))))


def flips(one: Sequence[Fraction], other: Sequence[Fraction]) -> Loss:
    """Return the loss of permute-and-flip between two vectors of exponents: by its exact law, or by the theorem.

    Candidate i is accepted with probability exp(-x_i), and of all accepted in a random order the first is taken,
    where x_i is what it is behind the best. It is noisy max with exponential noise (Ding et al. 2021, Theorem 5),
    so that it depends on differences of exponents only: shift one vector until all moves lie in [0, r], r their
    range. Given the noise of the others, i wins if its own exceeds a threshold, which then moves by r at most, and
    Pr[E > t + r] >= exp(-r) Pr[E > t] for every t: epsilon is at most r (McKenna and Sheldon 2020, Theorem 1).
    """
    moves = [b - a for a, b in zip(one, other, strict=True)]
    bound = max(moves) - min(moves)
    if bound == 0 or len(moves) > FEW:
        return pure(bound)
    found = float(np.max(np.abs(flips_law(tuple(one)) - flips_law(tuple(other)))))
    return pure(min(found, float(bound)))


@lru_cache(maxsize=4096)
def flips_law(exponents: tuple[Fraction, ...]) -> Doubles:
    """Return ln P_i of permute-and-flip, for a few candidates.

    Give every candidate a time that is uniform in [0, 1]: their order is random. With p_j = exp(-x_j), candidate i
    is taken at time t if it is accepted and no other was accepted before t, so that P_i = p_i * integral over t in
    [0, 1] of the product over j != i of (1 - t p_j). The integrand is a polynomial of degree d - 1, for which
    Gauss' rule with d/2 nodes is exact. Its terms are positive: nothing cancels.
    """
    x = _above_least(exponents)
    nodes, weights = _gauss(max(1, (len(x) + 1) // 2))
    logs = np.log1p(-nodes[:, None] * np.exp(-x)[None, :])
    rest = np.exp(logs.sum(axis=1)[:, None] - logs)
    return np.asarray(-x + np.log(weights @ rest))


@lru_cache(maxsize=1024)
def _gauss(count: int) -> tuple[Doubles, Doubles]:
    """Return the nodes and weights of Gauss and Legendre on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _above_least(exponents: Sequence[Fraction]) -> Doubles:
    """Subtract the least one exactly; what is far behind has no mass in double."""
    least = min(exponents)
    return np.array([float(min(x - least, Fraction(10**6))) for x in exponents])


def picks(law: str, one: Sequence[Fraction], other: Sequence[Fraction], count: int) -> Loss:
    """Return the loss of picking so many candidates one after the other, each from those that are left.

    Pick k + 1 is a choice of its own given the ones before: its loss is the largest over all that may be left, and
    the picks add (adaptive composition). The exponents of those that are left are the same numbers, up to one
    shift that no law depends on.
    """
    total, left = NO_LOSS, [tuple(range(len(one)))]
    for _ in range(count):
        found = [_choice(law, [one[i] for i in places], [other[i] for i in places]) for places in left]
        total += Loss(max(loss.epsilon for loss in found), max(loss.rho for loss in found))
        left = list({places[:i] + places[i + 1 :] for places in left for i in range(len(places))})
        # What is left is some of the candidates: their moves have no larger range than those of all.
        if len(left) * len(one) > FEW:
            left = [tuple(range(len(one)))]
    return total


def _choice(law: str, one: Sequence[Fraction], other: Sequence[Fraction]) -> Loss:
    if law == "flips":
        return flips(one, other)
    bound = exponential([b - a for a, b in zip(one, other, strict=True)])
    if bound.epsilon == 0 or len(one) > FEW:
        return bound
    found = float(np.max(np.abs(exponential_law(one) - exponential_law(other))))
    return Loss(min(found, float(bound.epsilon)), bound.rho)
