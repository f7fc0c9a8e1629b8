"""`jali audit replay`: a witness once more, on fresh samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jali.cli.audit.showing import Seed, leave, quietly
from jali.cli.numbers import number, whole
from jali.cli.options import AsJson
from jali.cli.terminal import Stages, ink_for, width_for
from jali.cli.writing import write_json


def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `jali audit TARGET --out FILE` wrote.")],
    samples: Annotated[
        str | None, number("How many outputs are drawn of both inputs together; as many as then by default.")
    ] = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Make the subject of a witness again, and count its event on fresh samples of both inputs.

    Example: [bold]jali audit replay witness.json[/bold]
    """
    from jali.audit.report import replayed
    from jali.audit.witness_file import read

    kept = read(Path(file))
    with Stages() as stages, quietly():
        made = kept.replay(samples=whole(samples, "--samples"), seed=seed, progress=stages)
    if as_json:
        write_json(made.to_dict())
    else:
        print(replayed(made, width=width_for(sys.stdout), ink=ink_for(sys.stdout)))
    leave(found=made.finding.verdict.value == "violation")
