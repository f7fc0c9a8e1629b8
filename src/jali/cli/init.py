"""`jali init`: make a database."""

from __future__ import annotations

import shlex
from pathlib import Path

from jali.cli.options import AsJson, DatabasePath
from jali.cli.writing import write_json
from jali.errors import CatalogError


def init(database: DatabasePath, as_json: AsJson = False) -> None:
    """Make an empty database: one file, readable by you only, with the catalog, the ledger and the answers.

    Example: [bold]jali init clinic.jali[/bold]
    """
    if Path(database).exists():
        raise CatalogError(
            f"{database} is there already.", remedy="Choose another name; a ledger is never overwritten."
        )
    from jali.database import connect

    connect(database).close()
    if as_json:
        write_json({"database": database})
    else:
        print(f"Made {database}. Next: jali protect {shlex.quote(database)} TABLE FILE --unit COLUMN ...")
