"""Sessions of the page: a signed cookie that names a token, and a word that forms must carry with it."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from itsdangerous import BadData, URLSafeTimedSerializer

from jali.database.access import Refused
from jali.errors import Phrase

NAME = "jali_session"
HOURS = 12


class Cookies:
    """Signs and reads session cookies.

    Guarantee:
        A cookie that `read` accepts was made by `make` with the same key, at most `HOURS` ago. It names a token
        and holds no secret: whether that token is still good is asked at every request.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._serializer = URLSafeTimedSerializer(
            key, salt="jali session", signer_kwargs={"digest_method": _sha256}
        )

    def make(self, token: str) -> str:
        """Return a new cookie for a token."""
        return self._serializer.dumps([token, secrets.token_hex(8)])

    def read(self, cookie: str) -> str:
        """Return the id of the token that a cookie names."""
        try:
            token, _ = self._serializer.loads(cookie, max_age=HOURS * 3600)
        except (BadData, ValueError, TypeError):
            raise Refused(Phrase("session-ended")) from None
        return str(token)

    def word(self, cookie: str) -> str:
        """Return what a form of this session must carry: another site cannot read it, so cannot send it."""
        return hmac.new(self._key, b"form " + cookie.encode(), hashlib.sha256).hexdigest()

    def agrees(self, cookie: str, word: str) -> bool:
        """Say whether a word belongs to a session."""
        return hmac.compare_digest(self.word(cookie).encode(), word.encode("utf-8", "replace"))


def _sha256(data: bytes = b"") -> hashlib._Hash:
    return hashlib.sha256(data)
