"""What the lab is asked to set up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.attacks.noises import Noise
from jali.privacy import Adjacency


@dataclass(frozen=True)
class Setting:
    """One secret, and what answers about it.

    Attributes:
        n: How many people.
        noise: The noise of a simulator.
        against: "simulator", "jali", "unledgered" (Jali without a ledger) or the path of a log.
        epsilon: The whole budget, where there is a ledger.
        delta: The delta of that budget; with one, questions are asked with Gaussian noise.
        each: What one question spends of it; by default the budget is spread over the questions.
        adjacency: When two tables are neighbours, where that matters.
        seed: Where the secret and a simulator's noise come from; new ones if it is None. Jali's noise has no seed.
    """

    n: int
    noise: Noise
    against: str = "simulator"
    epsilon: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)
    each: Fraction | None = None
    adjacency: Adjacency = Adjacency.REPLACE_ONE
    seed: int | None = None
