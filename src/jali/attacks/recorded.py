"""Oracles that were asked before: their questions are given."""

from __future__ import annotations

from jali.attacks.oracle import Oracle
from jali.attacks.subsets.subsets import Subsets


def recorded(oracle: Oracle) -> Subsets | None:
    """Return the questions of an oracle that answers no others, which it calls `asked`; None for any other oracle.

    An attack that can use any questions takes these.
    """
    asked = getattr(oracle, "asked", None)
    return asked if isinstance(asked, Subsets) else None
