"""Routes of administration: access tokens, the audit log, the caller's identity, health and metrics."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, Response

from jali.client.account_documents import encode_token
from jali.server.auth import Caller
from jali.server.dependencies import CREDENTIALS, CURATORS, AnyCaller, Curator, CurrentState
from jali.server.http_errors import refuse_not_found
from jali.server.schemas import REFUSED, Responses, TokenForm
from jali.server.state import AppState

router = APIRouter()


@router.get("/me", tags=["people"])
async def me(caller: AnyCaller) -> dict[str, Any]:
    """Return your name and role."""
    return {"name": caller.name, "role": caller.role.value, "token": caller.token}


@router.get("/tokens", tags=["curator"], dependencies=CURATORS)
async def tokens(state: CurrentState) -> dict[str, Any]:
    """List all tokens with their holders and expiry. Secrets are not stored."""
    found = await state.jobs.run_without_data(state.database.access.tokens)
    return {"tokens": [encode_token(token) for token in found]}


@router.post("/tokens", tags=["curator"], status_code=201)
async def create(form: TokenForm, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Create a token. Its `text` is shown only once."""
    return await state.jobs.run_without_data(partial(create_token, state, caller, form))


def create_token(state: AppState, caller: Caller, form: TokenForm) -> dict[str, Any]:
    """Make a token for a curator, and write into the trail who did it."""
    access = state.database.access
    with access.acting(caller.name, "make token", f"{form.role} {form.name}"):
        made = access.create(form.name, form.role, days=form.days)
    return encode_token(made.token) | {"text": made.text}


@router.delete("/tokens/{token}", tags=["curator"])
async def revoke(token: str, caller: Curator, state: CurrentState) -> dict[str, Any]:
    """Revoke a token, including its open sessions."""
    return await state.jobs.run_without_data(partial(revoke_token, state, caller, token))


def revoke_token(state: AppState, caller: Caller, token: str) -> dict[str, Any]:
    """Revoke a token for a curator, and write into the trail who did it."""
    access = state.database.access
    if token not in {known.id for known in access.tokens()}:
        raise refuse_not_found("token of this id")
    with access.acting(caller.name, "revoke token", token):
        return encode_token(access.revoke(token))


@router.get("/trail", tags=["curator"], dependencies=CURATORS)
async def trail(state: CurrentState, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, Any]:
    """Show the audit log, latest first: who declared, granted, created and revoked what."""
    found = await state.jobs.run_without_data(partial(state.database.access.trail, most))
    return {"acts": [asdict(deed) for deed in found]}


health_router = APIRouter(tags=["health"])
_REFUSED: Responses = {status: REFUSED[status] for status in (401, 403, 429)}


@health_router.get("/health")
async def health(state: CurrentState) -> dict[str, str]:
    """Check that the server responds and its ledger opens."""
    await state.jobs.run_authentication(state.database.streams.list)
    return {"status": "ok"}


@health_router.get(
    "/metrics", response_class=PlainTextResponse, dependencies=[*CREDENTIALS, *CURATORS], responses=_REFUSED
)
async def metrics(state: CurrentState) -> Response:
    """Return the number of requests by route and status, in the Prometheus format."""
    return PlainTextResponse(state.metrics.text(state.jobs.under_way))
