"""Run every attack against everything that it can be pointed at, in a minute or two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jali.lab.attacks.attack_base import Progress, silent
from jali.lab.attacks.attack_result import Result
from jali.lab.attacks.staging import OPPONENTS, attacks, stage
from jali.privacy.rationals import Number


@dataclass(frozen=True)
class TourStop:
    """One attack of a tour.

    Attributes:
        against: What was attacked: "simulator", "jali" or "unledgered".
        result: The outcome.
    """

    against: str
    result: Result


@dataclass(frozen=True, repr=False)
class Tour:
    """What all attacks achieved.

    Attributes:
        stops: One for each attack and each opponent.
    """

    stops: tuple[TourStop, ...]

    def __repr__(self) -> str:
        return f"Tour({len(self.stops)} stops)"

    def __str__(self) -> str:
        from jali.lab.attacks.attack_report import write_tour

        return write_tour(self)

    @property
    def seconds(self) -> float:
        """How long all attacks took."""
        return sum(stop.result.seconds for stop in self.stops)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the bits as plain numbers and texts."""
        results = [{"opponent": stop.against} | stop.result.to_dict() for stop in self.stops]
        return {"seconds": self.seconds, "results": results}

    def plot(self, axes: Any = None) -> Any:
        """Draw what every attack got right, and return the axes (needs matplotlib)."""
        from jali.lab.attacks.attack_plots import attack_tour

        return attack_tour(self, axes=axes)


def list_left_out() -> tuple[str, ...]:
    """Return the attacks of which a tour shows nothing: those on a log, which is somebody else's."""
    return tuple(name for name, kind in sorted(attacks().items()) if not set(kind.against) & set(OPPONENTS))


def stops() -> Iterator[tuple[str, str]]:
    """Return every attack with every opponent it knows; logs of others are not part of the lab."""
    return ((name, foe) for name, kind in sorted(attacks().items()) for foe in OPPONENTS if foe in kind.against)


def run_tour(*, epsilon: Number = 1, seed: int | None = None, progress: Progress = silent) -> Tour:
    """Run every attack as the lab shows it: against a simulator, Jali, and Jali without a ledger.

    Args:
        epsilon: The budget of Jali's ledger.
        seed: Where secrets, questions and simulated noise come from.
        progress: Is told what is at work.
    """
    made = []
    for name, foe in stops():
        told = _prefix_progress(progress, f"{name} against {foe}")
        budget = None if foe == "simulator" else epsilon
        made.append(TourStop(foe, stage(name, against=foe, epsilon=budget, seed=seed).run(progress=told)))
    return Tour(tuple(made))


def _prefix_progress(progress: Progress, where: str) -> Progress:
    progress(where)
    return lambda stage: progress(f"{where}: {stage}")
