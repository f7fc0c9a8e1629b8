"""Open a database in a file, in Postgres or in memory, or a session at a server: `jali.connect`.

The module is not called `connect`: importing it would put it in the place of the function `jali.connect`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, overload

from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.database import Database
    from jali.session import Session
    from jali.sql.question_limits import Limits

_WAYS = ("https://", "http://")


@overload
def connect(path: Path | None = None, *, limits: Limits | None = None) -> Database: ...
@overload
def connect(path: str, *, token: None = None, limits: Limits | None = None) -> Database: ...
@overload
def connect(path: str, *, token: str) -> Session: ...


def connect(
    path: str | Path | None = None, *, token: str | None = None, limits: Limits | None = None
) -> Database | Session:
    """Open or create a database: one file with the catalog, the ledger and the answers. Or open a server.

    Without a path everything is in memory, and what was spent is forgotten with the process.

    Args:
        path: A file; or a Postgres database that keeps the same for several servers at once, such as
            "postgresql://jali@db.example.org/clinic" (docs/postgres.md); or the address of a server, such as
            "https://jali.example.org": what is returned then is a session, for whom the token is.
        token: Opens a server; the environment variable JALI_TOKEN by default.
        limits: How large a question may be, `jali.Limits(tokens=10_000)` (docs/limits.md); by default as the
            environment variable JALI_LIMITS says. A server has its own.

    Example:
        >>> import jali
        >>> jali.connect().tables.list()
        ()
    """
    if isinstance(path, str) and path.startswith(_WAYS):
        from jali.client.remote_database import open_session

        return open_session(path, token)
    if token is not None:
        raise CatalogError("token-without-server")
    return open_local(path, limits=limits)


def open_local(path: str | Path | None = None, *, create: bool = True, limits: Limits | None = None) -> Database:
    """Open or create a database in a file, in Postgres or in memory.

    Args:
        path: As in `connect`.
        create: Whether to create what is not there; otherwise it is refused.
        limits: How large a question may be.
    """
    from jali.database import Database
    from jali.engines.duckdb import DuckDBEngine
    from jali.engines.router import Router
    from jali.execution.declared_tables import find_copy_directory, name_engine_copies
    from jali.ledger import open_ledger
    from jali.sql.question_limits import usual_limits

    ledger = open_ledger(path, create=create)
    directory = find_copy_directory(path, ledger)
    router = Router(DuckDBEngine(directory), name_engine_copies(ledger, directory))
    return Database(ledger, router, limits or usual_limits())
