"""Opening a session at a server."""

from __future__ import annotations

import os

from jali.errors import CatalogError
from jali.remote.remote import Remote
from jali.remote.wire import open_wire
from jali.session import Session

TOKEN = "JALI_TOKEN"


def open_session(address: str, token: str | None = None) -> Session:
    """Return a session at a server, for whom the token is.

    Args:
        address: Where the server is: "https://jali.example.org".
        token: What the curator gave; the environment variable JALI_TOKEN by default.
    """
    known = token or os.environ.get(TOKEN)
    if not known:
        raise CatalogError("server-token-missing")
    try:
        wire = open_wire(address, known)
    except ImportError:
        raise CatalogError("httpx-missing") from None
    return Session(Remote(wire), str(wire.get("/me")["name"]))
