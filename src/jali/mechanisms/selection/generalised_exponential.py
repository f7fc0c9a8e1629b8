"""The generalised exponential mechanism: choose among candidates whose scores have unequal sensitivities.

An upper envelope finds how far each candidate is behind at most, counted in the sum of two sensitivities.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jali.errors import MechanismError, settle
from jali.mechanisms.base import BoundedRangeMechanism, Specimen, read_miss_probability, read_parameter
from jali.mechanisms.selection.exponential_mechanism import Exponential, draw_exponential
from jali.mechanisms.selection.scores import Exponents, Scores, round_up_to_steps
from jali.mechanisms.selection.selection_mechanism import Places, SelectionMechanism, refuse_too_wide
from jali.numbers.rounding import float_above, ln_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource
from jali.sampling.exp_bounds import Doubles


def find_distances(scores: list[Fraction], moves: list[Fraction], margin: Fraction) -> list[Fraction]:
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
        >>> find_distances([Fraction(0), Fraction(6)], [Fraction(1), Fraction(2)], Fraction(1))
        [Fraction(5, 3), Fraction(0, 1)]
    """
    lowered = [score - margin * move for score, move in zip(scores, moves, strict=True)]
    scale = math.lcm(*(number.denominator for number in (*lowered, *moves)))
    lines = [_EnvelopeLine(int(a * scale), int(move * scale)) for a, move in zip(lowered, moves, strict=True)]
    hull = _build_upper_envelope(lines)
    return [_find_root(line, hull) for line in lines]


@dataclass(frozen=True)
class _EnvelopeLine:
    """The function height - s * fall of s >= 0."""

    height: int
    fall: int

    def meets(self, flatter: _EnvelopeLine) -> Fraction:
        """Return the s at which a flatter line that starts lower takes over."""
        return Fraction(self.height - flatter.height, self.fall - flatter.fall)


def _build_upper_envelope(lines: list[_EnvelopeLine]) -> list[_EnvelopeLine]:
    """Return the lines that are largest somewhere in s >= 0, in the order of s."""
    hull: list[_EnvelopeLine] = []
    for line in sorted(set(lines), key=lambda line: (-line.height, line.fall)):
        if hull and line.fall >= hull[-1].fall:
            continue  # starts no higher and falls no slower
        while len(hull) > 1 and hull[-1].meets(line) <= hull[-2].meets(hull[-1]):
            hull.pop()
        hull.append(line)
    return hull


def _find_root(own: _EnvelopeLine, hull: list[_EnvelopeLine]) -> Fraction:
    """Return the s at which the envelope comes down to height + s * fall of the given line."""

    def passes(turn: int) -> bool:
        """Whether the root lies before the next line of the envelope takes over."""
        line, end = hull[turn], hull[turn].meets(hull[turn + 1])
        return line.height - own.height <= end * (line.fall + own.fall)

    line = hull[bisect_left(range(len(hull) - 1), True, key=passes)]
    return Fraction(line.height - own.height, line.fall + own.fall)


