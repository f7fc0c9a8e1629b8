"""What an audit says: a verdict, the loss it found, and a witness that can be checked by hand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """The outcome of an audit."""

    VIOLATION = "violation"
    NOTHING_FOUND = "nothing found"


@dataclass(frozen=True)
class Witness:
    """Neighbouring inputs and the output, Rényi order or epsilon at which the loss was found."""

    inputs: tuple[Any, Any]
    at: Any


@dataclass(frozen=True)
class Finding:
    """The result of auditing one claim.

    Attributes:
        name: The mechanism.
        adjacency: The adjacency in which the claim is meant.
        kind: `epsilon`, `rho` or `delta`.
        claimed: The claimed loss.
        found: A lower bound on the true loss, from exact probabilities.
        witness: Where it was found.
        verdict: Whether the claim is refuted.
    """

    name: str
    adjacency: str
    kind: str
    claimed: float
    found: float
    witness: Witness
    verdict: Verdict

    def __str__(self) -> str:
        where = f"inputs {self.witness.inputs}, at {_short(self.witness.at)}"
        if self.verdict is Verdict.VIOLATION:
            return f"{self.name}: claims {self.kind} {self.claimed:g}, loses {self.found:g} ({where})"
        tried = f"no violation found up to {self.kind} {self.found:g} of {self.claimed:g} claimed"
        return f"{self.name}: {tried} ({where}, {self.adjacency})"


def _short(at: Any) -> str:
    return f"{at:g}" if isinstance(at, int | float) else str(at)
