"""A generated table in which everybody who is attacked is alone, and nobody else is missed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.oracles.secret import Secret
from jali.attacks.records import Values
from jali.errors import CatalogError

# The count of a question is some half of them, so that rules against small counts would not be met.
_COMPANIONS = 24


@dataclass(frozen=True, eq=False)
class Crowd:
    """Victims, and for each of them and each column people who share all of the victim's columns but that one.

    It is the best case for the attacker: a victim is alone with their columns, no count is small without them, and
    no two victims meet in a question.

    Attributes:
        rows: The columns and last the trait; the victims come first.
        secret: The trait of the victims.
    """

    rows: Values
    secret: Secret

    @classmethod
    def drawn(cls, n: int, columns: int, random: np.random.Generator) -> Crowd:
        """Draw the traits of n victims and of their companions."""
        if columns < 1:
            raise CatalogError("attack-table-too-narrow", columns=columns)
        secret = Secret.drawn(n, random)
        victims = np.repeat(np.arange(n)[:, None], columns, axis=1)
        companions = np.repeat(victims, columns * _COMPANIONS, axis=0)
        # The column in which a companion is somebody else: a value that no victim has.
        companions[np.arange(len(companions)), np.arange(len(companions)) % columns] = n
        traits = np.concatenate([secret.bits, random.integers(0, 2, len(companions))])
        return cls(np.column_stack([np.concatenate([victims, companions]), traits]), secret)

    @property
    def known(self) -> Values:
        """The columns of the victims."""
        return self.rows[: len(self.secret.bits), :-1]
