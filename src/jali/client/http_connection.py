"""Send requests to a server: documents out, documents back, and errors raised."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any

from jali.client.error_documents import decode_error
from jali.errors import JaliError, settle

if TYPE_CHECKING:
    import httpx

_API = "/api/v1"
_ACCEPTED = 202
# How long one request may take: longer than a server is patient with a question.
_SECONDS = 120.0
_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class ServerConnection:
    """One server, and the token that opens it.

    Args:
        client: Makes the requests.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        # Nobody closes a session: its connections end with it.
        weakref.finalize(self, client.close)

    def get(self, path: str, **parameters: Any) -> dict[str, Any]:
        """Fetch a document."""
        return self._request("GET", path, parameters, None)[1]

    def post(self, path: str, document: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a document, and fetch the one that answers it."""
        return self._request("POST", path, parameters, document)[1]

    def answer(self, path: str, document: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a question and fetch its answer, however long that takes.

        A server that takes longer says so with the receipt. Who stops waiting loses nothing: it is redeemable.
        """
        status, reply = self._request("POST", path, parameters, document)
        pause = _PAUSE
        while status == _ACCEPTED:
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE, 1.5 * pause)
            status, reply = self._request("GET", f"/receipts/{reply['receipt']}/answer", {"release": True}, None)
        return reply

    def _request(
        self, method: str, path: str, parameters: dict[str, Any], document: dict[str, Any] | None
    ) -> tuple[int, dict[str, Any]]:
        import httpx

        try:
            response = self._client.request(method, _API + path, params=parameters, json=document)
            reply = response.json()
        except httpx.HTTPError:
            raise JaliError("server-silent", address=settle(self._client.base_url)) from None
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise JaliError("server-not-jali", address=settle(self._client.base_url))
        if "error" in reply and response.is_error:
            raise decode_error(reply["error"])
        return response.status_code, reply


def open_connection(address: str, token: str) -> ServerConnection:
    """Return the wire to a server."""
    import httpx

    return ServerConnection(
        httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=_SECONDS)
    )
