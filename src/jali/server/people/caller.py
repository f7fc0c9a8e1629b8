"""Whoever makes a request."""

from __future__ import annotations

from dataclasses import dataclass

from jali.ledger import Role


@dataclass(frozen=True)
class Caller:
    """Somebody whose token is good now.

    Attributes:
        token: The id of the token.
        name: Whose it is.
        role: What it lets them do.
        cookie: The session cookie that it came by; nothing where the token itself was sent.
    """

    token: str
    name: str
    role: Role
    cookie: str = ""

    @property
    def curator(self) -> bool:
        """Whether they may declare, grant and see everybody's receipts."""
        return self.role is Role.CURATOR

    @property
    def analyst(self) -> str | None:
        """Whose grants pay; the curator has none."""
        return None if self.curator else self.name
