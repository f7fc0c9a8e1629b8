"""Attacks on a secret column by counts over subsets of the people."""

from __future__ import annotations

from typing import ClassVar

from jali.attacks.attack import Attack
from jali.attacks.opponents import counting
from jali.attacks.oracle import Oracle
from jali.attacks.setting import Setting


class Reconstruction(Attack[Oracle]):
    """An attack that asks an `Oracle` for counts."""

    attacks: ClassVar[str] = "counts of people"

    def opponent(self, setting: Setting) -> Oracle:
        """Make what is attacked, with a secret of its own."""
        return counting(setting)
