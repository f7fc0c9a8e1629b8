"""`jali demo`: show all of Jali on a synthetic hospital."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.options import AsJson
from jali.cli.output import write_json


def demo(
    keep: Annotated[
        str | None, typer.Option(metavar="DIRECTORY", help="Keep the table and the database in this directory.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a synthetic hospital, protect it, ask five questions, explain one and have one refused.

    Example: [bold]jali demo --keep hospital[/bold]
    """
    from jali.demo import run, show

    if as_json:
        write_json(run(keep=keep).to_json())
    else:
        show(keep=keep)
