"""`jali token create`: a token, shown once."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.writing import write_json
from jali.documents.access import token_json
from jali.errors import CatalogError

# As the database has it, whose packages are loaded later.
MOST_DAYS = 3650


def create(
    database: DatabasePath,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose: an analyst as in grants, or a curator.")],
    role: Annotated[str, typer.Option(metavar="ROLE", help="analyst, or curator.")] = "analyst",
    days: Annotated[int, typer.Option(metavar="NUMBER", help="For how many days it is good.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Make a token for an analyst or a curator. It is shown now and never again: only its digest is kept.

    Example: [bold]jali token create clinic.jali ana --days 30[/bold]
    """
    if not 0 < days <= MOST_DAYS:
        raise CatalogError("token-days-out-of-range", most=MOST_DAYS, days=days)
    with open_database(database) as opened:
        made = opened.access.create(name, role, days=days)
    if as_json:
        write_json(token_json(made.token) | {"text": made.text})
        return
    print(made.text)
    told = f"For {made.token.role.value} {made.token.name}, until {made.token.expires}."
    typer.echo(
        f"{told} It is shown this once. Revoke it with: jali token revoke {database} {made.token.id}", err=True
    )
