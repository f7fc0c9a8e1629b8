"""`jali audit all`: everything that is registered."""

from __future__ import annotations

from typing import Annotated

from jali.cli.audit.showing import (
    QUICK_ALL,
    Confidence,
    Deep,
    Plot,
    Samples,
    Seed,
    effort_of,
    seconds_of,
    show,
)
from jali.cli.numbers import naming_options, number, whole
from jali.cli.options import AsJson
from jali.cli.pictures import picture
from jali.cli.terminal import Stages


def everything(
    samples: Samples = None,
    confidence: Confidence = "0.99",
    seed: Seed = None,
    deep: Deep = None,
    workers: Annotated[
        str | None, number("How many processes audit at once; one for each core by default.")
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Audit every mechanism, stream, aggregate and session that Jali has, each against its own claim.

    Example: [bold]jali audit all --deep 600[/bold]
    """
    from jali.audit.workers import audit_registered

    path = picture(plot)
    with naming_options({"confidence": "--confidence", "deep": "--deep"}), Stages() as stages:
        effort = effort_of(whole(samples, "--samples"), confidence, seed, deep=deep is not None)
        seconds = seconds_of(deep) or (None if samples else QUICK_ALL)
        made = audit_registered(
            effort,
            seconds=seconds,
            brief=deep is None,
            workers=whole(workers, "--workers", example=2),
            progress=stages,
        )
    show(made, path=path, as_json=as_json)
