"""`jali plan`: which noise, how many questions, and what budget is enough. No database is opened."""

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

from jali.cli.numbers import naming_options, number, whole
from jali.cli.options import AsJson
from jali.cli.terminal import ink_for, width_for
from jali.cli.writing import check_confidence, write_json
from jali.display.text import NARROWEST, TextColumn, table
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.privacy import Budget
    from jali.privacy.composition.table import Table
    from jali.privacy.planning.plan import QueryPlan

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


class Plans(TyperGroup):
    """The verb `jali plan`, and what else can be planned: `jali plan stream`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find what is to be planned; any other word is one too many, as it is for every verb."""
        if args[0] not in self.commands:
            ctx.fail(f"Got unexpected extra argument(s) ({' '.join(args)})")
        return super().resolve_command(ctx, args)


def plan(
    context: typer.Context,
    epsilon: Annotated[str | None, number("What all queries together may spend.")] = None,
    delta: Annotated[str, number("Their delta; Gaussian noise needs one.")] = "0",
    queries: Annotated[str | None, number("How many counting queries.")] = None,
    error: Annotated[str | None, number("The error that is accepted.")] = None,
    rows: Annotated[str | None, number("Accept noise up to the sampling error of so many rows.")] = None,
    each_epsilon: Annotated[str | None, number("What one query spends: show what all of them cost.")] = None,
    confidence: Annotated[str | None, number("The confidence of each error; 0.95 by default.")] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="The confidence is for all counts at once.")
    ] = False,
    stddev: Annotated[
        bool, typer.Option("--stddev", help="Errors are standard deviations, without a confidence.")
    ] = False,
    sensitivity: Annotated[str | None, number("How far one person moves each count; 1 by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Plan counting queries: which noise wins, how many queries fit, what epsilon is enough. Free.

    Of --epsilon, --queries and --error give two; the third is planned. No database is needed.

    Example: [bold]jali plan --epsilon 1 --delta 1e-6 --queries 50[/bold]
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    asked = _Asked(epsilon, delta, whole(queries, "--queries"), error, whole(rows, "--rows"), each_epsilon)
    held = _confidence(confidence)
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
        _write(asked.planned(None if stddev else held, simultaneous, sensitivity or "1"), as_json=as_json)


def _refuse_options(context: typer.Context) -> None:
    """Refuse options of `jali plan` before the word that says what else is planned."""
    usual = {option.name: option.default for option in context.command.params}
    given = next((name for name, value in context.params.items() if value != usual[name]), None)
    if given is not None:
        what, option = context.invoked_subcommand, given.removeprefix("as_").replace("_", "-")
        raise CatalogError("plan-option-misplaced", option=option, plan=what)


def _confidence(text: str | None) -> float:
    from jali.privacy.rationals import rational

    if text is None:
        return 0.95
    with naming_options(_OPTIONS):
        held = float(rational(text, "confidence"))
    check_confidence(held)
    return held


@dataclass(frozen=True)
class _Clash:
    """Options that have no meaning beside another one, and why."""

    options: tuple[str, ...]
    beside: str
    reason: str


_CLASHES = (
    _Clash(("--simultaneous",), "--stddev", "a standard deviation is of one count"),
    _Clash(("--confidence",), "--stddev", "a standard deviation has no confidence"),
    _Clash(("--simultaneous", "--confidence"), "--rows", "the sampling error is a standard deviation"),
    _Clash(
        ("--stddev", "--simultaneous", "--confidence", "--sensitivity"),
        "--each-epsilon",
        "it plans losses, not errors",
    ),
)


@dataclass(frozen=True)
class _Asked:
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
        for clash in _CLASHES:
            self._refuse(clash, given)

    def _refuse(self, clash: _Clash, given: Sequence[str]) -> None:
        present = (*given, *(f"--{name.replace('_', '-')}" for name in self._given))
        refused = next((option for option in clash.options if option in given), None)
        if refused is not None and clash.beside in present:
            raise CatalogError("plan-options-clash", option=refused, other=clash.beside, reason=clash.reason)

    def planned(self, confidence: float | None, simultaneous: bool, sensitivity: str) -> QueryPlan:
        """Return the plan for the two that were given."""
        from jali.privacy.planning.queries import least_epsilon, plan_queries, queries_below_sampling_error

        how: dict[str, Any] = {"confidence": confidence, "simultaneous": simultaneous, "sensitivity": sensitivity}
        with naming_options(_OPTIONS):
            match self:
                case _Asked(str(), _, int(), None, None):
                    return plan_queries(self._budget, self.queries, **how)
                case _Asked(str(), _, None, str(), None):
                    return plan_queries(self._budget, accuracy=self.error, **how)
                case _Asked(None, _, int(queries), str(error), None):
                    return least_epsilon(queries, error, delta=self.delta, **how)
                case _Asked(str(), _, None, None, int(rows)):
                    return queries_below_sampling_error(self._budget, rows, sensitivity=sensitivity)
        raise self._complaint

    def cost(self) -> tuple[Table, int, Fraction]:
        """Return what queries of one loss cost together, by each theorem."""
        from jali.privacy.composition.compose import compose
        from jali.privacy.losses.pure import Pure
        from jali.privacy.planning.limits import count
        from jali.privacy.rationals import positive

        if self._given != ("queries", "each_epsilon"):
            raise self._complaint
        with naming_options(_OPTIONS):
            queries, each = count(self.queries or 0, "k"), positive(self.each_epsilon or 0, "each_epsilon")
            return compose((Pure(each), queries)).table(self.delta), queries, each

    @property
    def _budget(self) -> Budget:
        from jali.privacy import Budget

        return Budget(self.epsilon or 0, self.delta)

    @property
    def _given(self) -> tuple[str, ...]:
        names = ("epsilon", "queries", "error", "rows", "each_epsilon")
        return tuple(name for name in names if getattr(self, name) is not None)

    @property
    def _complaint(self) -> CatalogError:
        options = tuple(f"--{name.replace('_', '-')}" for name in self._given)
        if not options:
            return CatalogError("plan-options-missing")
        if len(options) == 1:
            return CatalogError("plan-option-alone", option=options[0])
        return CatalogError("plan-options-exclusive", options=options[:-1], last=options[-1])


def _write(made: QueryPlan, *, as_json: bool) -> None:
    from jali.privacy.budget import Budget
    from jali.privacy.planning.crossover import crossover

    budget = made.budget or Budget(made.best.epsilon, made.delta)
    crossed = crossover(budget, confidence=made.measure.confidence, simultaneous=made.measure.simultaneous)
    if as_json:
        write_json(made.to_dict() | {"crossover": crossed.to_dict()})
        return
    ink = ink_for(sys.stdout)
    print(f"{wrapped(made.title, ink.strong)}\n\n{table(_columns(made.headings, made.cells()), ink=ink)}\n")
    print(wrapped(made.legend, ink.faint))
    found = f"At epsilon {_loss(float(budget.epsilon))}, {crossed.sentence}."
    print(wrapped(str(crossed) if made.budget else found))
    print(wrapped(made.advice, ink.accent))


def _write_cost(costs: Table, queries: int, each: Fraction, *, as_json: bool) -> None:
    from jali.numerals import decimal

    if as_json:
        write_json(_cost_json(costs, queries, each))
        return
    ink = ink_for(sys.stdout)
    many = f"{queries:,} {'query' if queries == 1 else 'queries'}"
    title = f"{many} of epsilon {decimal(each)} each, at delta {decimal(costs.delta)}"
    print(f"{wrapped(title, ink.strong)}\n\n{table(_columns(_COST, _cost_cells(costs)), ink=ink)}")
    print(f"\n{wrapped(_silent(costs), ink.faint)}")
    if costs.best is not None:
        together = f"Together they spend epsilon {_loss(costs.best.epsilon)}, by {costs.best.theorem}."
        print(wrapped(together, ink.accent))


def _cost_cells(costs: Table) -> list[tuple[str, str, str]]:
    """Return the rows of the table, names wrapped so that all of it fits a narrow terminal."""
    from jali.privacy.composition.table import Bound

    bounds = [row for row in costs if isinstance(row, Bound)]
    _, amount, mark = _COST
    widest = max(len(text) for text in (amount, *(_loss(row.epsilon) for row in bounds)))
    room = NARROWEST - len(f"  {' ' * widest}  {mark}")
    cells = []
    for row in bounds:
        first, *rest = textwrap.wrap(row.theorem.name, room, subsequent_indent="  ", break_on_hyphens=False)
        cells.append((first, _loss(row.epsilon), "*" if row is costs.best else ""))
        cells += [(more, "", "") for more in rest]
    return cells


def _silent(costs: Table) -> str:
    """Say which theorems have no epsilon, and why."""
    from jali.privacy.composition.table import Inapplicable

    reasons: dict[str, list[str]] = {}
    for row in costs:
        if isinstance(row, Inapplicable):
            reasons.setdefault(row.reason, []).append(row.theorem.name)
    told = "; ".join(f"{', '.join(names)}, as {reason}" for reason, names in reasons.items())
    return f"Left out: {told}." if told else ""


def wrapped(text: str, mark: Callable[[str], str] = str) -> str:
    """Return a text in lines that the terminal takes, each of them marked."""
    return "\n".join(mark(line) for line in textwrap.wrap(text, width_for(sys.stdout), break_on_hyphens=False))


def _columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[TextColumn]:
    """Return columns of text: names and marks to the left, numbers to the right."""
    last = len(headings) - 1
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    return [TextColumn(head, cells, right=0 < j < last) for j, (head, cells) in enumerate(columns)]


def _cost_json(costs: Table, queries: int, each: Fraction) -> dict[str, Any]:
    from jali.privacy.composition.table import Bound

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


def _loss(epsilon: float) -> str:
    """Write a loss with six digits, rounded up; the last bit, which only says "above 1e-6", is not shown."""
    from jali.privacy.rounding import rational_above

    return f"{float(rational_above(math.nextafter(epsilon, 0), digits=6)):.6g}"
