"""`jali audit TARGET`: one function of anybody's, or what Jali has under a name."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.audit.showing import (
    QUICK,
    Confidence,
    Deep,
    Plot,
    Samples,
    Seed,
    check_place,
    effort_of,
    paced,
    quietly,
    seconds_of,
    show,
    stages_but,
)
from jali.cli.numbers import naming_options, number, whole
from jali.cli.options import AsJson
from jali.cli.pictures import picture
from jali.cli.terminal import Stages
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.audit.outcome import Audit, Audits
    from jali.audit.subject import Subject
    from jali.privacy import Loss

_HELP = """Try to prove a claim false: in every way that applies, with a witness where it succeeds.

A function module:function is given data of the pattern, and its outputs are
compared under neighbouring data. What is registered by name has claims, data and
neighbours of its own. Exit code 1 says that a violation was proved.

Example: [bold]jali audit mymodule:mechanism --epsilon 0.7 --adjacency replace-one[/bold]"""
_OPTIONS = {name: f"--{name}" for name in ("epsilon", "delta", "rho", "adjacency", "data", "confidence", "deep")}


def command(target: str) -> Any:
    """Return the verb of a target."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")

    def verb(**given: Any) -> None:
        _audit(target, **given)

    signature = inspect.signature(_audit, eval_str=True)
    options = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    verb.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    app.command(target, help=_HELP)(verb)
    return typer.main.get_command(app)


def _audit(
    target: str,
    *,
    epsilon: Annotated[str | None, number("The loss that the function claims, or")] = None,
    rho: Annotated[str | None, number("the loss in zCDP that it claims.")] = None,
    delta: Annotated[str | None, number("The delta beside epsilon; none by default.")] = None,
    adjacency: Annotated[
        str | None, typer.Option(metavar="NAME", help="replace-one or add-remove: always said, never assumed.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="What the function takes, such as scalar or answers:5.")
    ] = None,
    samples: Samples = None,
    confidence: Confidence = "0.99",
    seed: Seed = None,
    deep: Deep = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the witness into this file, for `jali audit replay`.")
    ] = None,
    skip: Annotated[
        str | None, typer.Option(metavar="STAGE,...", help="Leave out stages, such as reachability.")
    ] = None,
    onward: Annotated[bool, typer.Option("--onward", help="Go on with other stages after a violation.")] = False,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    from jali.audit.runner import audit, audit_all

    path = picture(plot)
    check_place(out, "--out")
    testers = stages_but(skip)
    given = {"epsilon": epsilon, "rho": rho, "delta": delta, "adjacency": adjacency, "data": data}
    with naming_options(_OPTIONS), Stages() as stages, quietly():
        effort = effort_of(whole(samples, "--samples"), confidence, seed, deep=deep is not None)
        limit = seconds_of(deep) or (None if samples else QUICK)
        subjects = _subjects(target, given)
        if len(subjects) == 1:
            made: Audit | Audits = audit(
                subjects[0], paced(subjects[0], effort, limit), testers, onward=onward, progress=stages
            )
        else:
            made = audit_all(subjects, effort, testers, seconds=limit, progress=stages)
    if out is not None:
        _keep(made, Path(out), quiet=as_json)
    show(made, path=path, as_json=as_json)


def _subjects(target: str, given: dict[str, str | None]) -> tuple[Subject, ...]:
    """Return what a target stands for: one function with the claim that is given, or all that have a name."""
    if ":" not in target:
        return _named(target, [name for name, value in given.items() if value is not None])
    from jali.audit.loading import subject_from

    return (subject_from(target, claim=_claim(given), adjacency=given["adjacency"], data=given["data"]),)


def _named(target: str, given: Sequence[str]) -> tuple[Subject, ...]:
    from jali.audit.subjects import subjects_named

    found = subjects_named(target)
    if given:
        raise CatalogError("audit-option-meaningless", target=target, option=given[0])
    return found


def _claim(given: dict[str, str | None]) -> Loss | None:
    """Return the loss that the options state; None if they state none, as some targets know their own."""
    from jali.audit.loading import claim_of

    epsilon, delta, rho = (given[name] for name in ("epsilon", "delta", "rho"))
    if epsilon is None and delta is None and rho is None:
        return None
    return claim_of(epsilon=epsilon, delta=delta, rho=rho)


def _keep(made: Audit | Audits, path: Path, *, quiet: bool) -> None:
    """Write the witness of an audit; of many, that of the one that says most."""
    from jali.audit.witness_file import write

    write(made.telling, path)
    if not quiet:
        about = "" if made is made.telling else f", of {made.telling.name}"
        print(f"wrote {path}{about}; replay it with: jali audit replay {shlex.quote(str(path))}", file=sys.stderr)
