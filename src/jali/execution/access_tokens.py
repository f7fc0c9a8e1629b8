"""Access tokens of a server: shown once, checked at every request, and revoked at once."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from jali.errors import CatalogError, JaliError, Phrase
from jali.execution.accounts import check_analyst_name
from jali.execution.audit_log import OUTCOME, join_entries
from jali.ledger.access import AdminAct, Role, Token

if TYPE_CHECKING:
    from jali.ledger import Ledger

PREFIX = "jali"
DAYS, MOST_DAYS = 90, 3650
_LONGEST = 100
# An act has at most so many entries, but for a table with many ranges that are bought.
_ENTRIES = 5


class TokenRefused(Exception):  # noqa: N818 - it is an answer, not a mishap
    """A token is not valid, and why. Only the holder of its secret is told.

    Args:
        reason: The text of the error that a request gets.
    """

    def __init__(self, reason: Phrase) -> None:
        super().__init__(reason.text)
        self.reason = reason


@dataclass(frozen=True)
class NewToken:
    """A new token, with its secret.

    Attributes:
        token: What the ledger keeps of it.
        text: What its owner must keep: it is shown now and never again.
    """

    token: Token
    text: str


class Access:
    """The tokens of a database, and the trail of administrative acts."""

    def __init__(self, ledger: Ledger) -> None:
        self._book = ledger.access

    def create(self, name: str, role: str | Role, *, days: int = DAYS) -> NewToken:
        """Create a token for an analyst or a curator that is valid for a number of days.

        Its secret is 256 random bits, of which the ledger keeps the SHA-256: nobody can guess it, so that a slow
        hash would add nothing.

        Args:
            name: The analyst, as in grants; or how the curator is called in the trail.
            role: "analyst" or "curator".
            days: How long it is good.
        """
        if not 0 < days <= MOST_DAYS:
            raise CatalogError("token-days", most=MOST_DAYS, days=days)
        id_, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
        known = _read_role(role)
        made = self._book.create(
            id_=id_, name=_check_token_name(name, known), role=known, digest=_hash_secret(secret), expires=expires
        )
        return NewToken(made, f"{PREFIX}_{id_}_{secret}")

    def check(self, text: str) -> Token:
        """Return the token that a text is, as the ledger knows it now.

        Raises:
            Refused: It is none, or expired, or revoked.
        """
        id_, secret = _split(text)
        found = self._book.token(id_)
        # Compared in the same time wherever they differ; also with nothing, if there is no such token.
        same = hmac.compare_digest(_hash_secret(secret), "" if found is None else found.digest)
        if found is None or not same:
            raise TokenRefused(Phrase("token-not-known"))
        return self.still_good(found)

    def find_token(self, id_: str) -> Token:
        """Return the token of an id that somebody proved to hold before.

        Raises:
            Refused: There is none, or it expired or was revoked since.
        """
        found = self._book.token(id_)
        if found is None:
            raise TokenRefused(Phrase("token-not-known"))
        return self.still_good(found)

    @staticmethod
    def still_good(token: Token) -> Token:
        """Refuse a token that expired or was revoked."""
        if token.revoked:
            raise TokenRefused(Phrase("token-revoked"))
        if token.expired():
            raise TokenRefused(Phrase("token-expired"))
        return token

    def revoke(self, id_: str) -> Token:
        """Refuse a token from now on, in every process."""
        return self._book.revoke(id_)

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first."""
        return self._book.tokens()

    @contextmanager
    def acting(self, actor: str, act: str, about: str) -> Iterator[None]:
        """Record an act before it is done, and its outcome afterwards."""
        number = self._book.act(actor, act, about)
        outcome = "failed"
        try:
            yield
            outcome = "done"
        except JaliError:
            outcome = "refused"
            raise
        finally:
            self._book.act(actor, OUTCOME, f"{number} {outcome}")

    def trail(self, most: int = 1000) -> tuple[AdminAct, ...]:
        """Return administrative acts, the latest first: one line each."""
        return join_entries(self._book.acts(_ENTRIES * most), most)

    def key(self, name: str) -> bytes:
        """Return a secret key of the database, for signing what leaves and comes back."""
        return self._book.key(name)


def _check_token_name(name: str, role: Role) -> str:
    """Return whose token it is, or refuse a name that nobody can have."""
    if role is Role.ANALYST:
        check_analyst_name(name)
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST:
        raise CatalogError("token-name", most=_LONGEST)
    return name


def _read_role(role: str | Role) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise CatalogError("role-unknown", role=role) from None


def _split(text: str) -> tuple[str, str]:
    prefix, _, rest = text.strip().partition("_")
    id_, _, secret = rest.partition("_")
    return (id_, secret) if prefix == PREFIX and id_.isascii() else ("", "")


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
