"""Tokens as plain JSON values, without their digests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.ledger import Token


def token_json(token: Token) -> dict[str, Any]:
    """Return what may be told of a token."""
    told = {"token": token.id, "name": token.name, "role": token.role.value}
    return told | {"made": token.at, "expires": token.expires, "state": token.state}
