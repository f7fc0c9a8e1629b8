"""Security middleware around every request: host check, size limit, headers that keep browsers strict, metrics."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jali.server.http_errors import TOO_LARGE, RequestRefused, answer, refuse_request, refuse_too_large

if TYPE_CHECKING:
    from jali.server.state import AppState

_LOG = logging.getLogger("jali.server")
API = "/api/v1"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class SecurityMiddleware:
    """The outermost layer of a server.

    Guarantee:
        Whatever fails inside is answered with one sentence that says nothing of it, and logged as such: a trace
        could carry numbers of the data.
    """

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered = _ResponseSender(scope, send, secure=self._state.settings.secure)
        try:
            self._check(Headers(scope=scope))
            await self._app(scope, self._limit_body(scope, receive), answered.send)
        except Exception as problem:  # whatever it is, nothing of it leaves
            if not isinstance(problem, RequestRefused):
                _LOG.error("A request failed, unexpectedly: %s", _find_route(scope))
            if not answered.status:
                await answer(Request(scope), problem)(scope, receive, answered.send)
            elif not answered.ended:  # nobody is left waiting for the rest
                await answered.send({"type": "http.response.body", "body": b"", "more_body": False})
        self._state.metrics.count(_find_route(scope), scope["method"], answered.status or 500)

    def _check(self, headers: Headers) -> None:
        allowed, limit = self._state.settings.host_names, self._state.settings.body
        name = headers.get("host", "").rpartition("@")[2]
        bare = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
        if allowed and bare.strip("[]").casefold() not in allowed:
            raise refuse_request("host-unknown", status=400, type_="WrongHost")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > limit:
            raise refuse_too_large(limit)

    def _limit_body(self, scope: Scope, receive: Receive) -> Receive:
        """Refuse a body that grows beyond the limit, also where its length was not said."""
        limit, seen = self._state.settings.body, 0

        async def receive_limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                scope[TOO_LARGE] = refuse_too_large(limit)
                raise scope[TOO_LARGE]
            return message

        return receive_limited


class _ResponseSender:
    """Adds headers to a response, and remembers its status."""

    def __init__(self, scope: MutableMapping[str, Any], send: Send, *, secure: bool) -> None:
        self._scope, self._send, self._secure = scope, send, secure
        self.status, self.ended = 0, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
            if self._secure:
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        self.ended = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)


def _find_route(scope: Scope) -> str:
    """Name the whole route, not the path: a path may hold a receipt or a name."""
    found: str = getattr(scope.get("route"), "path", "none")
    # FastAPI tells the route within its router: those of the API and of the pages would be the same.
    api = found.startswith("/") and scope["path"].startswith(f"{API}/") and not found.startswith(API)
    return f"{API}{found}" if api else found
