"""What an audit says: a verdict, the loss it found, and a witness that can be checked by hand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.audit.events.event import Event


class Verdict(StrEnum):
    """The outcome of an audit."""

    VIOLATION = "violation"
    NOTHING_FOUND = "nothing found"


@dataclass(frozen=True)
class Witness:
    """Neighbouring inputs, and the output, Rényi order, epsilon or event at which the loss was found.

    Attributes:
        inputs: The neighbours; the first is the one under which the event is likelier.
        at: An output, an order or an epsilon, for exact findings.
        event: The event, for sampled ones.
        hits: How often it occurred under each input, of how many runs each.
        runs: See above.
        steps: How many neighbours the inputs are apart, if they are not neighbours themselves.
    """

    inputs: tuple[Any, Any]
    at: Any = None
    event: Event | None = None
    hits: tuple[int, int] = (0, 0)
    runs: tuple[int, int] = (0, 0)
    steps: int = 1

    def __str__(self) -> str:
        where = f"at {_short(self.at)}" if self.event is None else f"event: {self.event}"
        apart = "" if self.steps == 1 else f"{self.steps} neighbours apart, "
        return f"inputs {self.inputs}, {apart}{where}"


@dataclass(frozen=True)
class Finding:
    """The result of auditing one claim in one way.

    Attributes:
        name: The mechanism.
        adjacency: The adjacency in which the claim is meant.
        kind: `epsilon`, `rho` or `delta`; or, for what is no loss, `distance` (from the stated law), `sensitivity`
            or `spent`.
        claimed: The claimed loss.
        found: A lower bound on the true loss.
        witness: Where it was found.
        verdict: Whether the claim is refuted; of the kind `distance`, whether the stated law is.
        tester: The stage that found it.
        confidence: The probability with which such a bound is true; 1 for exact probabilities.
        samples: How many outputs were drawn in all; 0 for exact probabilities.
        needed: About how many would prove a violation, if what the sample suggests is true; None if it suggests
            none, or if it is proved.
        tried: What was tried, in a few words.
    """

    name: str
    adjacency: str
    kind: str
    claimed: float
    found: float
    witness: Witness
    verdict: Verdict
    tester: str = "exact"
    confidence: float = 1.0
    samples: int = 0
    needed: int | None = None
    tried: str = ""

    def __str__(self) -> str:
        where = str(self.witness)
        if self.kind == "distance" and self.verdict is Verdict.VIOLATION:
            return f"{self.name}: outputs are not of the stated law, by {self.found:g} at least ({where})"
        if self.verdict is Verdict.VIOLATION:
            return f"{self.name}: claims {self.kind} {self.claimed:g}, loses {self.found:g} ({where})"
        tried = f"no violation found up to {self.kind} {self.found:g} of {self.claimed:g} claimed"
        return f"{self.name}: {tried} ({where}, {self.adjacency})"


def _short(at: Any) -> str:
    return f"{at:g}" if isinstance(at, int | float) else str(at)
