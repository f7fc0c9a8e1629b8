"""Routes of access tokens and the audit log, for curators; and for everybody, who they are."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from jali.client.account_documents import encode_token
from jali.server.auth import Caller
from jali.server.dependencies import CURATORS, AnyCaller, Curator, CurrentState
from jali.server.http_errors import refuse_not_found
from jali.server.schemas import TokenForm
from jali.server.state import AppState

router = APIRouter()


@router.get("/me", tags=["people"])
async def me(caller: AnyCaller) -> dict[str, Any]:
    """Say who you are here."""
    return {"name": caller.name, "role": caller.role.value, "token": caller.token}


@router.get("/tokens", tags=["curator"], dependencies=CURATORS)
async def tokens(house: CurrentState) -> dict[str, Any]:
    """List all tokens: whose they are and until when they are good. Their secrets are kept nowhere."""
    found = await house.desk.run_without_data(house.database.access.tokens)
    return {"tokens": [encode_token(token) for token in found]}


@router.post("/tokens", tags=["curator"], status_code=201)
async def create(form: TokenForm, caller: Curator, house: CurrentState) -> dict[str, Any]:
    """Make a token. Its `text` is shown now and never again."""
    return await house.desk.run_without_data(partial(create_token, house, caller, form))


def create_token(house: AppState, caller: Caller, form: TokenForm) -> dict[str, Any]:
    """Make a token for a curator, and write into the trail who did it."""
    access = house.database.access
    with access.acting(caller.name, "make token", f"{form.role} {form.name}"):
        made = access.create(form.name, form.role, days=form.days)
    return encode_token(made.token) | {"text": made.text}


@router.delete("/tokens/{token}", tags=["curator"])
async def revoke(token: str, caller: Curator, house: CurrentState) -> dict[str, Any]:
    """Refuse a token from now on, also where it is signed in."""
    return await house.desk.run_without_data(partial(revoke_token, house, caller, token))


def revoke_token(house: AppState, caller: Caller, token: str) -> dict[str, Any]:
    """Revoke a token for a curator, and write into the trail who did it."""
    access = house.database.access
    if token not in {known.id for known in access.tokens()}:
        raise refuse_not_found("token of this id")
    with access.acting(caller.name, "revoke token", token):
        return encode_token(access.revoke(token))


@router.get("/trail", tags=["curator"], dependencies=CURATORS)
async def trail(house: CurrentState, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, Any]:
    """Show administrative acts, the latest first: what was declared, granted, made and revoked, and by whom."""
    found = await house.desk.run_without_data(partial(house.database.access.trail, most))
    return {"acts": [asdict(deed) for deed in found]}
