"""Choose the mechanism that answers a workload with the least error, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.mechanisms.workloads.factorization import Factorization
from jali.mechanisms.workloads.hierarchy import Hierarchy
from jali.mechanisms.workloads.linear_release import WorkloadMechanism, read_public_total
from jali.mechanisms.workloads.noisy_answers import CubeAnswers, NoisyAnswers
from jali.mechanisms.workloads.noisy_cells import ConditionedCells, NoisyCells
from jali.mechanisms.workloads.planned_marginals import PlannedMarginals
from jali.mechanisms.workloads.workload import IntervalWorkload, Marginals, Thresholds, Workload, read_workload
from jali.privacy.adjacency import Adjacency
from jali.privacy.conversions import largest_rho
from jali.privacy.rationals import Number

# Noise on so many answers at once can still be drawn and held.
_MANY_ANSWERS = 1 << 22
_MANY_IN_A_CUBE = 10_000
_OPTIMAL_CELLS = 128


@dataclass(frozen=True)
class WorkloadAlternative:
    """One way to answer a workload, with its forecast errors.

    Attributes:
        name: What it does.
        mechanism: The mechanism.
        rms: The root of the mean squared error of an answer.
        largest: The largest standard deviation of an answer; None where there are too many answers to look.
    """

    name: str
    mechanism: WorkloadMechanism
    rms: float
    largest: float | None

    @classmethod
    def of(cls, name: str, mechanism: WorkloadMechanism) -> WorkloadAlternative:
        """Forecast a mechanism."""
        few = mechanism.workload.size <= _MANY_ANSWERS
        return cls(name, mechanism, mechanism.rms, mechanism.largest if few else None)


@dataclass(frozen=True, repr=False)
class Alternatives:
    """The mechanism with the least forecast error, and all that it was compared with.

    Attributes:
        alternatives: All ways that were compared, the best first.
    """

    alternatives: tuple[WorkloadAlternative, ...]

    @property
    def mechanism(self) -> WorkloadMechanism:
        """The best mechanism."""
        return self.alternatives[0].mechanism

    def __repr__(self) -> str:
        rows = [
            ("", "rms error", "largest"),
            *((a.name, f"{a.rms:.6g}", _format_error(a.largest)) for a in self.alternatives),
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(f"{name:<{widths[0]}}  {rms:>{widths[1]}}  {top:>{widths[2]}}" for name, rms, top in rows)


def best_for(
    workload: Workload,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    adjacency: str | Adjacency,
    total: int | None = None,
    by: str = "rms",
) -> Alternatives:
    """Compare the forecast errors of all mechanisms that can answer a workload within a loss.

    Args:
        workload: What is asked.
        epsilon: The loss, pure; with a `delta` Gaussian noise is compared too. Or else
        rho: The loss, in zCDP: Gaussian noise.
        delta: The delta at which Gaussian noise may spend epsilon.
        adjacency: When two histograms are neighbours.
        total: The number of people, where it is public (replace-one).
        by: "rms" or "largest": which error decides.

    Example:
        >>> choice = best_for(Thresholds(8), epsilon=1, adjacency="replace-one", total=100)
        >>> [alternative.name for alternative in choice.alternatives][:2]
        ['conditioned noise on the cells', 'noise on the cells']
    """
    relation = Adjacency.of(adjacency)
    case = _Case(read_workload(workload), relation, read_public_total(total, relation))
    if by not in {"rms", "largest"}:
        raise MechanismError("strategy-goal-unknown", by=by)
    pure, concentrated = _read_losses(epsilon, rho, delta)
    found = [WorkloadAlternative.of(*each) for loss in (pure, concentrated) for each in case.list_ways(**loss)]
    return Alternatives(tuple(sorted(found, key=lambda a: a.rms if by == "rms" else _replace_none(a.largest))))


@dataclass(frozen=True)
class _Case:
    """What is asked, and about what."""

    workload: Workload
    adjacency: Adjacency
    total: int | None

    def list_ways(self, **loss: Any) -> Iterator[tuple[str, WorkloadMechanism]]:
        """Yield the mechanisms for a pure loss or for zCDP; nothing if there is no loss."""
        if not loss:
            return
        workload, adjacency, total = self.workload, self.adjacency, self.total
        kind = "" if "epsilon" in loss else "Gaussian "
        about: Any = {"adjacency": adjacency, "total": total}
        if workload.size <= _MANY_ANSWERS:
            yield f"{kind}noise on the answers", NoisyAnswers(workload=workload, **about, **loss)
        yield f"{kind}noise on the cells", NoisyCells(workload=workload, **about, **loss)
        if isinstance(workload, IntervalWorkload):
            yield f"{kind}hierarchy", Hierarchy(workload=workload, **about, **loss)
        yield from self._list_pure(**loss) if "epsilon" in loss else self._list_concentrated(**loss)

    def _list_pure(self, epsilon: Fraction) -> Iterator[tuple[str, WorkloadMechanism]]:
        workload = self.workload
        if 2 <= workload.size <= _MANY_IN_A_CUBE:
            noise = CubeAnswers(workload=workload, epsilon=epsilon, adjacency=self.adjacency, total=self.total)
            yield "l-infinity noise on the answers", noise
        if self.total is not None and workload.cells >= 2 and workload.size <= _MANY_ANSWERS:
            yield "conditioned noise on the cells", ConditionedCells(workload=workload, epsilon=epsilon)

    def _list_concentrated(self, rho: Fraction) -> Iterator[tuple[str, WorkloadMechanism]]:
        workload, adjacency, total = self.workload, self.adjacency, self.total
        if isinstance(workload, Thresholds) or (
            isinstance(workload, IntervalWorkload) and workload.cells <= _OPTIMAL_CELLS
        ):
            yield "factorization", Factorization(workload=workload, rho=rho, adjacency=adjacency, total=total)
        if isinstance(workload, Marginals):
            yield (
                "planned marginals",
                PlannedMarginals(workload=workload, rho=rho, adjacency=adjacency, total=total),
            )


def _read_losses(
    epsilon: Number | None, rho: Number | None, delta: Number | None
) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Read what may be spent as a pure loss, and what as zCDP."""
    if (epsilon is None) == (rho is None):
        raise MechanismError("epsilon-or-rho")
    if rho is not None:
        if delta is not None:
            raise MechanismError("delta-with-rho")
        return {}, {"rho": read_parameter(rho, "rho")}
    pure = read_parameter(epsilon, "epsilon")  # type: ignore[arg-type]
    if delta is None:
        return {"epsilon": pure}, {}
    failing = read_parameter(delta, "delta")
    if failing >= 1:
        raise MechanismError("parameter-not-below-one", value=delta, name="delta")
    return {"epsilon": pure}, {"rho": largest_rho(pure, failing)}


def _format_error(error: float | None) -> str:
    return "" if error is None else f"{error:.6g}"


def _replace_none(error: float | None) -> float:
    return math.inf if error is None else error
