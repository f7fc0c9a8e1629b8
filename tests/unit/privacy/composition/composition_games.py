"""Small games, enumerated: what an adversary sees on two neighbours, transcript by transcript.

A game is a list of pairs (probability on one table, probability on its neighbour), one for each transcript.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from mpmath import mp, mpf  # type: ignore[import-untyped]

Game = list[tuple[Any, Any]]


def response(epsilon: Fraction | float, failure: Fraction | float = 0) -> Game:
    """Randomized response with odds e^epsilon, which tells the truth and says so with probability `failure`."""
    bound, broken = exact(epsilon), exact(failure)
    lie = 1 / (1 + mp.exp(bound))
    whole = [(broken, mpf(0)), (mpf(0), broken)] if failure else []
    return [*whole, ((1 - broken) * (1 - lie), (1 - broken) * lie), ((1 - broken) * lie, (1 - broken) * (1 - lie))]


def together(*games: Game) -> Game:
    """All games, played independently."""
    return [(_product(p for p, _ in seen), _product(q for _, q in seen)) for seen in product(*games)]


def then(first: Game, choose: Callable[[int], Game]) -> Game:
    """A game, and a second one chosen after the outcome of the first."""
    return [(p * p2, q * q2) for outcome, (p, q) in enumerate(first) for p2, q2 in choose(outcome)]


def hockey_stick(game: Game, epsilon: Fraction | float) -> Any:
    """The exact delta of a game at epsilon, the larger of both directions."""
    odds = mp.exp(exact(epsilon))
    forth = sum((max(p - odds * q, 0) for p, q in game), mpf(0))
    back = sum((max(q - odds * p, 0) for p, q in game), mpf(0))
    return max(forth, back)


def exact(value: Fraction | float) -> Any:
    """The number as written, at the working precision."""
    number = Fraction(value)
    return mpf(number.numerator) / number.denominator


def _product(values: Any) -> Any:
    result = mpf(1)
    for value in values:
        result *= value
    return result
