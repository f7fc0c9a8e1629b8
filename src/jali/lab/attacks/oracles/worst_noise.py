"""Choose errors within a bound that mislead an attack, knowing the secret and the questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows, transform_hadamard
from jali.lab.attacks.subsets.subset_operators import Subsets
from jali.numbers.search import greatest_integer

_ROUNDS = 300
_FIRST, _SHARE, _GROWTH = (
    7.0,
    0.75,
    1.03,
)  # Flips to begin with: 7 E^2, or three quarters; then 3 % more at a time.
_FARTHEST = 3.0  # In units of the bound: how far a decoy's counts may be from the secret's.


def choose_errors(bits: Bits, subsets: Subsets, bound: float, random: np.random.Generator) -> Doubles:
    """Return errors within a bound that lead an attack with these questions to a wrong guess."""
    if isinstance(subsets, HadamardRows) and len(subsets) == subsets.people > 1:
        return flip_bits(bits, bound, random)[subsets.order]
    return lure_to_decoy(bits, subsets, bound, random)


def lure_to_decoy(bits: Bits, subsets: Subsets, bound: float, random: np.random.Generator) -> Doubles:
    """Draw the answers towards the counts of a decoy, by as much as the bound allows.

    With z the counts of the decoy less those of the secret, the answers are moved by z cut off at the bound E. A
    point that has gone a part t of the way to the decoy is off by (1 - t) |z| where |z| <= E, and by |t |z| - E|
    beyond. If no |z| is above 3 E, the largest of these falls until t = 1/2 at least, where every bit begins to
    round to the decoy's; where most |z| are below E, sums of squares and of absolute values fall for it too. The
    decoy is as far from the secret as that allows, and has about as many ones, which keeps z small.
    """
    order = _alternate_values(bits, random)

    def stays_near(moved: int) -> bool:
        return bool(np.abs(_move_counts(bits, order[:moved], subsets)).max(initial=0.0) <= _FARTHEST * bound)

    near = greatest_integer(stays_near, 0, len(bits) + 1)
    return np.clip(_move_counts(bits, order[:near], subsets), -bound, bound)


def flip_bits(bits: Bits, bound: float, random: np.random.Generator) -> Doubles:
    """Return errors of the rows of a Hadamard matrix H, in Sylvester's order, that flip many bits.

    Errors e move the estimates by 2 H e / n (those of all but person 0), and a bit flips if it is moved by 1/2. So
    there are two sets to meet: the moves of errors within E, and the moves that flip at least k bits. H / sqrt(n)
    is orthogonal, so the nearest point of either is found at once: cut the errors off, or push on the k bits that
    are closest to flipping. Douglas and Rachford's iteration between the two finds a common point; then k grows.
    The squares of the moves sum to at most 4 E^2, which allows 16 E^2 flips; it finds 11 E^2 while these are few.
    """
    n = len(bits)
    wrong = 1.0 - 2.0 * bits
    wrong[0] = 0.0
    aim = max(1.0, min(_FIRST * bound**2, _SHARE * (n - 1)))
    point = np.where(random.random(n) < aim / n, 0.6 * wrong, 0.0)
    best, most = np.zeros(n), 0
    for _ in range(_ROUNDS):
        errors = np.clip(transform_hadamard(point) / 2, -bound, bound)
        moves = transform_hadamard(errors) * (2 / n)
        flips = int(np.count_nonzero(wrong * moves > 0.5))
        if flips > most:
            best, most = errors, flips
        if flips >= int(aim):
            aim = min(n - 1.0, max(aim + 1, aim * _GROWTH))
        point += _push_flips(2 * moves - point, wrong, int(aim)) - moves
    return best


def _push_flips(moves: Doubles, wrong: Doubles, count: int) -> Doubles:
    """Return the nearest moves that flip so many bits, by a little more than it takes."""
    progress = wrong * moves
    progress[0] = -np.inf  # Person 0 is in every subset, and is not moved like the others.
    last = len(progress) - count
    closest = progress >= np.partition(progress, last)[last]
    return np.where(closest & (progress < 0.505), 0.505 * wrong, moves)


def _alternate_values(bits: Bits, random: np.random.Generator) -> NDArray[np.int64]:
    """Put people in a random order in which zeros and ones take turns for as long as there are both."""
    turn = np.empty(len(bits), np.int64)
    for value in (0, 1):
        people = random.permutation(np.flatnonzero(bits == value))
        turn[people] = np.arange(len(people))
    return np.argsort(turn, kind="stable")


def _move_counts(bits: Bits, flipped: NDArray[np.int64], subsets: Subsets) -> Doubles:
    """Return by how much the counts move if some bits are flipped."""
    change = np.zeros(len(bits))
    change[flipped] = 1.0 - 2.0 * bits[flipped]
    return np.asarray(subsets.matvec(change), np.float64)
