"""Which randomizer to take: the one whose estimates have the least variance."""

from __future__ import annotations

from jali.local.hadamard import HadamardResponse
from jali.local.kary import KaryResponse
from jali.local.randomizer import Randomizer
from jali.local.subset import SubsetSelection
from jali.local.unary import UnaryEncoding
from jali.local.warner import Warner
from jali.mechanisms.mechanism import natural
from jali.privacy.rationals import Number

# Variances that differ by rounding only are equal; of equals, the first is taken: its reports are the shortest.
_EQUAL = 1e-12


def local_candidates(categories: int, epsilon: Number) -> tuple[Randomizer, ...]:
    """Return all randomizers for so many categories at a loss, from the least variance of a rare category up.

    Example:
        >>> [type(mechanism).__name__ for mechanism in local_candidates(8, 1)]
        ['SubsetSelection', 'KaryResponse', 'UnaryEncoding', 'HadamardResponse']
    """
    several = (KaryResponse, SubsetSelection, UnaryEncoding, HadamardResponse)
    made: list[Randomizer] = [kind(categories=categories, epsilon=epsilon) for kind in several]
    if natural(categories, "categories", least=2) == 2:
        made[0] = Warner(epsilon=epsilon)
    least = min(mechanism.variance() for mechanism in made)
    return tuple(sorted(made, key=lambda mechanism: _rank(mechanism.variance(), least)))


def best_local(categories: int, epsilon: Number) -> Randomizer:
    """Return the randomizer with the least variance of a rare category's frequency.

    Subset selection is never worse than `KaryResponse`, which it is when it names a single category; then the
    plainer one is returned, and `Warner` for yes/no questions.

    Args:
        categories: How many there are.
        epsilon: The loss of one person's report.

    Example:
        >>> best_local(8, 1)
        SubsetSelection(categories=8, epsilon=1)
        >>> best_local(3, 2)
        KaryResponse(categories=3, epsilon=2)
        >>> best_local(2, 1)
        Warner(epsilon=1)
    """
    return local_candidates(categories, epsilon)[0]


def _rank(variance: float, least: float) -> float:
    return least if variance <= least * (1 + _EQUAL) else variance
