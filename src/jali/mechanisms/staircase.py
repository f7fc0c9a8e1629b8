"""The staircase mechanism on integers and lattices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar

from jali.errors import MechanismError
from jali.mechanisms.additive import OneNumber
from jali.mechanisms.lattice import refuse_below_one_step, step_of
from jali.mechanisms.laws.inverse import SMALLEST_LOSS, last_loss, least_between, least_loss
from jali.mechanisms.laws.staircase import StaircaseLaw
from jali.mechanisms.mechanism import Specimen, parameter
from jali.mechanisms.sensitivity import Sensitivity, l1_distance
from jali.noise.exponential import LARGEST_SCALE
from jali.noise.staircase import DiscreteStaircase
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number

# Among so many wider treads `for_error` looks for a smaller loss: all of them, up to sensitivities of 128 steps.
_NEAR = 64


@dataclass(frozen=True, repr=False)
class Staircase(OneNumber):
    """Add integer noise whose mass falls by exp(-epsilon) once in every `sensitivity` integers.

    For one number, no noise with a pure loss has a smaller expected error. It is worth its while where the
    sensitivity is large and epsilon is above 1 or so; where the sensitivity is one step it is Laplace noise.

    Args:
        sensitivity: How far the values of neighbouring tables are apart, under the adjacency in which the loss is
            meant; at least 1 for integers.
        epsilon: The loss.
        step: The lattice for real values; without it the value must be an integer.

    Guarantee:
        The release is epsilon-DP for inputs at distance at most `sensitivity`. The noise has another shape at
        every loss: there is no simple rule for a sensitivity other than the one it was made for.
    Proof:
        docs/proofs/staircase.md, after Geng and Viswanath 2014, Theorem 7.

    Error:
        The expected error is least among all treads; in the limit of a fine lattice it is
        sensitivity exp(epsilon/2) / (exp(epsilon) - 1).

    Example:
        >>> from jali.mechanisms import Laplace, Staircase
        >>> round(Staircase(sensitivity=100, epsilon=3).expected_error(), 2)
        23.48
        >>> round(Laplace(sensitivity=100, epsilon=3).expected_error(), 2)
        33.33
    """

    loss_power: ClassVar[int | None] = None

    sensitivity: Fraction
    epsilon: Fraction
    step: Fraction | None

    def __init__(self, *, sensitivity: Number | Sensitivity, epsilon: Number, step: Number | None = None) -> None:
        self._fill(sensitivity=l1_distance(sensitivity), epsilon=parameter(epsilon, "epsilon"), step=step_of(step))
        refuse_below_one_step(self.sensitivity, self.step)
        if self.lattice.whole_steps(self.sensitivity) > LARGEST_SCALE or 1 / self.epsilon > LARGEST_SCALE:
            raise MechanismError("staircase-steps-wrong")
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @cached_property
    def law(self) -> StaircaseLaw:
        """The exact law of the noise, in steps of the lattice."""
        return StaircaseLaw.best(self.epsilon, self.lattice.whole_steps(self.sensitivity))

    @cached_property
    def sampler(self) -> DiscreteStaircase:
        """The exact sampler of that law."""
        return DiscreteStaircase(1 / self.epsilon, self.law.period, self.law.tread)

    def _least_loss(self, keeps: Callable[[Fraction], bool], wish: str) -> Fraction:
        """Return the least loss among those at which treads up to 64 wider than the first found are the best.

        With one tread errors fall as the loss grows, but a narrower tread can raise a quantile.
        """
        found = least_loss(keeps, wish)
        first, widest = self._best_tread(found), self._best_tread(SMALLEST_LOSS)
        edges = [last_loss(partial(self._is_wide, tread), found) for tread in range(first + 1, widest + 1)[:_NEAR]]
        for edge, lower in pairwise([*edges, SMALLEST_LOSS]):
            if keeps(edge):
                found = least_between(keeps, lower, edge)
        return found

    def _best_tread(self, loss: Fraction) -> int:
        return StaircaseLaw.best(loss, self.law.period).tread

    def _is_wide(self, tread: int, loss: Fraction) -> bool:
        return self._best_tread(loss) >= tread

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return integers at several losses and sensitivities, and a real number on a lattice."""
        return (
            *(_one(epsilon, distance) for epsilon in ("1/5", "1", "4") for distance in (1, 5, 12)),
            Specimen(cls(sensitivity=1, epsilon=2, step="1/8"), Adjacency.REPLACE_ONE, ((0.12, 1.12),)),
        )


def _one(epsilon: str, distance: int) -> Specimen:
    pairs = ((0, distance), (distance, 0), (-distance, 0))
    return Specimen(Staircase(sensitivity=distance, epsilon=epsilon), Adjacency.ADD_REMOVE, pairs)
