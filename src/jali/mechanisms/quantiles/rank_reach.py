"""How far one person can move the distances of a weighted quantile."""

from __future__ import annotations

from fractions import Fraction

from jali.mechanisms.mechanism import natural, parameter
from jali.mechanisms.quantiles.readers import quantile_of
from jali.privacy.rationals import Number


def rank_reach(at: Number, reach: Number, changes: int, *, groups: int) -> Fraction:
    """Return the sensitivity of a weighted quantile's distances, over all groups together.

    Args:
        at: Which quantile, from 0 to 1.
        reach: What one person's rows weigh together at most, over all groups.
        changes: How many vectors of rows, each within the reach, are added or removed between neighbours: 1 where
            a person is added or removed, 2 where one is replaced or an outer join moves what remains, 4 for both.
        groups: Into how many disjoint groups the rows fall that each get a quantile of their own.

    Guarantee:
        Between neighbours the distances of all marks of group g move by at most some D_g, and the sum of the D_g
        is at most the returned number: changes * reach * max(at, 1 - at). In one group a vector that replaces
        another pulls the target along, and a pair of changes is worth one reach.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 1.

    Example:
        >>> rank_reach("1/4", 8, 1, groups=1), rank_reach("1/4", 8, 2, groups=1), rank_reach("1/4", 8, 2, groups=3)
        (Fraction(6, 1), Fraction(8, 1), Fraction(12, 1))
    """
    share, weight = quantile_of(at, "at"), parameter(reach, "reach")
    return share_reach(share, weight, natural(changes, "changes"), alone=natural(groups, "groups") == 1)


def share_reach(share: Fraction, reach: Fraction, changes: int, *, alone: bool) -> Fraction:
    """Return the same for a share as it is, where the group is alone or one of several."""
    larger = max(share, 1 - share)
    if not alone:
        return changes * reach * larger
    pairs, single = divmod(changes, 2)
    return reach * (pairs + single * larger)
