"""Share what oracles have in common: a secret to mark guesses by, and a ledger or none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.oracle import Refusal, Spent, Values
from jali.lab.attacks.oracles.protected_table import write_count
from jali.privacy import Adjacency

if TYPE_CHECKING:
    from jali.lab.attacks.attack_base import Progress
    from jali.lab.attacks.noise_models import Noise
    from jali.lab.attacks.oracles.generated_secrets import GroupSeats, Secret, VictimTable
    from jali.lab.attacks.oracles.protected_table import ProtectedTable


class SecretOracle:
    """Holds a secret of one bit for each person, and marks guesses of it."""

    if TYPE_CHECKING:

        @property
        def secret(self) -> Secret:
            """The bits."""

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.secret.bits)

    @property
    def prior(self) -> float:
        """The probability that a bit is 1."""
        return self.secret.prior

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self.secret.mark(guess)


class VictimOracle(SecretOracle):
    """Asks about a table of victims and their companions."""

    if TYPE_CHECKING:

        @property
        def crowd(self) -> VictimTable:
            """The table."""

    @property
    def secret(self) -> Secret:
        """The trait of the victims."""
        return self.crowd.secret

    @property
    def victim_columns(self) -> Values:
        """What the attacker knows of the victims."""
        return self.crowd.victim_columns


class SeatedOracle(SecretOracle):
    """Asks about the attributes of a group whose seats have two candidates each."""

    if TYPE_CHECKING:

        @property
        def seats(self) -> GroupSeats:
            """The candidates and who of them sits."""

    @property
    def secret(self) -> Secret:
        """Which of the two candidates sits in each seat."""
        return self.seats.secret

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population."""
        return self.seats.frequencies

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat."""
        return self.seats.candidates

    def split_scores(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        return self.seats.split_scores(scores)


class UnprotectedOracle:
    """Promises nothing, counts no loss and never refuses."""

    @property
    def adjacency(self) -> Adjacency | None:
        """None: no loss is counted."""
        return None

    def spent(self) -> Spent | None:
        """Return None: no loss is counted."""
        return None

    def refusal(self) -> Refusal | None:
        """Return None: every question is answered."""
        return None


class ProtectedOracle:
    """Asks a table that Jali protects, with its ledger or without."""

    if TYPE_CHECKING:

        @property
        def table(self) -> ProtectedTable:
            """The table under Jali's protection."""

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self.table.promise)

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency in which the loss is counted."""
        return self.table.promise.adjacency

    @property
    def noise(self) -> Noise:
        """The law of the noise in the first number of an answer."""
        return self.table.noise(next(iter(self.list_further_questions())))

    def spent(self) -> Spent | None:
        """Return the loss that the ledger counts."""
        return self.table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self.table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Report to `progress` how many questions are answered."""
        self.table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where the ledger refused; if it has not, ask further questions to find out."""
        return self.table.refusal(self.list_further_questions())

    def list_further_questions(self) -> Iterable[str]:
        """Return questions that are asked to meet the refusal when the attack is over."""
        return [write_count("TRUE")]
