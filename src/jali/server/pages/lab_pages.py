"""The pages of the lab: made-up bits reconstructed from noisy counts, and audits of what Jali has.

Audits are shown in the auditor's own words. Bounds are cut off, never rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from jali.server.api.lab_routes import (
    compute_epsilon,
    compute_noise,
    describe_law,
    find_noise_range,
    list_audits,
    reconstruct_bits,
    run_audit,
)
from jali.server.dependencies import CurrentState, PageCaller
from jali.server.jobs import Busy
from jali.server.pages.charts import RecoveryCurve, build_recovery_curve
from jali.server.pages.page_forms import CheckedForm
from jali.server.pages.rendering import render_fragment, render_page, wants_fragment
from jali.server.state import AppState

_LOSSES = ("epsilon", "rho", "delta")


@dataclass(frozen=True)
class AuditRow:
    """One line of the list.

    Attributes:
        name: What is audited.
        claims: How many claims it has.
        claimed: The first of them, in words.
        found: The loss that was shown, and of which claim where there are several.
        verdict: In a sentence.
        alarm: Whether a claim was proved false.
        others: What was said of each claim, where there are several.
        tried: Whether it was audited now.
    """

    name: str
    claims: int
    claimed: str
    found: str = ""
    verdict: str = "not tried yet"
    alarm: bool = False
    others: tuple[str, ...] = ()
    tried: bool = False


def build_untried_row(one: dict[str, Any]) -> AuditRow:
    """Return the line of something that was not audited yet."""
    return AuditRow(one["name"], one["claims"], one["such_as"])


def build_audit_row(one: dict[str, Any], document: dict[str, Any]) -> AuditRow:
    """Return the line of what was audited: with the claim that came nearest to being proved false."""
    audits = document["audits"]
    best = max(audits, key=_weigh_audit)
    several = len(audits) > 1
    claim = f" of {best['kind']} {best['claimed']:.6g}" if several else ""
    others = tuple(f"{each['name']}: {each['said']}" for each in audits) if several else ()
    return AuditRow(
        one["name"],
        one["claims"],
        one["such_as"],
        f"{_write_interval(best)}{claim}",
        best["said"],
        document["verdict"] == "violation",
        others,
        tried=True,
    )


def _weigh_audit(document: dict[str, Any]) -> float:
    share = math.inf if document["found"] is None else document["found"] / (document["claimed"] or 1e-9)
    return (1e9 if document["verdict"] == "violation" else 0) + (
        min(share, 1e6) if document["kind"] in _LOSSES else 0
    )


def _write_interval(document: dict[str, Any]) -> str:
    low, high = document["interval"]
    if low is not None and low == high:
        return f"{document['found']:.6g}"
    return f"≥ {cut_digits(document['found'])}"


def cut_digits(value: float | None) -> str:
    """Write a lower bound with three digits, cut off.

    Example:
        >>> cut_digits(0.69999), cut_digits(0.0), cut_digits(None)
        ('0.699', '0', 'everything')
    """
    if value is None:
        return "everything"
    if value <= 0:
        return "0"
    scale = 10.0 ** (2 - math.floor(math.log10(value)))
    return f"{math.floor(value * scale + 1e-9) / scale:.3g}"


router = APIRouter(prefix="/lab")
_JSON_URL = "/api/v1/lab/audits"
# Sliders say logarithms: of people to the base two, of noise and epsilon to the base ten.
People = Annotated[int, Query(ge=2, le=14)]
Power = Annotated[float | None, Query(ge=-10, le=10)]


@router.get("")
async def lab(
    request: Request, _: PageCaller, state: CurrentState, people: People = 10, noise: Power = 1.0
) -> Response:
    """Show the lab."""
    return render_page(
        "lab.html", request, json_url=_JSON_URL, curve=await _build_curve(state, people, noise, None)
    )


@router.get("/curve")
async def curve(
    request: Request,
    _: PageCaller,
    state: CurrentState,
    people: People = 10,
    noise: Power = None,
    loss: Power = None,
) -> Response:
    """Draw what is recovered with a noise, or with that of an epsilon."""
    return render_fragment("curve.html", request, curve=await _build_curve(state, people, noise, loss))


async def _build_curve(state: AppState, people: int, noise: float | None, loss: float | None) -> RecoveryCurve:
    n = 2**people
    wanted = compute_noise(n, 10**loss) if loss is not None else 10 ** (1.0 if noise is None else noise)
    low, high = find_noise_range(n)
    stddev = min(max(wanted, low), high)
    losses = [compute_epsilon(n, end) or 0.0 for end in (high, low)]
    try:
        document = await state.jobs.run_lab(partial(reconstruct_bits, n, stddev), most=32)
    except Busy:
        document = describe_law(n, stddev)
    return build_recovery_curve(people, document, (low, high), (losses[0], losses[1]))


@router.get("/audits")
async def audits(request: Request, _: PageCaller, state: CurrentState) -> Response:
    """List what can be audited: the first time this takes a while, so that the script fetches it."""
    rows = [build_untried_row(one) for one in await state.jobs.run_without_data(list_audits)]
    return _show_audits(request, rows)


@router.get("/audits/{name}")
async def back(_: PageCaller) -> Response:
    """Lead whoever loads the address of a form again to the list."""
    return RedirectResponse("/lab/audits", 303)


@router.post("/audits/{name}")
async def audit(request: Request, name: str, _: PageCaller, state: CurrentState, __: CheckedForm) -> Response:
    """Try for a few seconds to prove the claims of a name false."""
    document = await run_audit(state, name)
    known = await state.jobs.run_without_data(list_audits)
    rows = [
        build_audit_row(one, document) if one["name"].casefold() == name.casefold() else build_untried_row(one)
        for one in known
    ]
    if wants_fragment(request):
        return render_fragment("audit.html", request, one=next(row for row in rows if row.tried))
    return _show_audits(request, sorted(rows, key=lambda row: not row.tried))


def _show_audits(request: Request, rows: list[AuditRow]) -> Response:
    if wants_fragment(request):
        return render_fragment("audits.html", request, audits=rows)
    return render_page("audits_page.html", request, json_url=_JSON_URL, audits=rows)
