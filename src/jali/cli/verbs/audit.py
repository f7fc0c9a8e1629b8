"""`jali audit`: audit one function or mechanism, audit everything that Jali has, or replay a witness.

An audit writes text or a document, a plot and a witness. Its exit code says whether a violation was proved.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from jali.cli.options import AsJson, number_option, read_whole_number, rename_parameters
from jali.cli.output import StageProgress, choose_ink, measure_width, read_plot_path, save_plot, write_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.lab.audit.audits import Audit, Audits
    from jali.lab.audit.subject import Effort, Subject, Tester
    from jali.privacy import Loss


# The exit code of a violation.
VIOLATION = 1
# How long an audit takes that nobody gave a time, and how many samples it takes at most.
QUICK, QUICK_ALL = 10.0, 60.0
_MOST, _MOST_DEEP = 1_000_000, 200_000_000

Samples = Annotated[
    str | None,
    number_option("The total number of outputs to sample; by default as many as time allows, up to 1e6."),
]
Confidence = Annotated[str, number_option("The probability that a correct function passes.")]
Seed = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", min=0, help="The seed for functions that take a generator."),
]
Deep = Annotated[str | None, number_option("The approximate time limit in seconds; a proof ends the audit early.")]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help="Plot the found against the claimed loss into this file.")
]


def read_effort(samples: int | None, confidence: str, seed: int | None, *, deep: bool) -> Effort:
    """Return the effort that the options ask for; the samples are a limit, where a time is one too."""
    from jali.lab.audit.subject import Effort
    from jali.privacy.rationals import rational

    limit = samples or (_MOST_DEEP if deep else _MOST)
    return Effort(limit, rational(confidence, "confidence"), seed)


def limit_samples(subject: Subject, effort: Effort, seconds: float | None) -> Effort:
    """Return the effort with no more samples than fit into a time."""
    from jali.lab.audit.runner import estimate_samples

    return (
        effort if seconds is None else replace(effort, samples=estimate_samples(subject, seconds, effort.samples))
    )


def read_seconds(text: str | None) -> float | None:
    """Return how many seconds --deep asks for."""
    from jali.privacy.rationals import positive

    return None if text is None else float(positive(text, "deep"))


def write_audit(made: Audit | Audits, *, path: Path | None, as_json: bool) -> None:
    """Write an audit, draw it, and leave with the code of its verdict."""
    save_plot(path, made, quiet=as_json)
    if as_json:
        write_json(made.to_dict())
    else:
        _print_audit(made)
    exit_on_violation(found=made.verdict.value == "violation")


def _print_audit(made: Audit | Audits) -> None:
    from jali.lab.audit.audit_report import write_report, write_reports
    from jali.lab.audit.audits import Audit

    ink, width = choose_ink(sys.stdout), measure_width(sys.stdout)
    told = (
        write_report(made, width=width, ink=ink)
        if isinstance(made, Audit)
        else write_reports(made, ink=ink, width=width)
    )
    print(told)


def exit_on_violation(*, found: bool) -> None:
    """End the program: 1 where a violation is proved."""
    if found:
        raise typer.Exit(VIOLATION)


def check_output_path(path: str | None, option: str) -> None:
    """Refuse a file in no directory before anything is run."""
    if path is not None and not Path(path).resolve().parent.is_dir():
        raise CatalogError("option-file-not-written", option=option, path=path)


@contextmanager
def redirect_output() -> Iterator[None]:
    """Send what an audited function prints to stderr: stdout is for what the audit says."""
    with redirect_stdout(sys.stderr):
        yield


def select_stages(skipped: str | None) -> tuple[Tester, ...] | None:
    """Return the stages without those that `--skip` names; None where all are run."""
    if skipped is None:
        return None
    from jali.lab.audit.runner import STAGES

    names = {name.strip().replace("-", " ") for name in skipped.split(",")}
    known = {tester.name for tester in STAGES}
    for name in names - known:
        listed = ", ".join(tester.name.replace(" ", "-") for tester in STAGES)
        raise CatalogError("audit-stage-unknown", stage=name, stages=listed)
    return tuple(tester for tester in STAGES if tester.name not in names)


def audit_everything(
    samples: Samples = None,
    confidence: Confidence = "0.99",
    seed: Seed = None,
    deep: Deep = None,
    workers: Annotated[
        str | None, number_option("The number of audit processes; one per core by default.")
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Audit every mechanism, stream, aggregate and session of Jali against its claim.

    Example: [bold]jali audit all --deep 600[/bold]
    """
    from jali.lab.audit.subjects.subject_registry import audit_registered

    path = read_plot_path(plot)
    with rename_parameters({"confidence": "--confidence", "deep": "--deep"}), StageProgress() as stages:
        effort = read_effort(read_whole_number(samples, "--samples"), confidence, seed, deep=deep is not None)
        seconds = read_seconds(deep) or (None if samples else QUICK_ALL)
        made = audit_registered(
            effort,
            seconds=seconds,
            brief=deep is None,
            workers=read_whole_number(workers, "--workers", example=2),
            progress=stages,
        )
    write_audit(made, path=path, as_json=as_json)


_HELP = """Try to prove a claim false: in every way that applies, with a witness where it succeeds.

A function module:function is given data of the pattern, and its outputs are
compared under neighbouring data. What is registered by name has claims, data and
neighbours of its own. Exit code 1 says that a violation was proved.

Example: [bold]jali audit mymodule:mechanism --epsilon 0.7 --adjacency replace-one[/bold]"""
_OPTIONS = {name: f"--{name}" for name in ("epsilon", "delta", "rho", "adjacency", "data", "confidence", "deep")}


