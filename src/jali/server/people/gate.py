"""The gate: who comes in with a token or a session, and who is turned away."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field, replace

from jali.database.access import Access, Refused
from jali.errors import Phrase
from jali.ledger import Role, Token
from jali.server.people.caller import Caller
from jali.server.people.cookies import Cookies

VISITOR = "curator"
# So many sessions that were ended are remembered, the latest ones; each would end by itself after some hours.
_MOST_ENDED = 100_000


@dataclass(frozen=True)
class Visit:
    """A curator's token for one run of a server that only its own machine can reach. It is kept nowhere."""

    id: str = field(default_factory=lambda: f"visit{secrets.token_hex(6)}")
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def text(self) -> str:
        """What the owner of the machine is shown."""
        return f"jali_{self.id}_{self.secret}"

    def caller(self) -> Caller:
        """Who comes with it."""
        return Caller(self.id, VISITOR, Role.CURATOR)

    def opens(self, text: str) -> bool:
        """Say whether a text is this token."""
        return hmac.compare_digest(_digest(self.text), _digest(text.strip()))


class Gate:
    """Lets callers in.

    Guarantee:
        A token that was revoked or has expired is refused by every later call, whether it is sent itself or named
        by a cookie: the ledger is asked each time.
    """

    def __init__(self, access: Access, visit: Visit | None = None) -> None:
        self._access = access
        self._visit = visit
        self.cookies = Cookies(access.key("cookies"))
        self._ended: dict[str, None] = {}

    def by_token(self, text: str) -> Caller:
        """Return who holds a token, or refuse."""
        if self._visit is not None and self._visit.opens(text):
            return self._visit.caller()
        return _caller(self._access.check(text))

    def by_cookie(self, cookie: str) -> Caller:
        """Return whose session a cookie is, or refuse."""
        if cookie in self._ended:
            raise Refused(Phrase("session-ended"))
        return replace(self._known(self.cookies.read(cookie)), cookie=cookie)

    def again(self, caller: Caller) -> Caller:
        """Return a caller who came in before, or refuse one whose token or session has ended since."""
        return self.by_cookie(caller.cookie) if caller.cookie else self._known(caller.token)

    def sign_out(self, cookie: str) -> None:
        """Refuse a session from now on, as long as this server runs."""
        self._ended[cookie] = None
        while len(self._ended) > _MOST_ENDED:
            self._ended.pop(next(iter(self._ended)))

    def _known(self, token: str) -> Caller:
        if self._visit is not None and token == self._visit.id:
            return self._visit.caller()
        if token.startswith("visit"):
            raise Refused(Phrase("session-of-earlier-run"))
        return _caller(self._access.known(token))


def _caller(token: Token) -> Caller:
    return Caller(token.id, token.name, token.role)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
