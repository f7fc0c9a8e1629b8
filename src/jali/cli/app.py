"""The program `jali`: its verbs, and the one place where errors become text and exit codes."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from jali.cli.errors import CommandFailed, report_error, report_unexpected, report_usage
from jali.cli.verbs import (
    advise,
    ask,
    attack,
    audit,
    batch,
    compare,
    demo,
    explain,
    init,
    ledger,
    plan,
    protect,
    redeem,
    refresh,
    rehearse,
    removed,
    serve,
    stream,
    survey,
    tables,
    token,
    verify,
)
from jali.errors import JaliError

INTERRUPTED = 130

app = typer.Typer(
    name="jali",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
VERBS = (
    ("Curator", init.init),
    ("Curator", protect.protect),
    ("Curator", protect.publish),
    ("Curator", protect.grant),
    ("Curator", refresh.refresh),
    ("Curator", refresh.check),
    ("Curator", advise.advise),
    ("Curator", refresh.prepare),
    ("Curator", stream.stream),
    ("Curator", serve.serve),
    ("Curator", token.token),
    ("Curator", verify.verify),
    ("Analyst", tables.tables),
    ("Analyst", ask.ask),
    ("Analyst", explain.explain),
    ("Analyst", rehearse.rehearse),
    ("Analyst", removed.removed),
    ("Analyst", batch.batch),
    ("Analyst", redeem.redeem),
    ("Analyst", ledger.ledger),
    ("To begin with", plan.plan),
    ("To begin with", survey.survey),
    ("To begin with", compare.compare),
    ("To begin with", attack.attack),
    ("To begin with", audit.audit),
    ("To begin with", demo.demo),
)
# Verbs that take a second word.
SUBVERBS: dict[str, tuple[Callable[..., None], ...]] = {
    plan.plan.__name__: (plan.stream,),
    ledger.ledger.__name__: (ledger.move, ledger.anchor, ledger.recover),
    stream.stream.__name__: stream.VERBS,
    token.token.__name__: token.VERBS,
    attack.attack.__name__: (),
    audit.audit.__name__: (),
}
for _panel, _verb in VERBS:
    if _verb.__name__ not in SUBVERBS:
        app.command(rich_help_panel=_panel)(_verb)
for _verb, _group, _panel in (
    (plan.plan, plan.PlanGroup, "To begin with"),
    (ledger.ledger, ledger.LedgerGroup, "Analyst"),
):
    _subverbs = typer.Typer()
    for _subverb in SUBVERBS[_verb.__name__]:
        _subverbs.command()(_subverb)
    app.add_typer(
        _subverbs,
        name=_verb.__name__,
        callback=_verb,
        cls=_group,
        invoke_without_command=True,
        rich_help_panel=_panel,
    )
app.add_typer(stream.group, name=stream.stream.__name__, rich_help_panel="Curator")
app.add_typer(token.group, name=token.token.__name__, rich_help_panel="Curator")
app.add_typer(attack.group, name=attack.attack.__name__, rich_help_panel="To begin with")
app.add_typer(audit.group, name=audit.audit.__name__, rich_help_panel="To begin with")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"jali {version('jali')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def jali(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A private statistical database: ask in SQL, get answers with confidence intervals and receipts.

    Example: [bold]jali demo[/bold]
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code.

    0 answered, 1 an audit found a violation, 2 wrong use, 3 budget, 4 unsupported, 5 failure.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    _accept_any_text()
    try:
        code = app(given, prog_name="jali", standalone_mode=False)
    except CommandFailed as failed:
        return report_error(failed.error, as_json=as_json, asked=failed.asked)
    except JaliError as error:
        return report_error(error, as_json=as_json)
    except typer.TyperException as error:
        return report_usage(error, verb=_find_verb(given), as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception:
        # Not even the type: an unforeseen error may depend on the data.
        return report_unexpected(as_json=as_json)
    if code == INTERRUPTED:
        print("jali: Stopped. A reserved question keeps its receipt: see `jali ledger`.", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _find_verb(given: Sequence[str]) -> str | None:
    """Return the verb of a command line, where it has one, with its second word, where it has one too."""
    first, second = [*(word for word in given if not word.startswith("-")), "", ""][:2]
    named = first in (attack.attack.__name__, audit.audit.__name__) and second != ""
    if named or second in {verb.__name__.rstrip("_") for verb in SUBVERBS.get(first, ())}:
        return f"{first} {second}"
    return first if first in {verb.__name__ for _, verb in VERBS} else None


def _accept_any_text() -> None:
    """Let a terminal that lacks a sign show a question mark: an answer that is paid for must not be lost to it."""
    for out in (sys.stdout, sys.stderr):
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="replace")
