"""`jali init`: create a database."""

from __future__ import annotations

import shlex
from pathlib import Path

from jali.cli.options import AsJson, DatabasePath
from jali.cli.output import write_json
from jali.errors import CatalogError
from jali.postgres_address import is_address


def init(database: DatabasePath, as_json: AsJson = False) -> None:
    """Create an empty database: one file, readable only by you, with the catalog, the ledger and the answers.

    Or create a schema in a Postgres database, which several servers can share.

    Example: [bold]jali init clinic.jali[/bold]
    """
    if _exists(database):
        raise CatalogError("database-there-already", database=database)
    from jali.connection import open_local

    open_local(database).close()
    if as_json:
        write_json({"database": database})
    else:
        print(f"Created {database}. Next: jali protect {shlex.quote(database)} TABLE FILE --unit COLUMN ...")


def _exists(database: str) -> bool:
    """Say whether there is something already."""
    if not is_address(database):
        return Path(database).exists()
    from jali.ledger.ledger_opening import has_ledger

    return has_ledger(database)
