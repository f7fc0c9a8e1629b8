"""`jali serve`: serve the API and the page over one database."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.options import DatabasePath, open_database, rename_parameters
from jali.errors import CatalogError
from jali.postgres_address import is_address

if TYPE_CHECKING:
    from jali.sql.question_limits import Limits


def serve(
    database: DatabasePath,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on; other machines need tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; 0 for a free one.")
    ] = 8000,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="The directory for curators' files; by default that of the database, or this one.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An allowed host name, behind a proxy. Repeatable."),
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="A proxy terminates HTTPS: send cookies over HTTPS only.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="The number of questions that run at once.")
    ] = None,
    waiting: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="The largest number of questions in the queue.")
    ] = 256,
    patience: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="After this many seconds, respond with the receipt.")
    ] = 20.0,
    pace: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Respond only at multiples of this many seconds, against timing attacks.",
        ),
    ] = 0.0,
    rate: Annotated[
        float, typer.Option(metavar="NUMBER", min=0.1, help="The rate limit per token, in requests per second.")
    ] = 20.0,
    plan_seconds: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="The CPU time limit of one plan, in seconds.")
    ] = 10.0,
    connections: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="The largest number of open connections.")
    ] = 1000,
    per_address: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="The largest number of connections from one address.")
    ] = 500,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="A limit on the size of questions: docs/limits.md. Repeatable."),
    ] = None,
) -> None:
    """Serve a database: an HTTP API under /api/v1 and web pages for analysts and curators.

    Only this machine can reach it by default; see --host. While no curator has a token, it
    prints a link that signs you in as a curator for this run.

    Example: [bold]jali serve clinic.jali[/bold]
    """
    kept = _find_file(database)
    from jali.server.listen import listen
    from jali.server.settings import Settings

    with rename_parameters({"workers": "--workers", "waiting": "--waiting"}):
        settings = Settings(
            host=host,
            port=port,
            data=_choose_directory(data, Path.cwd() if kept is None else kept.parent),
            hosts=tuple(allow_host or ()),
            secure=secure,
            waiting=waiting,
            patience=patience,
            pace=pace,
            rate=rate,
            plan_seconds=plan_seconds,
            connections=connections,
            per_address=per_address,
            burst=max(100, round(5 * rate)),
            **({} if workers is None else {"workers": workers}),
        )
        # Before anything large is imported: who mistyped is told at once.
        with listen(settings) as listening:
            run = _import_runner()
            with open_database(database, _read_limits(limit)) as opened:
                run(opened, settings, listening, _print_line, named=kept or database)


def _read_limits(written: list[str] | None) -> Limits | None:
    """Return the limits of this server; nothing where the environment alone sets them."""
    if not written:
        return None
    from jali.sql.question_limits import read_limits, usual_limits

    return read_limits(written, usual_limits())


def _find_file(database: str) -> Path | None:
    """Return the file of a database; nothing of one in Postgres."""
    if is_address(database):
        return None
    if not Path(database).is_file():
        raise CatalogError("serve-database-missing", database=database, quoted=shlex.quote(database))
    return Path(database).absolute()


def _choose_directory(given: Path | None, usual: Path) -> Path:
    if given is not None and not given.is_dir():
        raise CatalogError("serve-directory-missing", directory=given)
    return (given or usual).absolute()


def _import_runner() -> Callable[..., None]:
    try:
        from jali.server.run_server import serve as run
    except ImportError:
        raise CatalogError("server-packages-missing") from None
    return run


def _print_line(text: str) -> None:
    print(text, flush=True)
