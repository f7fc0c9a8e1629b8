"""The table of the attack on sticky noise under Jali's protection: noise is drawn anew, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.attack import Progress
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.crowd import Crowd
from jali.attacks.oracles.held import Held
from jali.attacks.oracles.people import People
from jali.attacks.oracles.phrases import count_of
from jali.attacks.oracles.promise import Promise
from jali.attacks.records import Conditions, Values
from jali.attacks.setting import Setting
from jali.privacy import Adjacency


@dataclass(frozen=True, eq=False)
class ProtectedRecords:
    """Asks Jali how many people meet conditions."""

    crowd: Crowd
    table: Held

    @classmethod
    def of(cls, setting: Setting, columns: int) -> ProtectedRecords:
        """Draw a table, and protect it."""
        crowd = Crowd.drawn(setting.n, columns, np.random.default_rng(setting.seed))
        people = People({f"c{place}": column.tolist() for place, column in enumerate(crowd.rows.T.astype(str))})
        return cls(crowd, Held(people, Promise.under(setting), questions=2 * columns * setting.n))

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self.table.promise)

    @property
    def n(self) -> int:
        """How many victims there are."""
        return len(self.known)

    @property
    def prior(self) -> float:
        """The probability of the trait."""
        return self.crowd.secret.prior

    @property
    def noise(self) -> Noise:
        """The law of a count's noise."""
        return self.table.noise(count_of("TRUE"))

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the table."""
        return self.table.promise.adjacency

    @property
    def known(self) -> Values:
        """What the attacker knows of the victims."""
        return self.crowd.known

    def ask(self, questions: Sequence[Conditions]) -> Doubles:
        """Answer questions until it refuses."""
        return self.table.counts(count_of(" AND ".join(map(str, conditions))) for conditions in questions)

    def spent(self) -> Spent | None:
        """Return what the ledger counts."""
        return self.table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self.table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Tell somebody how many questions are answered."""
        self.table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where it refuses."""
        return self.table.refusal([count_of("TRUE")])

    def mark(self, guess: Bits) -> int:
        """Return how many traits of a guess are right."""
        return self.crowd.secret.mark(guess)
