"""Reject cookie-authenticated writes without a valid CSRF token: another site may have sent them.

`SessionCookies.csrf_token` derives the token from the key of the server and the cookie, so that nothing is stored.
Pages carry it in a hidden field of each form, scripts in the header X-CSRF-Token.
"""

from __future__ import annotations

from fastapi import Request

from jali.server.http_errors import refuse_request
from jali.server.state import AppState

CSRF_HEADER = "x-csrf-token"
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def check_csrf_token(request: Request, state: AppState, cookie: str, csrf_token: str) -> None:
    """Reject cookie-authenticated writes without a valid CSRF token."""
    if request.method not in _SAFE_METHODS and not state.auth.cookies.matches_csrf_token(cookie, csrf_token):
        raise refuse_request("form-of-other-session", status=403, type_="FormExpired")
