"""The three losses of a linear program, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.convex import limits, program
from jali.attacks.convex.program import Program
from jali.attacks.convex.tails import Errors
from jali.attacks.subsets.listed import Listed


@dataclass(frozen=True)
class Loss:
    """What a linear program minimises.

    Attributes:
        meaning: In a few words.
        program: The program, of questions, answers, a bound of their errors, and a source of directions.
        limit: The spread of its bits, by the law of the errors, m/n, and the bound, in units of sqrt(n).
        bounded: Whether it needs a bound.
    """

    meaning: str
    program: Callable[[Listed, Doubles, float, np.random.Generator], Program]
    limit: Callable[[Errors, float, float], float | None]
    bounded: bool = False


def _feasible(subsets: Listed, answers: Doubles, bound: float, random: np.random.Generator) -> Program:
    return program.feasible(subsets, answers, bound, random.standard_normal(subsets.shape[1]))


LOSSES: dict[str, Loss] = {
    "chebyshev": Loss(
        "the largest |A x - a|",
        lambda subsets, answers, _, __: program.chebyshev(subsets, answers),
        lambda errors, ratio, _: limits.chebyshev(errors, ratio),
    ),
    "absolute": Loss(
        "the sum of |A x - a|",
        lambda subsets, answers, _, __: program.absolute(subsets, answers),
        lambda errors, ratio, _: limits.absolute(errors, ratio),
    ),
    "feasible": Loss("nothing: any x with |A x - a| <= E", _feasible, limits.feasible, bounded=True),
}
