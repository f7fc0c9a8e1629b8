"""How far each candidate is behind at most, counted in the sum of two sensitivities: by an upper envelope."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction


def distances(scores: list[Fraction], moves: list[Fraction], margin: Fraction) -> list[Fraction]:
    """Return max over j of (a_j - a_i) / (D_i + D_j) for each i, where a = score - margin D, exactly.

    It is the root s of h(s) = a_i + s D_i, where h(s), the largest a_j - s D_j, is a convex function made of
    lines; a search in h finds it, so that d candidates take d log d steps instead of d squared.

    Args:
        scores: The scores, higher is better.
        moves: Their sensitivities D, above 0.
        margin: Lowers each score by so many sensitivities.

    Proof:
        docs/proofs/generalised_exponential.md, Lemma 2.

    Example:
        >>> distances([Fraction(0), Fraction(6)], [Fraction(1), Fraction(2)], Fraction(1))
        [Fraction(5, 3), Fraction(0, 1)]
    """
    lowered = [score - margin * move for score, move in zip(scores, moves, strict=True)]
    scale = math.lcm(*(number.denominator for number in (*lowered, *moves)))
    lines = [_Line(int(a * scale), int(move * scale)) for a, move in zip(lowered, moves, strict=True)]
    hull = _upper_envelope(lines)
    return [_root(line, hull) for line in lines]


@dataclass(frozen=True)
class _Line:
    """The function height - s * fall of s >= 0."""

    height: int
    fall: int

    def meets(self, flatter: _Line) -> Fraction:
        """Return the s at which a flatter line that starts lower takes over."""
        return Fraction(self.height - flatter.height, self.fall - flatter.fall)


def _upper_envelope(lines: list[_Line]) -> list[_Line]:
    """Return the lines that are largest somewhere in s >= 0, in the order of s."""
    hull: list[_Line] = []
    for line in sorted(set(lines), key=lambda line: (-line.height, line.fall)):
        if hull and line.fall >= hull[-1].fall:
            continue  # starts no higher and falls no slower
        while len(hull) > 1 and hull[-1].meets(line) <= hull[-2].meets(hull[-1]):
            hull.pop()
        hull.append(line)
    return hull


def _root(own: _Line, hull: list[_Line]) -> Fraction:
    """Return the s at which the envelope comes down to height + s * fall of the given line."""

    def passed(turn: int) -> bool:
        """Whether the root lies before the next line of the envelope takes over."""
        line, end = hull[turn], hull[turn].meets(hull[turn + 1])
        return line.height - own.height <= end * (line.fall + own.fall)

    line = hull[bisect_left(range(len(hull) - 1), True, key=passed)]
    return Fraction(line.height - own.height, line.fall + own.fall)
