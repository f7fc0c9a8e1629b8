"""What is attacked: an agency that publishes tables about a block."""

from __future__ import annotations

from typing import Protocol

from jali.attacks.oracle import Opponent
from jali.attacks.tables.cells import Release


class Agency(Opponent, Protocol):
    """Holds the people of a block, and publishes tables about them.

    Its secret is a code for each person (see `people`). A guess is as many codes, in any order; of each
    combination as many are right as are in both. `prior` is the share that can be right without a release.
    """

    def publish(self) -> Release:
        """Publish the tables: all of them, or the first ones if a budget refuses the others."""
