"""`jali token list`: all tokens, without their secrets."""

from __future__ import annotations

import sys

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import TextColumn, clean, table
from jali.documents.access import token_json


def list_(database: DatabasePath, as_json: AsJson = False) -> None:
    """List all tokens: whose they are, and until when they are good. Their secrets are kept nowhere.

    Example: [bold]jali token list clinic.jali[/bold]
    """
    with open_database(database) as opened:
        found = opened.access.tokens()
    if as_json:
        write_json({"tokens": [token_json(token) for token in found]})
        return
    if not found:
        print("There is no token yet.")
        return
    columns = [
        TextColumn("token", tuple(token.id for token in found)),
        TextColumn("name", tuple(clean(token.name) for token in found)),
        TextColumn("role", tuple(token.role.value for token in found)),
        TextColumn("state", tuple(token.state for token in found)),
        TextColumn("expires", tuple(token.expires for token in found)),
    ]
    print(table(columns, ink=ink_for(sys.stdout)))
