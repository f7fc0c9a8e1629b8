"""`jali token revoke`: a token that is refused from now on."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.writing import write_json
from jali.documents.access import token_json
from jali.errors import CatalogError


def revoke(
    database: DatabasePath,
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, as `jali token list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """Refuse a token from now on, also in servers that run, and where it is signed in.

    Example: [bold]jali token revoke clinic.jali 1f2e3d4c5b6a[/bold]
    """
    with open_database(database) as opened:
        if token not in {known.id for known in opened.access.tokens()}:
            raise CatalogError("token-id-unknown")
        revoked = opened.access.revoke(token)
    if as_json:
        write_json(token_json(revoked))
    else:
        print(f"Revoked {revoked.id}, of {revoked.role.value} {revoked.name}.")