@dataclass(frozen=True, repr=False, init=False)
class GeneralisedExponential(BoundedRangeMechanism, SelectionMechanism):
    """Choose a candidate whose score is high, where the score of candidate i moves by sensitivities[i].

    Each score is first lowered by `margin` times its sensitivity: what it may owe to chance. The distance of a
    candidate is the most, over all others, by which it is then behind, counted in the sum of both sensitivities.
    Distances have sensitivity 1, and the exponential mechanism chooses a small one.

    Args:
        sensitivities: How far each score moves between neighbours at most.
        epsilon: The loss.
        failure: The probability of a larger error than 2 margin times the sensitivity of the best; it sets the
            margin.
        step: Round real scores to multiples of this; without it scores must be exact.

    Guarantee:
        The losses of all outcomes lie in an interval of length epsilon (bounded range), whatever the margin. So
        the choice is epsilon-DP and (epsilon^2/8)-zCDP.
    Proof:
        docs/proofs/generalised_exponential.md, after Raskhodnikova and Smith 2016.

    Error:
        With margin t = 2 ln(d/failure)/epsilon, with a probability of at least 1 - failure the chosen score is at
        least score_j - 2 t sensitivities[j], for every candidate j: a low sensitivity pays off.
        The loss is not simply linear in the sensitivities: margins are rounded.

    Example:
        >>> from jali.mechanisms import GeneralisedExponential
        >>> mechanism = GeneralisedExponential(sensitivities=[1, 1, 100], epsilon=1)
        >>> mechanism.release([10, 60, 70]) in range(3)
        True
        >>> mechanism.probabilities([10, 60, 70]).round(3).tolist()
        [0.0, 0.981, 0.019]
    """

    loss_power: ClassVar[int | None] = None

    sensitivities: tuple[Fraction, ...]
    epsilon: Fraction
    failure: Fraction
    step: Fraction | None

    def __init__(
        self,
        *,
        sensitivities: Iterable[Number],
        epsilon: Number,
        failure: Number = Fraction(1, 20),
        step: Number | None = None,
    ) -> None:
        self._fill(
            sensitivities=_read_each(sensitivities),
            epsilon=read_parameter(epsilon, "epsilon"),
            failure=read_parameter(failure, "failure"),
            step=None if step is None else read_parameter(step, "step"),
        )
        if self.failure >= 1:
            raise MechanismError("parameter-not-below-one", value=failure, name="failure")
        refuse_too_wide(2 * max(self._moves) / self.epsilon)

    @property
    def margin(self) -> Fraction:
        """How many sensitivities a score is lowered by: 2 ln(d/failure)/epsilon, a little above."""
        return 2 * self._log_odds / self.epsilon

    @property
    def _log_odds(self) -> Fraction:
        """The logarithm of d/failure, rounded up."""
        return ln_above(len(self.sensitivities) / self.failure)

    @property
    def _moves(self) -> list[Fraction]:
        """The sensitivities of the scores as they are read."""
        return [round_up_to_steps(each, self.step) for each in self.sensitivities]

    def distances(self, scores: Scores) -> list[Fraction]:
        """Return, for each candidate, how far it is behind at most, counted in the sum of two sensitivities."""
        if len(scores) != len(self.sensitivities):
            raise MechanismError(
                "sensitivities-unlike-scores", sensitivities=len(self.sensitivities), scores=len(scores)
            )
        return find_distances(
            [score * scores.unit for score in map(int, scores.integers)], self._moves, self.margin
        )

    def exponents(self, scores: Scores) -> Exponents:
        """Return half of epsilon times the distances."""
        return Exponents.from_list([self.epsilon / 2 * distance for distance in self.distances(scores)])

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Draw `size` independent choices."""
        return draw_exponential(exponents, size, bits)

    def log_law(self, x: Doubles) -> Doubles:
        """Return -x - ln(sum of exp(-x))."""
        return Exponential(sensitivity=1, epsilon=1).log_law(x)

    def error(self, confidence: float, *, best: Number | None = None) -> float:
        """Return a t such that the choice is at most t below the best score.

        Args:
            confidence: The probability that this holds.
            best: The sensitivity of the candidate with the best score; the largest of all if not given.
        """
        scales = [float_above(2 * move / self.epsilon) for move in self._moves]
        top = max(scales) if best is None else float_above(2 * self._read_best(best) / self.epsilon)
        missed, margin, others = read_miss_probability(confidence), float(self._log_odds), len(scales) - 1
        reached = max(0.0, math.log(others) + math.log1p(-missed) - math.log(missed)) if others else 0.0
        own = min(scales) if reached < margin else max(scales)
        return max(0.0, (margin + reached) * top + (reached - margin) * own) * (1 + 1e-12)

    def _read_best(self, best: Number) -> Fraction:
        sensitivity = read_parameter(best, "best")
        if sensitivity > max(self.sensitivities):
            raise MechanismError("best-not-a-sensitivity", best=best)
        return round_up_to_steps(sensitivity, self.step)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return three candidates of unequal sensitivities, moved by as much as they can."""
        return tuple(_build_specimen(cls(sensitivities=(1, 3, 10), epsilon=epsilon)) for epsilon in ("1/2", 1, 3))


def _read_each(sensitivities: Iterable[Number]) -> tuple[Fraction, ...]:
    if isinstance(sensitivities, str | bytes) or not isinstance(sensitivities, Iterable):
        raise MechanismError("sensitivities-not-a-list", sensitivities=settle(sensitivities))
    listed = tuple(read_parameter(each, "sensitivities") for each in sensitivities)
    if not listed:
        raise MechanismError("nothing-to-choose-from", name="sensitivities")
    return listed


def _build_specimen(mechanism: GeneralisedExponential) -> Specimen:
    far = int(400 / mechanism.epsilon)
    pairs = (
        ((0, 0, 0), (1, -3, -10)),
        ((5, 9, 30), (4, 12, 40)),
        ((far, 0, 0), (far - 1, 3, 10)),
        ((0, far, 0), (1, far - 3, 10)),
    )
    both = (*pairs, *((b, a) for a, b in pairs))
    typical = tuple(int(score / mechanism.epsilon) for score in (9, 16, 110))
    return Specimen(mechanism, Adjacency.REPLACE_ONE, both, typical=typical, tight=False)