def build_audit_command(target: str) -> Any:
    """Return the verb of a target."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")

    def verb(**given: Any) -> None:
        _run_audit(target, **given)

    signature = inspect.signature(_run_audit, eval_str=True)
    options = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    verb.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    app.command(target, help=_HELP)(verb)
    return typer.main.get_command(app)


def _run_audit(
    target: str,
    *,
    epsilon: Annotated[str | None, number_option("The loss that the function claims, or")] = None,
    rho: Annotated[str | None, number_option("the loss in zCDP that it claims.")] = None,
    delta: Annotated[str | None, number_option("The delta beside epsilon; none by default.")] = None,
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
    from jali.lab.audit.runner import audit, audit_all

    path = read_plot_path(plot)
    check_output_path(out, "--out")
    testers = select_stages(skip)
    given = {"epsilon": epsilon, "rho": rho, "delta": delta, "adjacency": adjacency, "data": data}
    with rename_parameters(_OPTIONS), StageProgress() as stages, redirect_output():
        effort = read_effort(read_whole_number(samples, "--samples"), confidence, seed, deep=deep is not None)
        limit = read_seconds(deep) or (None if samples else QUICK)
        subjects = _find_subjects(target, given)
        if len(subjects) == 1:
            made: Audit | Audits = audit(
                subjects[0], limit_samples(subjects[0], effort, limit), testers, onward=onward, progress=stages
            )
        else:
            made = audit_all(subjects, effort, testers, seconds=limit, progress=stages)
    if out is not None:
        _write_witness(made, Path(out), quiet=as_json)
    write_audit(made, path=path, as_json=as_json)


def _find_subjects(target: str, given: dict[str, str | None]) -> tuple[Subject, ...]:
    """Return what a target stands for: one function with the claim that is given, or all that have a name."""
    if ":" not in target:
        return _find_registered(target, [name for name, value in given.items() if value is not None])
    from jali.lab.audit.subject_loader import subject_from

    return (subject_from(target, claim=_read_claim(given), adjacency=given["adjacency"], data=given["data"]),)


def _find_registered(target: str, given: Sequence[str]) -> tuple[Subject, ...]:
    from jali.lab.audit.subjects.subject_registry import find_subjects

    found = find_subjects(target)
    if given:
        raise CatalogError("audit-option-meaningless", target=target, option=given[0])
    return found


def _read_claim(given: dict[str, str | None]) -> Loss | None:
    """Return the loss that the options state; None if they state none, as some targets know their own."""
    from jali.lab.audit.subject_loader import build_claim

    epsilon, delta, rho = (given[name] for name in ("epsilon", "delta", "rho"))
    if epsilon is None and delta is None and rho is None:
        return None
    return build_claim(epsilon=epsilon, delta=delta, rho=rho)


def _write_witness(made: Audit | Audits, path: Path, *, quiet: bool) -> None:
    """Write the witness of an audit; of many, that of the one that says most."""
    from jali.lab.audit.witness_file import write

    write(made.telling, path)
    if not quiet:
        about = "" if made is made.telling else f", of {made.telling.name}"
        print(f"wrote {path}{about}; replay it with: jali audit replay {shlex.quote(str(path))}", file=sys.stderr)


def replay(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file written by `jali audit TARGET --out FILE`.")
    ],
    samples: Annotated[
        str | None,
        number_option("The total number of outputs to sample from both inputs; the recorded number by default."),
    ] = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Replay a witness: rebuild its subject and count its event on fresh samples of both inputs.

    Example: [bold]jali audit replay witness.json[/bold]
    """
    from jali.lab.audit.audit_report import write_replay
    from jali.lab.audit.witness_file import read

    kept = read(Path(file))
    with StageProgress() as stages, redirect_output():
        made = kept.replay(samples=read_whole_number(samples, "--samples"), seed=seed, progress=stages)
    if as_json:
        write_json(made.to_dict())
    else:
        print(write_replay(made, width=measure_width(sys.stdout), ink=choose_ink(sys.stdout)))
    exit_on_violation(found=made.finding.verdict.value == "violation")


# By the word that stands for each.
VERBS: dict[str, Callable[..., None]] = {"all": audit_everything, "replay": replay}


class AuditGroup(TyperGroup):
    """The verbs about all subjects and about witnesses; every other word is a target."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the verb of a word; the audit of that target where there is no other."""
        return super().get_command(ctx, cmd_name) or build_audit_command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb; an error names the targets."""
        return self._click_resolve_command(ctx, args)


group = typer.Typer(cls=AuditGroup, subcommand_metavar="TARGET|all|replay [OPTIONS]")
for _word, _verb in VERBS.items():
    group.command(_word)(_verb)


@group.callback(invoke_without_command=True)
def audit(context: typer.Context, as_json: AsJson = False) -> None:
    """Try to prove a privacy claim false: of your own function, or of a mechanism of Jali.

    TARGET is a function of data, module:function or file.py:function, with the
    loss that it claims, or a name from the list that `jali audit` prints.
    See `jali audit TARGET --help` for the options. No real data is read.

    Example: [bold]jali audit mymodule:mechanism --epsilon 0.7 --adjacency replace-one[/bold]
    """
    if context.invoked_subcommand is None:
        _list_subjects(as_json=as_json)


def _list_subjects(*, as_json: bool) -> None:
    """Say what can be audited by name."""
    from jali.lab.audit.audit_report import write_listing
    from jali.lab.audit.subjects.subject_registry import list_entries

    if not as_json:
        print(write_listing(list_entries(), ink=choose_ink(sys.stdout)))
        return
    told = [
        {"name": one.name, "group": one.group, "claim": str(one.claim.event), "adjacency": one.adjacency.value}
        for one in list_entries()
    ]
    write_json({"registered": told})
