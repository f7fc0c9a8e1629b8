"""`jali plan` and `jali plan stream`: choose noise, budget and counter. No database is opened."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from jali.cli.options import (
    AsJson,
    number_option,
    read_confidence,
    read_horizon,
    read_whole_number,
    rename_parameters,
)
from jali.cli.output import choose_ink, measure_width, write_json
from jali.display.text import NARROWEST, TextColumn, write_table
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.privacy import Budget
    from jali.privacy.composition.theorem_table import Table
    from jali.privacy.planning.query_plan import QueryPlan
    from jali.streams import Alternative, Choices, Participation


_COST = ("by", "epsilon", "best")

# The parameters of the planner, and the options that set them.
_OPTIONS = {
    "epsilon": "--epsilon",
    "delta": "--delta",
    "k": "--queries",
    "accuracy": "--error",
    "rows": "--rows",
    "each_epsilon": "--each-epsilon",
    "sensitivity": "--sensitivity",
    "confidence": "--confidence",
}


class PlanGroup(TyperGroup):
    """The verb `jali plan`, and what else can be planned: `jali plan stream`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find what is to be planned; any other word is one too many, as it is for every verb."""
        if args[0] not in self.commands:
            ctx.fail(f"Got unexpected extra argument(s) ({' '.join(args)})")
        return super().resolve_command(ctx, args)


def plan(
    context: typer.Context,
    epsilon: Annotated[str | None, number_option("The total epsilon of all queries.")] = None,
    delta: Annotated[str, number_option("The total delta; Gaussian noise needs one.")] = "0",
    queries: Annotated[str | None, number_option("The number of counting queries.")] = None,
    error: Annotated[str | None, number_option("The accepted margin of error.")] = None,
    rows: Annotated[str | None, number_option("Accept noise up to the sampling error of this many rows.")] = None,
    each_epsilon: Annotated[
        str | None, number_option("The epsilon of one query: shows the total loss of all.")
    ] = None,
    confidence: Annotated[str | None, number_option("The confidence of the error; 0.95 by default.")] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="The confidence holds for all counts simultaneously.")
    ] = False,
    stddev: Annotated[
        bool, typer.Option("--stddev", help="Errors are standard deviations, without a confidence.")
    ] = False,
    sensitivity: Annotated[str | None, number_option("The sensitivity of each count; 1 by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Plan counting queries: which noise is best, how many queries fit, which epsilon is enough. Free.

    Give two of --epsilon, --queries and --error; the third is computed. No database is needed.

    Example: [bold]jali plan --epsilon 1 --delta 1e-6 --queries 50[/bold]
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    asked = _PlanRequest(
        epsilon,
        delta,
        read_whole_number(queries, "--queries"),
        error,
        read_whole_number(rows, "--rows"),
        each_epsilon,
    )
    held = read_confidence(confidence)
    asked.refuse(
        {
            "--stddev": stddev,
            "--simultaneous": simultaneous,
            "--confidence": confidence is not None,
            "--sensitivity": sensitivity is not None,
        }
    )
    if each_epsilon is not None:
        _write_cost(*asked.cost(), as_json=as_json)
    else:
        _write_plan(asked.build_plan(None if stddev else held, simultaneous, sensitivity or "1"), as_json=as_json)


def _refuse_options(context: typer.Context) -> None:
    """Refuse options of `jali plan` before the word that says what else is planned."""
    usual = {option.name: option.default for option in context.command.params}
    given = next((name for name, value in context.params.items() if value != usual[name]), None)
    if given is not None:
        what, option = context.invoked_subcommand, given.removeprefix("as_").replace("_", "-")
        raise CatalogError("plan-option-misplaced", option=option, plan=what)


@dataclass(frozen=True)
class _OptionConflict:
    """Options that have no meaning beside another one, and why."""

    options: tuple[str, ...]
    beside: str
    reason: str


_CONFLICTS = (
    _OptionConflict(("--simultaneous",), "--stddev", "a standard deviation is of one count"),
    _OptionConflict(("--confidence",), "--stddev", "a standard deviation has no confidence"),
    _OptionConflict(("--simultaneous", "--confidence"), "--rows", "the sampling error is a standard deviation"),
    _OptionConflict(
        ("--stddev", "--simultaneous", "--confidence", "--sensitivity"),
        "--each-epsilon",
        "it plans losses, not errors",
    ),
)


@dataclass(frozen=True)
class _PlanRequest:
    """What the command line gave."""

    epsilon: str | None
    delta: str
    queries: int | None
    error: str | None
    rows: int | None
    each_epsilon: str | None

    def refuse(self, flags: Mapping[str, bool]) -> None:
        """Refuse options that would have no meaning."""
        given = [option for option, is_given in flags.items() if is_given]
        for clash in _CONFLICTS:
            self._refuse(clash, given)

    def _refuse(self, clash: _OptionConflict, given: Sequence[str]) -> None:
        present = (*given, *(f"--{name.replace('_', '-')}" for name in self._present_names))
        refused = next((option for option in clash.options if option in given), None)
        if refused is not None and clash.beside in present:
            raise CatalogError("plan-options-clash", option=refused, other=clash.beside, reason=clash.reason)

    def build_plan(self, confidence: float | None, simultaneous: bool, sensitivity: str) -> QueryPlan:
        """Return the plan for the two that were given."""
        from jali.privacy.planning.plan_queries import least_epsilon, plan_queries, queries_below_sampling_error

        how: dict[str, Any] = {"confidence": confidence, "simultaneous": simultaneous, "sensitivity": sensitivity}
        with rename_parameters(_OPTIONS):
            match self:
                case _PlanRequest(str(), _, int(), None, None):
                    return plan_queries(self._budget, self.queries, **how)
                case _PlanRequest(str(), _, None, str(), None):
                    return plan_queries(self._budget, accuracy=self.error, **how)
                case _PlanRequest(None, _, int(queries), str(error), None):
                    return least_epsilon(queries, error, delta=self.delta, **how)
                case _PlanRequest(str(), _, None, None, int(rows)):
                    return queries_below_sampling_error(self._budget, rows, sensitivity=sensitivity)
        raise self._complaint

    def cost(self) -> tuple[Table, int, Fraction]:
        """Return what queries of one loss cost together, by each theorem."""
        from jali.privacy.composition.compose import compose
        from jali.privacy.losses.pure_loss import Pure
        from jali.privacy.planning.safe_search import count
        from jali.privacy.rationals import positive

        if self._present_names != ("queries", "each_epsilon"):
            raise self._complaint
        with rename_parameters(_OPTIONS):
            queries, each = count(self.queries or 0, "k"), positive(self.each_epsilon or 0, "each_epsilon")
            return compose((Pure(each), queries)).table(self.delta), queries, each

    @property
    def _budget(self) -> Budget:
        from jali.privacy import Budget

        return Budget(self.epsilon or 0, self.delta)

    @property
    def _present_names(self) -> tuple[str, ...]:
        names = ("epsilon", "queries", "error", "rows", "each_epsilon")
        return tuple(name for name in names if getattr(self, name) is not None)

    @property
    def _complaint(self) -> CatalogError:
        options = tuple(f"--{name.replace('_', '-')}" for name in self._present_names)
        if not options:
            return CatalogError("plan-options-missing")
        if len(options) == 1:
            return CatalogError("plan-option-alone", option=options[0])
        return CatalogError("plan-options-exclusive", options=options[:-1], last=options[-1])


def _write_plan(made: QueryPlan, *, as_json: bool) -> None:
    from jali.privacy.budget import Budget
    from jali.privacy.planning.crossover import crossover

    budget = made.budget or Budget(made.best.epsilon, made.delta)
    crossed = crossover(budget, confidence=made.measure.confidence, simultaneous=made.measure.simultaneous)
    if as_json:
        write_json(made.to_dict() | {"crossover": crossed.to_dict()})
        return
    ink = choose_ink(sys.stdout)
    print(
        f"{wrap_text(made.title, ink.strong)}\n\n"
        f"{write_table(_build_columns(made.headings, made.cells()), ink=ink)}\n"
    )
    print(wrap_text(made.legend, ink.faint))
    found = f"At epsilon {_format_loss(float(budget.epsilon))}, {crossed.sentence}."
    print(wrap_text(str(crossed) if made.budget else found))
    print(wrap_text(made.advice, ink.accent))


def _write_cost(costs: Table, queries: int, each: Fraction, *, as_json: bool) -> None:
    from jali.numbers.exact import decimal

    if as_json:
        write_json(_encode_cost(costs, queries, each))
        return
    ink = choose_ink(sys.stdout)
    many = f"{queries:,} {'query' if queries == 1 else 'queries'}"
    title = f"{many} of epsilon {decimal(each)} each, at delta {decimal(costs.delta)}"
    print(
        f"{wrap_text(title, ink.strong)}\n\n{write_table(_build_columns(_COST, _build_cost_rows(costs)), ink=ink)}"
    )
    print(f"\n{wrap_text(_explain_missing(costs), ink.faint)}")
    if costs.best is not None:
        together = f"Together they spend epsilon {_format_loss(costs.best.epsilon)}, by {costs.best.theorem}."
        print(wrap_text(together, ink.accent))


def _build_cost_rows(costs: Table) -> list[tuple[str, str, str]]:
    """Return the rows of the table, names wrapped so that all of it fits a narrow terminal."""
    from jali.privacy.composition.theorem_table import Bound

    bounds = [row for row in costs if isinstance(row, Bound)]
    _, amount, mark = _COST
    widest = max(len(text) for text in (amount, *(_format_loss(row.epsilon) for row in bounds)))
    room = NARROWEST - len(f"  {' ' * widest}  {mark}")
    cells = []
    for row in bounds:
        first, *rest = textwrap.wrap(row.theorem.name, room, subsequent_indent="  ", break_on_hyphens=False)
        cells.append((first, _format_loss(row.epsilon), "*" if row is costs.best else ""))
        cells += [(more, "", "") for more in rest]
    return cells


def _explain_missing(costs: Table) -> str:
    """Say which theorems have no epsilon, and why."""
    from jali.privacy.composition.theorem_table import Inapplicable

    reasons: dict[str, list[str]] = {}
    for row in costs:
        if isinstance(row, Inapplicable):
            reasons.setdefault(row.reason, []).append(row.theorem.name)
    told = "; ".join(f"{', '.join(names)}, as {reason}" for reason, names in reasons.items())
    return f"Left out: {told}." if told else ""


def wrap_text(text: str, mark: Callable[[str], str] = str) -> str:
    """Return a text in lines that the terminal takes, each of them marked."""
    return "\n".join(mark(line) for line in textwrap.wrap(text, measure_width(sys.stdout), break_on_hyphens=False))


def _build_columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[TextColumn]:
    """Return columns of text: names and marks to the left, numbers to the right."""
    last = len(headings) - 1
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    return [TextColumn(head, cells, right=0 < j < last) for j, (head, cells) in enumerate(columns)]


def _encode_cost(costs: Table, queries: int, each: Fraction) -> dict[str, Any]:
    from jali.privacy.composition.theorem_table import Bound

    rows = [
        {"theorem": row.theorem.name, "epsilon": row.epsilon, "reason": None}
        if isinstance(row, Bound)
        else {"theorem": row.theorem.name, "epsilon": None, "reason": row.reason}
        for row in costs
    ]
    best = None if costs.best is None else costs.best.theorem.name
    return {
        "solved": "composition",
        "queries": queries,
        "each_epsilon": str(each),
        "delta": str(costs.delta),
        "theorems": rows,
        "best": best,
    }


def _format_loss(epsilon: float) -> str:
    """Write a loss with six digits, rounded up; the last bit, which only says "above 1e-6", is not shown."""
    from jali.numbers.rounding import rational_above

    return f"{float(rational_above(math.nextafter(epsilon, 0), digits=6)):.6g}"


# The parameters of the chooser, and the options that set them.
_STREAM_OPTIONS = {
    "horizon": "--horizon",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "rho": "--rho",
    "ticks": "--max-ticks",
    "separation": "--separation",
    "l1": "--max-items",
    "memory": "--memory",
    "by": "--by",
    "last": "--last",
    "restart": "--restart",
}
_LEGEND = (
    "largest, rms: the largest standard deviation over all ticks, and the root of the mean squared error."
    " ± 95 %: what the error after the worst tick stays within. keeps: numbers kept for each key, besides noise"
    " drawn ahead."
)


def stream(
    horizon: Annotated[str | None, number_option("The number of ticks of the stream; none if unknown.")] = None,
    last: Annotated[str | None, number_option("Publish values over a sliding window of this many ticks.")] = None,
    restart: Annotated[
        str | None, number_option("Restart the values after this many ticks; 1 for each tick.")
    ] = None,
    epsilon: Annotated[str | None, number_option("The total epsilon of the stream.")] = None,
    delta: Annotated[str | None, number_option("The total delta, which allows Gaussian noise.")] = None,
    rho: Annotated[str | None, number_option("The privacy loss in zCDP instead, with Gaussian noise.")] = None,
    max_ticks: Annotated[str, number_option("Contribution bound: ticks per person.")] = "1",
    separation: Annotated[str, number_option("The least distance between two of these ticks.")] = "1",
    max_items: Annotated[
        str, number_option("Contribution bound: items, or amount of a sum, per person and tick.")
    ] = "1",
    replace_one: Annotated[
        bool, typer.Option("--replace-one", help="Use replace-one adjacency instead of add-remove.")
    ] = False,
    oblivious: Annotated[
        bool, typer.Option("--oblivious", help="Assert that increments never depend on published values.")
    ] = False,
    memory: Annotated[str | None, number_option("The largest number of values to keep per key.")] = None,
    by: Annotated[str, typer.Option(metavar="FIGURE", help="The error to minimize: largest or rms.")] = "largest",
    as_json: AsJson = False,
) -> None:
    """Plan a stream: which counter to use, and the forecast error of its running sums. Free.

    Example: [bold]jali plan stream --horizon 365 --epsilon 1[/bold]
    """
    from jali.streams import Participation, choose

    _check_stream_loss(epsilon, delta, rho)
    with rename_parameters(_STREAM_OPTIONS):
        person = Participation(
            adjacency="replace-one" if replace_one else "add-remove",
            ticks=read_whole_number(max_ticks, "--max-ticks") or 1,
            separation=read_whole_number(separation, "--separation") or 1,
            l1=max_items,
        )
        choices = choose(
            horizon=read_horizon(horizon, windowed=last is not None or restart is not None),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            person=person,
            adaptive=not oblivious,
            memory=read_whole_number(memory, "--memory"),
            by=by,  # type: ignore[arg-type]
            last=read_whole_number(last, "--last"),
            restart=read_whole_number(restart, "--restart"),
        )
    if as_json:
        write_json(_encode_choices(choices, person))
    else:
        _write_choices(choices)


def _check_stream_loss(epsilon: str | None, delta: str | None, rho: str | None) -> None:
    if epsilon is None and rho is None:
        raise CatalogError("plan-stream-loss-missing")
    if epsilon is not None and rho is not None:
        raise CatalogError("plan-stream-epsilon-and-rho")
    if rho is not None and delta is not None:
        raise CatalogError("stream-option-delta-with-rho")


def _write_choices(choices: Choices) -> None:
    ink = choose_ink(sys.stdout)
    columns = zip(choices.headings, zip(*choices.cells(), strict=True), strict=True)
    last = len(choices.headings) - 1
    shown = [TextColumn(head, cells, right=1 < j < last) for j, (head, cells) in enumerate(columns)]
    print(f"{_wrap_narrow(choices.title, ink.strong)}\n\n{write_table(shown, ink=ink)}\n")
    for text in (_LEGEND, *(f"Left out: {reason}" for reason in choices.reasons)):
        print(_wrap_narrow(text, ink.faint))
    print(_wrap_narrow(choices.advice, ink.accent))


def _wrap_narrow(text: str, mark: Callable[[str], str]) -> str:
    """Return a text in lines as wide as the table, which every terminal takes."""
    return "\n".join(mark(line) for line in textwrap.wrap(text, NARROWEST, break_on_hyphens=False))


def _encode_choices(choices: Choices, person: Participation) -> dict[str, Any]:
    """Return the plan as plain values: exact rationals as text, errors as numbers."""
    return {
        "title": choices.title,
        "person": {
            "adjacency": str(person.adjacency),
            "max_ticks": person.ticks,
            "separation": person.separation,
            "max_items": str(person.l1),
        },
        "by": choices.by,
        "best": choices.best.name,
        "advice": choices.advice,
        "counters": [_encode_counter(row) for row in choices.alternatives],
    }


def _encode_counter(row: Alternative) -> dict[str, Any]:
    return {
        "counter": row.name,
        "noise": row.noise,
        "epsilon": _format_exact(row, "epsilon"),
        "rho": _format_exact(row, "rho"),
        "largest": row.largest,
        "rms": row.rms,
        "error": row.error,
        "keeps": row.numbers_kept,
        "left_out": row.said or None,
    }


def _format_exact(row: Alternative, name: str) -> str | None:
    value: Fraction | None = getattr(row.counter, name, None)
    return None if value is None else str(value)
