"""Who may come in: tokens, and what people with them did, as the ledger keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


class Role(StrEnum):
    """What a token lets somebody do."""

    CURATOR = "curator"
    ANALYST = "analyst"


@dataclass(frozen=True)
class Token:
    """A token as the ledger knows it: never the secret, only its digest.

    Attributes:
        id: The part of the token that names it.
        name: Whose it is: an analyst's name, or how a curator is called in the trail.
        role: What it is good for.
        digest: The SHA-256 of its secret, in hexadecimal.
        at: When it was made, in UTC.
        expires: From when on it is refused, in UTC.
        revoked: Whether it was revoked.
    """

    id: str
    name: str
    role: Role
    digest: str
    at: str
    expires: str
    revoked: bool = False

    def expired(self, now: datetime | None = None) -> bool:
        """Say whether its time is over."""
        return datetime.fromisoformat(self.expires) <= (datetime.now(UTC) if now is None else now)

    @property
    def state(self) -> str:
        """One word for people."""
        return "revoked" if self.revoked else "expired" if self.expired() else "valid"


@dataclass(frozen=True)
class Deed:
    """One line of the trail: an administrative act.

    Attributes:
        seq: The number of its entry.
        at: When, in UTC.
        actor: Who did it through a server; nothing where it was done on the file itself.
        act: What was done, in a word or two.
        about: To what.
        outcome: How it ended: "done", "refused", "failed", or "not finished" where nothing says so.
    """

    seq: int
    at: str
    actor: str
    act: str
    about: str
    outcome: str = "done"
