"""`jali serve`: the API and the page, over one database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jali.cli.numbers import naming_options
from jali.cli.opening import open_database
from jali.cli.options import DatabasePath
from jali.errors import CatalogError


def serve(
    database: DatabasePath,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; other machines need tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8000,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="Where curators may name files; by default that of the database."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which browsers call it, behind a proxy. Repeatable."),
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="It is reached over HTTPS, which a proxy ends: cookies need it then.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="How many questions are read for at once.")
    ] = None,
    waiting: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="How many questions may be under way.")
    ] = 256,
    patience: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="After which a question is answered by its receipt.")
    ] = 20.0,
    rate: Annotated[
        float, typer.Option(metavar="NUMBER", min=0.1, help="How many requests a second one token may make.")
    ] = 20.0,
) -> None:
    """Serve a database: an HTTP API under /api/v1, and a page in the browser, for analysts and curators.

    Only this machine can reach it, unless --host says otherwise. Without any token it prints a link
    that lets you in as a curator, for this run.

    Example: [bold]jali serve clinic.jali[/bold]
    """
    try:
        from jali.server.running import serve as run
        from jali.server.settings import Settings
    except ImportError:
        raise CatalogError(
            "The server's packages are not installed.", remedy='Install them: pip install "jali[server]"'
        ) from None
    place = Path(database).absolute()
    with open_database(database) as opened, naming_options({"workers": "--workers", "waiting": "--waiting"}):
        settings = Settings(
            host=host,
            port=port,
            data=(data or place.parent).absolute(),
            hosts=tuple(allow_host or ()),
            secure=secure,
            waiting=waiting,
            patience=patience,
            rate=rate,
            burst=max(100, round(5 * rate)),
            **({} if workers is None else {"workers": workers}),
        )
        run(opened, settings, _started, named=place)


def _started(address: str) -> None:
    print(f"Open {address}\nStop with Ctrl+C.", flush=True)
