"""Advise a curator on max_rows, ranges and keys of a table, each from an ordinary purchase.

Guarantee:
    Every number leaves by the plan of a question, or of a range that is bought, which the ledger charges before
    any data is read. What is proposed is made of those releases alone. Which of them are asked, and for how much,
    is decided by the declaration and the arguments.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from jali.catalog.columns import Field, Keys, Kind, Range
from jali.catalog.spelling import suggest_name
from jali.catalog.tables import Catalog, Table
from jali.catalog.to_code import to_exact, write_python_call, write_shell_call
from jali.display.numbers import show_interval, show_percent
from jali.errors import CatalogError, QueryError
from jali.execution.accounts import CURATOR, Accounts
from jali.execution.ask import QuestionRunner
from jali.execution.declared_tables import DeclaredTables
from jali.execution.reservation import ReservationRequest, ignore_stage
from jali.ir.expressions import Aggregate, Column, Derived, Literal, NamedTable, Output, Question, Select
from jali.planner import Plan
from jali.planner.buy_range import plan_range, purchase_key, purchase_name, read_range, rows_needed
from jali.planner.terms import TermArguments
from jali.privacy import NOTHING, Event
from jali.privacy.rationals import Number, positive, probability

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.ledger import Ledger


Declaration: TypeAlias = int | Range | Keys


@dataclass(frozen=True)
class ProposedDeclaration:
    """A declaration that is proposed, or would be looked for.

    Attributes:
        subject: A column, or `max_rows`.
        asked: What is asked of the data for it.
        cost: The loss that it is charged; nothing where it was bought before.
        value: What is proposed; None before it is bought, and where nothing was found.
        rests_on: What the release says, and how sure that is.
        receipt: The ledger's name for the release.
    """

    subject: str
    asked: str
    cost: Event
    value: Declaration | None = None
    rests_on: str = ""
    receipt: str | None = None

    @property
    def summary(self) -> str:
        """The proposal in a few words; what is asked where there is none yet."""
        if self.receipt is None:
            return self.asked
        return f"{'nothing' if self.value is None else _describe_declaration(self.value)}: {self.rests_on}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "subject": self.subject,
            "asked": self.asked,
            "epsilon": str(self.cost.amount),
            "delta": str(self.cost.delta),
            "value": _to_json(self.value),
            "rests_on": self.rests_on or None,
            "receipt": self.receipt,
        }


@dataclass(frozen=True)
class Advice:
    """What is proposed for a table, or would be looked for.

    Attributes:
        table: The table as it is declared now.
        proposals: One for each declaration.
        left_out: What is not looked for, and why.
    """

    table: Table
    proposals: tuple[ProposedDeclaration, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def cost(self) -> Event:
        """The loss of all of it."""
        return reduce(Event.__add__, (proposal.cost for proposal in self.proposals), NOTHING)

    @property
    def paid(self) -> bool:
        """Whether it was bought. If not, it is only planned."""
        return bool(self.proposals) and all(proposal.receipt is not None for proposal in self.proposals)

    @property
    def declaration(self) -> Table:
        """The declaration with everything that is proposed; ranges and keys that are declared already are kept."""
        table, found = self.table, {p.subject: p.value for p in self.proposals if p.value is not None}
        rows = found.pop("max_rows", table.max_rows)
        assert isinstance(rows, int)
        return replace(
            table, max_rows=rows, fields=tuple(_add_declaration(f, found.get(f.name)) for f in table.fields)
        )

    def _describe_kept(self, proposal: ProposedDeclaration) -> str:
        """Say where the declaration keeps what it has, beside what was found."""
        field = self.table.field(proposal.subject)
        if field is None or proposal.value is None:
            return ""
        kept = field.range if isinstance(proposal.value, Range) else field.keys
        return "" if kept is None else f"; declared is {_describe_declaration(kept)}, which the call keeps"

    @property
    def call(self) -> str:
        """The call that declares what is proposed."""
        return write_python_call(self.declaration)

    def command(self, database: str) -> str:
        """Return the command that declares what is proposed."""
        return write_shell_call(self.declaration, database)

    def facts(self) -> Sequence[tuple[str, str]]:
        """Return each proposal with its cost, in words."""
        return [
            *(
                (p.subject, f"{p.summary}{self._describe_kept(p)} ({_describe_price(p.cost)})")
                for p in self.proposals
            ),
            *((subject, f"left out: {why}") for subject, why in self.left_out),
        ]

    def __str__(self) -> str:
        from jali.display.text import write_facts

        head = f"{'Advice' if self.paid else 'Plan of an advice'} for {self.table.name}, {self.cost}"
        return "\n".join([head, write_facts(self.facts()), *(["", self.call] if self.paid else [])])

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "table": self.table.name,
            "paid": self.paid,
            "epsilon": str(self.cost.amount),
            "delta": str(self.cost.delta),
            "proposals": [proposal.to_json() for proposal in self.proposals],
            "left_out": dict(self.left_out),
            "call": self.call if self.paid else None,
        }


def _add_declaration(field: Field, found: Declaration | None) -> Field:
    """Return a column with what was found, where nothing is declared: what the curator said is never replaced."""
    if isinstance(found, Range) and field.range is None:
        return replace(field, range=found)
    return replace(field, keys=found) if isinstance(found, Keys) and field.keys is None else field


def _describe_price(cost: Event) -> str:
    return "free" if cost == NOTHING else str(cost)


def _describe_declaration(value: Declaration) -> str:
    return f"{len(value.values):,} keys" if isinstance(value, Keys) else str(value)


def _to_json(value: Declaration | None) -> Any:
    if isinstance(value, Range):
        return [_to_json_value(end) for end in (value.low, value.high)]
    return [_to_json_value(key) for key in value.values] if isinstance(value, Keys) else value


def _to_json_value(value: Any) -> Any:
    if isinstance(value, Fraction):
        return to_exact(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


# Which part of the people is to have no more rows than are proposed.
_SHARE = Fraction(95, 100)
# A range whose ends may lie further inside than this part of the declared rows would bend most sums and means.
_INSIDE = Fraction(1, 20)
# A number of rows is proposed if the ends of its interval are no more than this many times apart.
_APART = 4
_RANGED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
_ROWS = "max_rows"
# What the names of bought ranges begin with.
_RANGE = "RANGE OF "


@dataclass(frozen=True)
class _Step:
    """One release: what it is about, its plan and order, and how its answer is read."""

    subject: str
    asked: str
    plan: Plan
    order: ReservationRequest
    read: Callable[[Answer], tuple[Declaration | None, str]]


class Adviser:
    """Proposes declarations from releases that the table's budget pays for."""

    def __init__(self, ledger: Ledger, asking: QuestionRunner, tables: DeclaredTables, accounts: Accounts) -> None:
        self._ledger = ledger
        self._asking = asking
        self._tables = tables
        self._accounts = accounts

    def advise(
        self,
        table: Table,
        *,
        epsilon: Number,
        delta: Number | None,
        columns: Sequence[str] | None,
        most_rows: int,
        dry_run: bool,
    ) -> Advice:
        """Plan all releases for equal parts of the loss; then, unless it is a dry run, buy them."""
        if isinstance(most_rows, bool) or not isinstance(most_rows, int) or not 1 <= most_rows <= 1 << 20:
            raise CatalogError("most-rows-outside")
        terms = positive(epsilon, "epsilon"), Fraction(0) if delta is None else probability(delta, "delta")
        columns = _as_list(columns)
        rows = columns is None or _ROWS in columns
        subjects, left_out = _choose_subjects(table, _find_fields(table, columns), rows=rows, keys=terms[1] > 0)
        steps, small = self._plan_steps(table, subjects, *terms, most_rows)
        if not steps:
            raise _build_refusal(table, small)
        wanted = [step for step in steps if not self._find_receipt(step.order)]
        self._accounts.check_together([d for step in wanted for d in step.order.debits], "this advice")
        found = (self._build_proposal(step, paid=step not in wanted, dry_run=dry_run) for step in steps)
        return Advice(table, tuple(found), (*left_out, *small))

    def _plan_steps(
        self, table: Table, subjects: Sequence[str], epsilon: Fraction, delta: Fraction, most_rows: int
    ) -> tuple[list[_Step], list[tuple[str, str]]]:
        """Plan the releases; a range that could cut off too many of the declared rows is left out."""
        kept, small = list(subjects), list[tuple[str, str]]()
        while kept:
            fields = [table.field(name) for name in kept]
            chosen = sum(field is not None and field.kind not in _RANGED for field in fields)
            terms: TermArguments = {"epsilon": epsilon / len(kept)}
            steps = [self._plan_step(table, field, terms, delta / max(1, chosen), most_rows) for field in fields]
            few = [s for s in steps if table.rows is not None and _count_cut_rows(s) > _INSIDE * table.rows]
            if not few:
                return steps, small
            worst = max(few, key=_count_cut_rows)
            small.append((worst.subject, _describe_too_far(_count_cut_rows(worst), table.rows or 1)))
            kept.remove(worst.subject)
        return [], small

    def _plan_step(
        self, table: Table, field: Field | None, terms: TermArguments, delta: Fraction, most_rows: int
    ) -> _Step:
        if field is None:
            return self._plan_rows(table, terms, most_rows)
        if field.kind in _RANGED:
            return self._plan_range(table, field, Fraction(str(terms["epsilon"])))
        return self._plan_keys(table, field, {**terms, "delta": delta})

    def _plan_rows(self, table: Table, terms: TermArguments, most: int) -> _Step:
        """Ask for a high quantile of the rows of a person, of whom each has one number."""
        owner = Column(str(table.unit))
        each = Select(
            NamedTable(table.name), (Output("owner", owner), Output("rows", Aggregate("count"))), group_by=(owner,)
        )
        high = Aggregate("quantile_disc", Column("rows"), others=(Literal(_SHARE),))
        question = Question(Derived(each, "people"), (Output(_ROWS, high),))
        # The count of one person is clamped to what is looked for, whatever is declared.
        wide = replace(table, max_rows=most, min_people=1)

        def read(answer: Answer) -> tuple[Declaration | None, str]:
            ((value,),), ((ends,),) = answer.rows, answer.interval()
            if value is None:
                return None, "there are too few people"
            if _is_vague(ends):
                return None, f"{value} was drawn, and may as well be {show_interval(ends)}; give a larger epsilon"
            further = ", as many as were looked for" if value >= most else ""
            return max(1, int(value)), f"about 95 % of people have no more rows ({show_interval(ends)}){further}"

        asked = f"the rows that 95 % of people do not exceed, up to {most:,}; {table.max_rows:,} are declared"
        return self._plan_question(_ROWS, asked, question, terms, wide, read)

    def _plan_keys(self, table: Table, field: Field, terms: TermArguments) -> _Step:
        """Ask for the counts of the values that enough people have."""
        column = Column(field.name)
        outputs = (Output("value", column), Output("n", Aggregate("count")))
        question = Question(NamedTable(table.name), outputs, group_by=(column,))
        fields = tuple(replace(f, keys=None) if f.name == field.name else f for f in table.fields)

        def read(answer: Answer) -> tuple[Declaration | None, str]:
            values = [value for value, _ in answer.rows if value is not None]
            said = "" if answer.group_sizes is None else f"; {answer.group_sizes}"
            return (Keys(values), f"values that enough people have{said}") if values else (None, f"none{said}")

        asked = f"the values that enough people have{_describe_existing(field)}"
        return self._plan_question(field.name, asked, question, terms, replace(table, fields=fields), read)

    def _plan_question(
        self,
        subject: str,
        asked: str,
        question: Question,
        terms: TermArguments,
        table: Table,
        read: Callable[[Answer], tuple[Declaration | None, str]],
    ) -> _Step:
        others = tuple(t for t in self._tables.map_by_name().values() if t.name != table.name)
        plan = self._asking.planner.plan(question, terms, Catalog((table, *others)))
        return _Step(subject, asked, plan, self._asking.build_request(question, plan, None), read)

    def _plan_range(self, table: Table, field: Field, epsilon: Fraction) -> _Step:
        """Buy a range, under the name by which `Range(auto=True)` finds it later."""
        wanted = replace(field, range=Range(auto=True, epsilon=epsilon), keys=None)
        asking = replace(table, fields=tuple(wanted if f.name == field.name else f for f in table.fields))
        plan = self._asking.emit_queries(plan_range(asking, wanted))
        key, debits = purchase_key(table, field, plan), self._accounts.debits(plan.costs)
        order = ReservationRequest(CURATOR, purchase_name(table, field), key, plan.encoded, debits)
        far = _describe_how_far(rows_needed(plan) // 2, table.rows)

        def read(answer: Answer) -> tuple[Declaration | None, str]:
            found = read_range(field, answer.rows[0], None)
            return Range(found.low, found.high), far

        asked = f"between which powers of two, or days, nearly all values lie{_describe_existing(field)}"
        return _Step(field.name, asked, plan, order, read)

    # Buying.

    def _find_receipt(self, order: ReservationRequest) -> str | None:
        """Return the receipt of an order that was paid before: a range by its name, as it is bought once."""
        stored = self._ledger.recall(order.key, analyst=order.analyst, grant=None)
        if stored is not None:
            return stored.receipt
        ranges = {receipt.question: receipt.id for receipt in self._ledger.receipts(CURATOR)}
        return ranges.get(order.question) if order.question.startswith(_RANGE) else None

    def _build_proposal(self, step: _Step, *, paid: bool, dry_run: bool) -> ProposedDeclaration:
        planned = ProposedDeclaration(step.subject, step.asked, NOTHING if paid else step.plan.cost)
        receipt = self._find_receipt(step.order)
        if dry_run and receipt is None:
            return planned
        if receipt is not None:
            answer = self._asking.redeem(receipt, analyst=None, stage=ignore_stage)
        else:
            answer = self._asking.buy(step.order, step.plan, ignore_stage)
        value, rests_on = step.read(answer)
        if paid and step.order.question.startswith(_RANGE):
            rests_on = f"bought before, for {answer.cost}"
        return replace(planned, value=value, rests_on=rests_on, receipt=answer.receipt)


def _count_cut_rows(step: _Step) -> int:
    """Return how many rows may lie beyond each end of a range."""
    return rows_needed(step.plan) // 2 if step.order.question.startswith(_RANGE) else 0


def _describe_too_far(inside: int, rows: int) -> str:
    part = show_percent(min(1, inside / rows))
    return (
        f"for its share of epsilon {inside:,} rows could lie beyond each end, {part} of the {rows:,} that are "
        "declared; ask for fewer columns, or a larger epsilon"
    )


def _describe_how_far(inside: int, rows: int | None) -> str:
    """Describe how many rows a range may cut off, out of the declared number of rows."""
    part = "how many there are is not declared" if rows is None else f"{rows:,} are declared"
    return f"with 99.9 % no more than about {inside:,} row{'s'[: inside != 1]} lie beyond each end; {part}"


def _describe_existing(field: Field) -> str:
    """Describe what is declared already. It is only examined if the caller names it, and never replaced."""
    if field.range is None and field.keys is None:
        return ""
    return f"; its declared {'range' if field.keys is None else 'keys'} would be kept"


def _build_refusal(table: Table, small: Sequence[tuple[str, str]]) -> CatalogError:
    """Build the refusal of advice that has nothing to look for, or too small a loss."""
    if small:
        return CatalogError("advice-loss-too-small", table=table.name, subject=small[-1][0], reason=small[-1][1])
    return CatalogError("advice-nothing", table=table.name)


def _is_vague(ends: tuple[Any, Any] | None) -> bool:
    """Say whether an interval of a number of rows is too wide to go by."""
    return ends is None or None in ends or ends[1] > _APART * max(1, ends[0])


def _as_list(columns: Sequence[str] | str | None) -> Sequence[str] | None:
    return [columns] if isinstance(columns, str) else columns


def _find_fields(table: Table, columns: Sequence[str] | None) -> list[Field] | None:
    """Find the columns that are named, or refuse."""
    if columns is None:
        return None
    found = []
    for name in [name for name in columns if name != _ROWS]:
        field = table.field(name)
        if field is None:
            known = tuple(f.name for f in table.fields)
            hint = suggest_name(name, [f.name for f in table.fields])
            raise QueryError("advice-column-unknown", table=table.name, column=name, nearest=hint, columns=known)
        found.append(field)
    return found


def _choose_subjects(
    table: Table, named: list[Field] | None, *, rows: bool, keys: bool
) -> tuple[list[str], list[tuple[str, str]]]:
    """Choose what to look for, and say what is left out and why. Only the declaration decides."""
    bounded = rows and table.unit is not None and not table.unique
    subjects, left_out = [_ROWS] if bounded else list[str](), list[tuple[str, str]]()
    if rows and table.reach is not None:
        left_out.append((_ROWS, f"its people are those of {table.reach.table.name}"))
    owners = {table.unit, None if table.reach is None else table.reach.here}
    for field in table.fields if named is None else named:
        why = _describe_omission(field, owners, keys=keys, asked=named is not None)
        if why is None:
            subjects.append(field.name)
        elif why:
            left_out.append((field.name, why))
    return subjects, left_out


def _describe_omission(field: Field, owners: set[str | None], *, keys: bool, asked: bool) -> str | None:
    """Say why a column is left out; an empty text where that is obvious, None where it is not left out."""
    if field.name in owners:
        return "it names people" if asked else ""
    if not asked and (field.range is not None or field.keys is not None or field.kind is Kind.BOOLEAN):
        return ""
    if field.kind in _RANGED:
        return None
    if field.kind is not Kind.TEXT:
        return "it has neither a range nor keys that could be looked for"
    return None if keys else "keys are chosen for a delta: give one"
