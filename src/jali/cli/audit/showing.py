"""What an audit leaves: text or a document, a picture, a witness, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.numbers import number
from jali.cli.pictures import draw
from jali.cli.terminal import ink_for, width_for
from jali.cli.writing import write_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.audit.effort import Effort
    from jali.audit.outcome import Audit, Audits
    from jali.audit.subject import Subject
    from jali.audit.testers.tester import Tester

# The exit code of a violation.
VIOLATION = 1
# How long an audit takes that nobody gave a time, and how many samples it takes at most.
QUICK, QUICK_ALL = 10.0, 60.0
_MOST, _MOST_DEEP = 1_000_000, 200_000_000

Samples = Annotated[
    str | None, number("How many outputs are drawn in all; by default as many as fit into the time, up to 1e6.")
]
Confidence = Annotated[str, number("The chance that an honest function is not accused.")]
Seed = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", min=0, help="Where the noise of functions comes from that take a generator."),
]
Deep = Annotated[str | None, number("About how many seconds to try; it stops early on a proof.")]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help="Draw what was found against what is claimed into this file.")
]


def effort_of(samples: int | None, confidence: str, seed: int | None, *, deep: bool) -> Effort:
    """Return the effort that the options ask for; the samples are a limit, where a time is one too."""
    from jali.audit.effort import Effort
    from jali.privacy.rationals import rational

    limit = samples or (_MOST_DEEP if deep else _MOST)
    return Effort(limit, rational(confidence, "confidence"), seed)


def paced(subject: Subject, effort: Effort, seconds: float | None) -> Effort:
    """Return the effort with no more samples than fit into a time."""
    from jali.audit.pace import fitting

    return effort if seconds is None else replace(effort, samples=fitting(subject, seconds, effort.samples))


def seconds_of(text: str | None) -> float | None:
    """Return how many seconds --deep asks for."""
    from jali.privacy.rationals import positive

    return None if text is None else float(positive(text, "deep"))


def show(made: Audit | Audits, *, path: Path | None, as_json: bool) -> None:
    """Write an audit, draw it, and leave with the code of its verdict."""
    draw(path, made, quiet=as_json)
    if as_json:
        write_json(made.to_dict())
    else:
        _write(made)
    leave(found=made.verdict.value == "violation")


def _write(made: Audit | Audits) -> None:
    from jali.audit.outcome import Audit
    from jali.audit.report import report, reports

    ink, width = ink_for(sys.stdout), width_for(sys.stdout)
    told = report(made, width=width, ink=ink) if isinstance(made, Audit) else reports(made, ink=ink, width=width)
    print(told)


def leave(*, found: bool) -> None:
    """End the program: 1 where a violation is proved."""
    if found:
        raise typer.Exit(VIOLATION)


def check_place(path: str | None, option: str) -> None:
    """Refuse a file in no directory before anything is run."""
    if path is not None and not Path(path).resolve().parent.is_dir():
        raise CatalogError("option-file-not-written", option=option, path=path)


@contextmanager
def quietly() -> Iterator[None]:
    """Send what an audited function prints to stderr: stdout is for what the audit says."""
    with redirect_stdout(sys.stderr):
        yield


def stages_but(skipped: str | None) -> tuple[Tester, ...] | None:
    """Return the stages without those that `--skip` names; None where all are run."""
    if skipped is None:
        return None
    from jali.audit.stages import STAGES

    names = {name.strip().replace("-", " ") for name in skipped.split(",")}
    known = {tester.name for tester in STAGES}
    for name in names - known:
        listed = ", ".join(tester.name.replace(" ", "-") for tester in STAGES)
        raise CatalogError("audit-stage-unknown", stage=name, stages=listed)
    return tuple(tester for tester in STAGES if tester.name not in names)
