"""Report noisy max, with exponential, Gumbel or Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import Specimen
from jali.mechanisms.selection.exponential import Exponential, draw_exponential
from jali.mechanisms.selection.laplace_race import laplace_race_law, missing_laplace
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.selection.quadrature import on_panels
from jali.mechanisms.selection.race import Race
from jali.mechanisms.selection.scores import Exponents
from jali.mechanisms.selection.selection import EvenSelection, Places
from jali.mechanisms.selection.specimens import even_specimens
from jali.mechanisms.selection.worst_case import largest
from jali.mechanisms.sensitivity import Sensitivity
from jali.noise import BitSource
from jali.noise.doubles import Doubles
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number

Noise = Literal["exponential", "gumbel", "laplace"]


@dataclass(frozen=True, repr=False, init=False)
class NoisyMax(EvenSelection):
    """Add real noise of scale 2 sensitivity/epsilon to every score and report the index of the largest.

    Args:
        sensitivity: How far one score moves between neighbours at most: a number, or a `Sensitivity`, whose
            l_infinity distance and adjacency are used.
        epsilon: The loss.
        noise: "exponential" (the law of permute-and-flip), "gumbel" (the law of the exponential mechanism) or
            "laplace" (the one of the textbooks).
        monotone: Whether all scores move the same way between neighbours, as counts do when one unit is added or
            removed; then the scale is sensitivity/epsilon. Only under "add-remove".
        adjacency: When two tables are neighbours; needed for monotone scores.
        step: Round real scores to multiples of this; without it scores must be exact.

    Guarantee:
        The index is epsilon-DP for scores that each move by `sensitivity` at most. With Gumbel noise it is of
        bounded range besides; with the others it is not. The noise is real, not discrete: ties have probability 0.
    Proof:
        docs/proofs/noisy_max.md, after Dwork and Roth 2014, Claim 3.9, and Ding et al. 2021.

    Error:
        The worst case has all others equally far below the best: with exponential and Gumbel noise the laws of
        `PermuteAndFlip` and `Exponential`; with Laplace noise the same by quadrature. The largest of d exponential
        noises has the expectation scale * (1 + 1/2 + ... + 1/d). Errors grow with the number of candidates:
        without `candidates=`, `error(confidence)` is about two of them.

    Example:
        >>> from jali.mechanisms import NoisyMax
        >>> mechanism = NoisyMax(sensitivity=1, epsilon=1, noise="laplace")
        >>> mechanism.release([3, 1, 2, 0]) in range(4)
        True
        >>> mechanism.probabilities([1, 0]).round(8).tolist()
        [0.62091834, 0.37908166]
    """

    noise: Noise

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        noise: Noise = "exponential",
        monotone: bool = False,
        adjacency: str | Adjacency | None = None,
        step: Number | None = None,
    ) -> None:
        super().__init__(
            sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, adjacency=adjacency, step=step
        )
        if noise not in get_args(Noise):
            raise MechanismError("selection-noise-unknown", noise=noise)
        self._fill(noise=noise)

    @property
    def loss(self) -> Loss:
        """Epsilon: pure, and with Gumbel noise as a range of losses."""
        return BoundedRange(self.epsilon) if self.noise == "gumbel" else Pure(self.epsilon)

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Draw `size` independent choices: by a race or, with Gumbel noise, by the law it is known to have."""
        if self.noise == "gumbel":
            return draw_exponential(exponents, size, bits)
        return Race(two_sided=self.noise == "laplace").draw(exponents, size, bits)

    def log_law(self, x: Doubles) -> Doubles:
        """Return the logarithms of the probabilities of all candidates with the given exponents."""
        return laplace_race_law(x) if self.noise == "laplace" else self._twin.log_law(x)

    def worst_tail(self, x: float, candidates: int) -> float:
        """Return the chance to miss the best if all others are x scales below it: the worst case."""
        return missing_laplace(x, candidates) if self.noise == "laplace" else self._twin.worst_tail(x, candidates)

    def worst_mean(self, candidates: int) -> float:
        """Return the largest expected distance in scales.

        For Laplace noise and more than two candidates it is a bound, the integral of the worst tail.
        """
        if self.noise != "laplace":
            return self._twin.worst_mean(candidates)
        if candidates <= 2:
            return largest(lambda x: x * missing_laplace(x, candidates), 10)
        x, log_weights = on_panels(np.linspace(0, 50 + 2 * math.log(candidates), 64), 12)
        return math.fsum(
            math.exp(w) * missing_laplace(gap, candidates) for gap, w in zip(x, log_weights, strict=True)
        )

    @property
    def _twin(self) -> EvenSelection:
        """The mechanism with the same law."""
        kind = Exponential if self.noise == "gumbel" else PermuteAndFlip
        return kind(sensitivity=self.sensitivity, epsilon=self.epsilon)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small histograms and a candidate far behind, for each noise; Laplace noise nears its loss."""
        return tuple(
            replace(specimen, tight=noise != "laplace")
            for noise in get_args(Noise)
            for specimen in even_specimens(cls, noise=noise)
        )
