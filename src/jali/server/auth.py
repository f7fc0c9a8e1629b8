"""Authentication: who calls, by an access token or by the signed session cookie of the pages.

A session cookie names a token and holds no secret. Forms of the pages carry a CSRF token that belongs to the
session.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field, replace

from itsdangerous import BadData, URLSafeTimedSerializer

from jali.errors import Phrase
from jali.execution.access_tokens import Access, TokenRefused
from jali.ledger import Role, Token


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


SESSION_COOKIE = "jali_session"
SESSION_HOURS = 12


class SessionCookies:
    """Signs and reads session cookies.

    Guarantee:
        A cookie that `read` accepts was made by `sign` with the same key, at most `SESSION_HOURS` ago. It names a
        token and holds no secret: whether that token is still good is asked at every request.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._serializer = URLSafeTimedSerializer(
            key, salt="jali session", signer_kwargs={"digest_method": _hash_sha256}
        )

    def sign(self, token: str) -> str:
        """Return a new cookie for a token."""
        return self._serializer.dumps([token, secrets.token_hex(8)])

    def read(self, cookie: str) -> str:
        """Return the id of the token that a cookie names."""
        try:
            token, _ = self._serializer.loads(cookie, max_age=SESSION_HOURS * 3600)
        except (BadData, ValueError, TypeError):
            raise TokenRefused(Phrase("session-ended")) from None
        return str(token)

    def csrf_token(self, cookie: str) -> str:
        """Return what a form of this session must carry: another site cannot read it, so cannot send it."""
        return hmac.new(self._key, b"form " + cookie.encode(), hashlib.sha256).hexdigest()

    def matches_csrf_token(self, cookie: str, token: str) -> bool:
        """Say whether a word belongs to a session."""
        return hmac.compare_digest(self.csrf_token(cookie).encode(), token.encode("utf-8", "replace"))


def _hash_sha256(data: bytes = b"") -> hashlib._Hash:
    return hashlib.sha256(data)


RUN_TOKEN_NAME = "curator"
# So many sessions that were ended are remembered, the latest ones; each would end by itself after some hours.
_MOST_ENDED = 100_000


@dataclass(frozen=True)
class RunToken:
    """A curator's token for one run of a server that only its own machine can reach. It is kept nowhere."""

    id: str = field(default_factory=lambda: f"visit{secrets.token_hex(6)}")
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def text(self) -> str:
        """What the owner of the machine is shown."""
        return f"jali_{self.id}_{self.secret}"

    def caller(self) -> Caller:
        """Who comes with it."""
        return Caller(self.id, RUN_TOKEN_NAME, Role.CURATOR)

    def matches(self, text: str) -> bool:
        """Say whether a text is this token."""
        return hmac.compare_digest(_hash_text(self.text), _hash_text(text.strip()))


class Authenticator:
    """Lets callers in.

    Guarantee:
        A token that was revoked or has expired is refused by every later call, whether it is sent itself or named
        by a cookie: the ledger is asked each time.
    """

    def __init__(self, access: Access, run_token: RunToken | None = None) -> None:
        self._access = access
        self._run_token = run_token
        self.cookies = SessionCookies(access.key("cookies"))
        self._ended: dict[str, None] = {}

    def authenticate_token(self, text: str) -> Caller:
        """Return who holds a token, or refuse."""
        if self._run_token is not None and self._run_token.matches(text):
            return self._run_token.caller()
        return _build_caller(self._access.check(text))

    def authenticate_cookie(self, cookie: str) -> Caller:
        """Return whose session a cookie is, or refuse."""
        if cookie in self._ended:
            raise TokenRefused(Phrase("session-ended"))
        return replace(self._find_caller(self.cookies.read(cookie)), cookie=cookie)

    def authenticate_again(self, caller: Caller) -> Caller:
        """Return a caller who came in before, or refuse one whose token or session has ended since."""
        return self.authenticate_cookie(caller.cookie) if caller.cookie else self._find_caller(caller.token)

    def sign_out(self, cookie: str) -> None:
        """Refuse a session from now on, as long as this server runs."""
        self._ended[cookie] = None
        while len(self._ended) > _MOST_ENDED:
            self._ended.pop(next(iter(self._ended)))

    def _find_caller(self, token: str) -> Caller:
        if self._run_token is not None and token == self._run_token.id:
            return self._run_token.caller()
        if token.startswith("visit"):
            raise TokenRefused(Phrase("session-of-earlier-run"))
        return _build_caller(self._access.find_token(token))


def _build_caller(token: Token) -> Caller:
    return Caller(token.id, token.name, token.role)


def _hash_text(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
