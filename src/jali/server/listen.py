"""Open the socket of a server, and find the address of its page.

It imports none of the server's packages, so that both are quick.
"""

from __future__ import annotations

import errno
import ipaddress
import socket

from jali.errors import CatalogError
from jali.server.settings import Settings


def listen(settings: Settings) -> socket.socket:
    """Return the socket to listen on, so that its port is known before anything is served."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named: asyncio lets small packets go at once only where it knows that it is TCP.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
        made.listen(1024)  # whoever follows the link at once waits a moment, and is not turned away
    except (OSError, OverflowError) as problem:
        made.close()
        raise CatalogError(_find_error_code(problem), host=settings.host, port=settings.port) from None
    return made


def _find_error_code(problem: Exception) -> str:
    known = problem.errno if isinstance(problem, OSError) else None
    if isinstance(problem, socket.gaierror) or known in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
        return "server-address-wrong"
    if known == errno.EACCES:
        return "server-port-forbidden"
    return "server-port-taken"


def find_page_address(settings: Settings, listening: socket.socket) -> str:
    """Return where to open the page: of a server on all addresses of a machine, by the machine's name."""
    port = listening.getsockname()[1]
    host = socket.gethostname() if is_everywhere(settings.host) else settings.host
    way = "https" if settings.secure else "http"
    return f"{way}://{f'[{host}]' if ':' in host else host}:{port}/"


def is_everywhere(host: str) -> bool:
    """Say whether an address stands for all of a machine's.

    Example:
        >>> is_everywhere("0.0.0.0"), is_everywhere("::"), is_everywhere("127.0.0.1")
        (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
