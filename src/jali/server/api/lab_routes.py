"""Routes of the lab: bits of made-up people reconstructed from noisy counts, and audits of what Jali has."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from jali.errors import CatalogError
from jali.server.dependencies import CurrentState
from jali.server.http_errors import refuse_not_found
from jali.server.state import AppState

router = APIRouter(prefix="/lab", tags=["lab"])
_MOST_PEOPLE = 1 << 14
_MOST_NOISE, _SECONDS = 1e6, 3.0
People = Annotated[int, Query(ge=4, le=_MOST_PEOPLE, description="A power of two.")]


@router.get("/reconstruction")
async def reconstruction(
    state: CurrentState,
    n: People = 1024,
    noise: Annotated[
        float | None, Query(ge=0, le=_MOST_NOISE, description="The noise's standard deviation.")
    ] = None,
    epsilon: Annotated[
        float | None, Query(ge=1e-6, le=1e4, description="The total privacy loss of all answers.")
    ] = None,
) -> dict[str, Any]:
    """Reconstruct synthetic bits from n noisy counts: the measured share, and the predicted one for every noise.

    Give the noise, or an epsilon that n counts spend together.
    """
    if n & (n - 1):
        raise CatalogError("lab-people-not-a-power", n=n)
    stddev = min(
        _MOST_NOISE, noise if noise is not None else compute_noise(n, 1.0 if epsilon is None else epsilon)
    )
    return await state.jobs.run_lab(partial(reconstruct_bits, n, stddev), most=32)


def compute_noise(n: int, epsilon: float) -> float:
    """Return the standard deviation of discrete Laplace noise on each of n counts that spend epsilon together."""
    a = math.exp(-epsilon / n)
    return math.sqrt(2 * a) / (1 - a)


def compute_epsilon(n: int, stddev: float) -> float | None:
    """Return the epsilon that n counts with such noise spend together; None where there is none."""
    if stddev <= 0:
        return None
    # stddev^2 = 2a / (1 - a)^2, solved for a below 1.
    v = stddev * stddev
    a = (v + 1 - math.sqrt(2 * v + 1)) / v
    return None if a <= 0 else -n * math.log(a)


def reconstruct_bits(n: int, stddev: float) -> dict[str, Any]:
    """Attack made-up people, and return what was recovered beside what the law says."""
    from jali.lab.attacks import Hadamard, simulator

    noise = f"gaussian:{stddev:g}" if stddev >= 1e-3 else "none"
    result = Hadamard().run(simulator(n=n, noise=noise))
    return describe_law(n, stddev) | {"fraction": result.fraction, "interval": list(result.interval)}


def describe_law(n: int, stddev: float) -> dict[str, Any]:
    """Return what the law says, without an attack."""
    return {
        "n": n,
        "noise": stddev,
        "epsilon": compute_epsilon(n, stddev),
        "fraction": None,
        "interval": None,
        "baseline": 0.5,
        "law": predict_recovery(n, stddev),
        "sqrt_n": math.sqrt(n),
        "curve": [[x, predict_recovery(n, x)] for x in _list_noises(n)],
    }


def predict_recovery(n: int, stddev: float) -> float:
    """Return the share of bits that Hadamard's questions recover: Phi(sqrt(n) / (4 stddev))."""
    return 1.0 if stddev <= 0 else 0.5 * (1 + math.erf(math.sqrt(n) / (4 * stddev) / math.sqrt(2)))


def _list_noises(n: int) -> list[float]:
    """Return noises between the ends, evenly by their logarithms."""
    low, high = (math.log(end) for end in find_noise_range(n))
    return [math.exp(low + (high - low) * i / 80) for i in range(81)]


def find_noise_range(n: int) -> tuple[float, float]:
    """Return the noises between which the law is told: a hundredth of sqrt(n), and ten times n."""
    return math.sqrt(n) / 100, 10.0 * n


@router.get("/audits")
async def audits(state: CurrentState) -> dict[str, Any]:
    """List what can be audited: mechanisms, streams, aggregates and sessions, with their number of claims."""
    return {"audits": await state.jobs.run_without_data(list_audits)}


@lru_cache(maxsize=1)
def list_audits() -> list[dict[str, Any]]:
    """Return the names that can be audited."""
    from jali.lab.audit.subjects.subject_registry import list_entries

    groups: dict[str, list[str]] = {}
    for one in list_entries():
        groups.setdefault(one.group, []).append(f"{one.claim.event} ({one.adjacency.value})")
    return [{"name": name, "claims": len(claims), "such_as": claims[0]} for name, claims in groups.items()]


@router.post("/audits/{name}")
async def audit(name: str, state: CurrentState) -> dict[str, Any]:
    """Audit the privacy claims of a subject for a few seconds; return the tests and the lower bounds."""
    return await run_audit(state, name)


async def run_audit(state: AppState, name: str) -> dict[str, Any]:
    """Audit a name, where there is room; refuse one that there is not."""
    known = await state.jobs.run_without_data(list_audits)
    if name.casefold() not in {one["name"].casefold() for one in known}:
        raise refuse_not_found("audit of this name")
    return await state.jobs.run_lab(partial(audit_claims, name))


def audit_claims(name: str) -> dict[str, Any]:
    """Audit a name for a few seconds."""
    from jali.lab.audit.runner import audit_all
    from jali.lab.audit.subject import Effort
    from jali.lab.audit.subjects.subject_registry import find_subjects

    made = audit_all(find_subjects(name), Effort(20_000), seconds=_SECONDS, brief=True)
    document: dict[str, Any] = made.to_dict()
    return {"name": name} | document
