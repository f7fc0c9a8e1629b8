"""Advice: what a curator may declare about a table, from a small release that was paid for."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

from jali.database.redeclared import exact, python_call, shell_call
from jali.privacy import NOTHING, Event
from jali.query.catalog import Field, Keys, Range, Table

Declaration: TypeAlias = int | Range | Keys


@dataclass(frozen=True)
class Proposal:
    """One declaration that is looked for.

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
    def shown(self) -> str:
        """The proposal in a few words; what is asked where there is none yet."""
        if self.receipt is None:
            return self.asked
        return f"{'nothing' if self.value is None else _shown(self.value)}: {self.rests_on}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "subject": self.subject,
            "asked": self.asked,
            "epsilon": str(self.cost.amount),
            "delta": str(self.cost.delta),
            "value": _plain(self.value),
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
    proposals: tuple[Proposal, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def cost(self) -> Event:
        """The loss of all of it."""
        return reduce(Event.__add__, (proposal.cost for proposal in self.proposals), NOTHING)

    @property
    def paid(self) -> bool:
        """Whether it was bought; else it is only a plan."""
        return bool(self.proposals) and all(proposal.receipt is not None for proposal in self.proposals)

    @property
    def proposed(self) -> Table:
        """The declaration with everything that is proposed; ranges and keys that are declared already are kept."""
        table, found = self.table, {p.subject: p.value for p in self.proposals if p.value is not None}
        rows = found.pop("max_rows", table.max_rows)
        assert isinstance(rows, int)
        return replace(table, max_rows=rows, fields=tuple(_with(f, found.get(f.name)) for f in table.fields))

    def _kept(self, proposal: Proposal) -> str:
        """Say where the declaration keeps what it has, beside what was found."""
        field = self.table.field(proposal.subject)
        if field is None or proposal.value is None:
            return ""
        kept = field.range if isinstance(proposal.value, Range) else field.keys
        return "" if kept is None else f"; declared is {_shown(kept)}, which the call keeps"

    @property
    def call(self) -> str:
        """The call that declares what is proposed."""
        return python_call(self.proposed)

    def command(self, database: str) -> str:
        """Return the command that declares what is proposed."""
        return shell_call(self.proposed, database)

    def facts(self) -> Sequence[tuple[str, str]]:
        """Return each proposal with its cost, in words."""
        return [
            *((p.subject, f"{p.shown}{self._kept(p)} ({_price(p.cost)})") for p in self.proposals),
            *((subject, f"left out: {why}") for subject, why in self.left_out),
        ]

    def __str__(self) -> str:
        from jali.display.text import facts

        head = f"{'Advice' if self.paid else 'Plan of an advice'} for {self.table.name}, {self.cost}"
        return "\n".join([head, facts(self.facts()), *(["", self.call] if self.paid else [])])

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


def _with(field: Field, found: Declaration | None) -> Field:
    """Return a column with what was found, where nothing is declared: what the curator said is never replaced."""
    if isinstance(found, Range) and field.range is None:
        return replace(field, range=found)
    return replace(field, keys=found) if isinstance(found, Keys) and field.keys is None else field


def _price(cost: Event) -> str:
    return "free" if cost == NOTHING else str(cost)


def _shown(value: Declaration) -> str:
    return f"{len(value.values):,} keys" if isinstance(value, Keys) else str(value)


def _plain(value: Declaration | None) -> Any:
    if isinstance(value, Range):
        return [_plain_value(end) for end in (value.low, value.high)]
    return [_plain_value(key) for key in value.values] if isinstance(value, Keys) else value


def _plain_value(value: Any) -> Any:
    if isinstance(value, Fraction):
        return exact(value)
    return value.isoformat() if isinstance(value, datetime.date) else value
