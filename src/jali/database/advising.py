"""Advising: how many rows people have, where values lie, and which keys there are, each by an ordinary purchase.

Guarantee:
    Every number leaves by the plan of a question, or of a range that is bought, which the ledger charges before
    any data is read. What is proposed is made of those releases alone. Which of them are asked, and for how much,
    is decided by the declaration and the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.database.accounts import CURATOR, Accounts
from jali.database.advice import Advice, Declaration, Proposal
from jali.database.asking import Asking, Order, silent
from jali.database.tables import Tables
from jali.display.numbers import show_interval, show_percent
from jali.errors import CatalogError, QueryError
from jali.planner import Plan
from jali.planner.buy_range import purchase_key, purchase_name, range_of, range_plan, rows_needed
from jali.planner.terms import Given
from jali.privacy import NOTHING
from jali.privacy.rationals import Number, positive, probability
from jali.query.catalog import Catalog, Field, Keys, Kind, Range, Table
from jali.query.nodes import Aggregate, Column, Derived, Literal, Named, Output, Question, Select
from jali.query.spelling import nearest

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.ledger import Ledger

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
    order: Order
    read: Callable[[Answer], tuple[Declaration | None, str]]


class Advising:
    """Looks for what may be declared, from the table's budget."""

    def __init__(self, ledger: Ledger, asking: Asking, tables: Tables, accounts: Accounts) -> None:
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
        columns = _listed(columns)
        rows = columns is None or _ROWS in columns
        subjects, left_out = _subjects(table, _named(table, columns), rows=rows, keys=terms[1] > 0)
        steps, small = self._steps(table, subjects, *terms, most_rows)
        if not steps:
            raise _nothing(table, small)
        wanted = [step for step in steps if not self._bought(step.order)]
        self._accounts.check_together([d for step in wanted for d in step.order.debits], "this advice")
        found = (self._proposal(step, paid=step not in wanted, dry_run=dry_run) for step in steps)
        return Advice(table, tuple(found), (*left_out, *small))

    def _steps(
        self, table: Table, subjects: Sequence[str], epsilon: Fraction, delta: Fraction, most_rows: int
    ) -> tuple[list[_Step], list[tuple[str, str]]]:
        """Plan the releases; a range that could cut off too many of the declared rows is left out."""
        kept, small = list(subjects), list[tuple[str, str]]()
        while kept:
            fields = [table.field(name) for name in kept]
            chosen = sum(field is not None and field.kind not in _RANGED for field in fields)
            terms: Given = {"epsilon": epsilon / len(kept)}
            steps = [self._step(table, field, terms, delta / max(1, chosen), most_rows) for field in fields]
            few = [s for s in steps if table.rows is not None and _inside(s) > _INSIDE * table.rows]
            if not few:
                return steps, small
            worst = max(few, key=_inside)
            small.append((worst.subject, _too_far(_inside(worst), table.rows or 1)))
            kept.remove(worst.subject)
        return [], small

    def _step(self, table: Table, field: Field | None, terms: Given, delta: Fraction, most_rows: int) -> _Step:
        if field is None:
            return self._rows(table, terms, most_rows)
        if field.kind in _RANGED:
            return self._range(table, field, Fraction(str(terms["epsilon"])))
        return self._keys(table, field, {**terms, "delta": delta})

    def _rows(self, table: Table, terms: Given, most: int) -> _Step:
        """Ask for a high quantile of the rows of a person, of whom each has one number."""
        owner = Column(str(table.unit))
        each = Select(
            Named(table.name), (Output("owner", owner), Output("rows", Aggregate("count"))), group_by=(owner,)
        )
        high = Aggregate("quantile_disc", Column("rows"), others=(Literal(_SHARE),))
        question = Question(Derived(each, "people"), (Output(_ROWS, high),))
        # The count of one person is clamped to what is looked for, whatever is declared.
        wide = replace(table, max_rows=most, min_people=1)

        def read(answer: Answer) -> tuple[Declaration | None, str]:
            ((value,),), ((ends,),) = answer.rows, answer.interval()
            if value is None:
                return None, "there are too few people"
            if _vague(ends):
                return None, f"{value} was drawn, and may as well be {show_interval(ends)}; give a larger epsilon"
            further = ", as many as were looked for" if value >= most else ""
            return max(1, int(value)), f"about 95 % of people have no more rows ({show_interval(ends)}){further}"

        asked = f"the rows that 95 % of people do not exceed, up to {most:,}; {table.max_rows:,} are declared"
        return self._question(_ROWS, asked, question, terms, wide, read)

    def _keys(self, table: Table, field: Field, terms: Given) -> _Step:
        """Ask for the counts of the values that enough people have."""
        column = Column(field.name)
        outputs = (Output("value", column), Output("n", Aggregate("count")))
        question = Question(Named(table.name), outputs, group_by=(column,))
        fields = tuple(replace(f, keys=None) if f.name == field.name else f for f in table.fields)

        def read(answer: Answer) -> tuple[Declaration | None, str]:
            values = [value for value, _ in answer.rows if value is not None]
            said = "" if answer.group_sizes is None else f"; {answer.group_sizes}"
            return (Keys(values), f"values that enough people have{said}") if values else (None, f"none{said}")

        asked = f"the values that enough people have{_declared(field)}"
        return self._question(field.name, asked, question, terms, replace(table, fields=fields), read)

    def _question(
        self,
        subject: str,
        asked: str,
        question: Question,
        terms: Given,
        table: Table,
        read: Callable[[Answer], tuple[Declaration | None, str]],
    ) -> _Step:
        others = tuple(t for t in self._tables.by_name().values() if t.name != table.name)
        plan = self._asking.planner.plan(question, terms, Catalog((table, *others)))
        return _Step(subject, asked, plan, self._asking.order(question, plan, None), read)

    def _range(self, table: Table, field: Field, epsilon: Fraction) -> _Step:
        """Buy a range, under the name by which `Range(auto=True)` finds it later."""
        wanted = replace(field, range=Range(auto=True, epsilon=epsilon), keys=None)
        asking = replace(table, fields=tuple(wanted if f.name == field.name else f for f in table.fields))
        plan = self._asking.emitted(range_plan(asking, wanted))
        key, debits = purchase_key(table, field, plan), self._accounts.debits(plan.costs)
        order = Order(CURATOR, purchase_name(table, field), key, plan.encoded, debits)
        far = _how_far(rows_needed(plan) // 2, table.rows)

        def read(answer: Answer) -> tuple[Declaration | None, str]:
            found = range_of(field, answer.rows[0], None)
            return Range(found.low, found.high), far

        asked = f"between which powers of two, or days, nearly all values lie{_declared(field)}"
        return _Step(field.name, asked, plan, order, read)

    # Buying.

    def _bought(self, order: Order) -> str | None:
        """Return the receipt of an order that was paid before: a range by its name, as it is bought once."""
        stored = self._ledger.recall(order.key, analyst=order.analyst, grant=None)
        if stored is not None:
            return stored.receipt
        ranges = {receipt.question: receipt.id for receipt in self._ledger.receipts(CURATOR)}
        return ranges.get(order.question) if order.question.startswith(_RANGE) else None

    def _proposal(self, step: _Step, *, paid: bool, dry_run: bool) -> Proposal:
        planned = Proposal(step.subject, step.asked, NOTHING if paid else step.plan.cost)
        receipt = self._bought(step.order)
        if dry_run and receipt is None:
            return planned
        if receipt is not None:
            answer = self._asking.redeem(receipt, analyst=None, stage=silent)
        else:
            answer = self._asking.bought(step.order, step.plan, silent)
        value, rests_on = step.read(answer)
        if paid and step.order.question.startswith(_RANGE):
            rests_on = f"bought before, for {answer.cost}"
        return replace(planned, value=value, rests_on=rests_on, receipt=answer.receipt)


def _inside(step: _Step) -> int:
    """Return how many rows may lie beyond each end of a range."""
    return rows_needed(step.plan) // 2 if step.order.question.startswith(_RANGE) else 0


def _too_far(inside: int, rows: int) -> str:
    part = show_percent(min(1, inside / rows))
    return (
        f"for its share of epsilon {inside:,} rows could lie beyond each end, {part} of the {rows:,} that are "
        "declared; ask for fewer columns, or a larger epsilon"
    )


def _how_far(inside: int, rows: int | None) -> str:
    """Say how many rows a range may cut off, and of how many, where that is declared."""
    part = "how many there are is not declared" if rows is None else f"{rows:,} are declared"
    return f"with 99.9 % no more than about {inside:,} row{'s'[: inside != 1]} lie beyond each end; {part}"


def _declared(field: Field) -> str:
    """Say what is declared already: it is looked at if it is named, and never replaced."""
    if field.range is None and field.keys is None:
        return ""
    return f"; its declared {'range' if field.keys is None else 'keys'} would be kept"


def _nothing(table: Table, small: Sequence[tuple[str, str]]) -> CatalogError:
    """Say that nothing is left to look for, and why where the loss is too small."""
    if small:
        return CatalogError("advice-loss-too-small", table=table.name, subject=small[-1][0], reason=small[-1][1])
    return CatalogError("advice-nothing", table=table.name)


def _vague(ends: tuple[Any, Any] | None) -> bool:
    """Say whether an interval of a number of rows is too wide to go by."""
    return ends is None or None in ends or ends[1] > _APART * max(1, ends[0])


def _listed(columns: Sequence[str] | str | None) -> Sequence[str] | None:
    return [columns] if isinstance(columns, str) else columns


def _named(table: Table, columns: Sequence[str] | None) -> list[Field] | None:
    """Find the columns that are named, or refuse."""
    if columns is None:
        return None
    found = []
    for name in [name for name in columns if name != _ROWS]:
        field = table.field(name)
        if field is None:
            known = tuple(f.name for f in table.fields)
            hint = nearest(name, [f.name for f in table.fields])
            raise QueryError("advice-column-unknown", table=table.name, column=name, nearest=hint, columns=known)
        found.append(field)
    return found


def _subjects(
    table: Table, named: list[Field] | None, *, rows: bool, keys: bool
) -> tuple[list[str], list[tuple[str, str]]]:
    """Say what is looked for, and what is left out and why: decided by the declaration alone."""
    bounded = rows and table.unit is not None and not table.unique
    subjects, left_out = [_ROWS] if bounded else list[str](), list[tuple[str, str]]()
    if rows and table.reach is not None:
        left_out.append((_ROWS, f"its people are those of {table.reach.table.name}"))
    owners = {table.unit, None if table.reach is None else table.reach.here}
    for field in table.fields if named is None else named:
        why = _reason(field, owners, keys=keys, asked=named is not None)
        if why is None:
            subjects.append(field.name)
        elif why:
            left_out.append((field.name, why))
    return subjects, left_out


def _reason(field: Field, owners: set[str | None], *, keys: bool, asked: bool) -> str | None:
    """Say why a column is left out; without a word where that goes without saying."""
    if field.name in owners:
        return "it names people" if asked else ""
    if not asked and (field.range is not None or field.keys is not None or field.kind is Kind.BOOLEAN):
        return ""
    if field.kind in _RANGED:
        return None
    if field.kind is not Kind.TEXT:
        return "it has neither a range nor keys that could be looked for"
    return None if keys else "keys are chosen for a delta: give one"
