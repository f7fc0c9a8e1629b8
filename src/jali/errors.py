"""The exceptions of Jali.

JaliError
├── QueryError          the question is wrong; costs nothing; has a position and a remedy
│   └── Unsupported     the question is understood, and cannot be answered privately here
├── BudgetExceeded      requested, remaining, difference, and what would still fit
├── CatalogError        a declaration is wrong: a table, unit, range, key, budget or grant
├── EngineError         the engine could not run the query; the text never depends on the data
├── LedgerError         the ledger is missing, damaged, busy, or the receipt cannot be used
└── MechanismError      a mechanism's parameter or input is outside its domain
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.numerals import below, decimal


class JaliError(Exception):
    """Base of everything Jali raises on purpose.

    Args:
        message: What happened, in one sentence.
        remedy: What the reader can do about it.

    Attributes:
        code: What kind of error it is, for programs.
    """

    code = "error"

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return self.message if self.remedy is None else f"{self.message} {self.remedy}"


class QueryError(JaliError):
    """The question is wrong. Nothing was spent.

    Args:
        message: What is wrong.
        position: Line and column (both from 1) in the SQL text, where known.
        remedy: How to mend the question.
    """

    def __init__(
        self, message: str, *, position: tuple[int, int] | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f"line {self.position[0]}, column {self.position[1]}: "
        return place + super().__str__()


class Unsupported(QueryError):  # noqa: N818 - the name is part of the public contract
    """The question is understood but cannot be answered. Nothing was spent."""


@dataclass(frozen=True)
class Fit:
    """What a budget would still grant: the refused question for less, or a coarser one. Public facts only.

    Attributes:
        change: How it differs from the refused question, besides the loss; nothing for that question itself.
        kind: `epsilon` or `rho`.
        amount: The loss of that kind: the largest that every account would grant, and no more than was asked.
        delta: The delta that it needs besides.
        groups: How many groups it has; None where they are chosen privately.
        forecasts: Each aggregate, and how close it would come, in words.
        within: Each output whose error has the same law whatever the data, by its name, and the half-width of its
            interval at 95 %: what `within=` could ask for.
    """

    change: str
    kind: str
    amount: Fraction
    delta: Fraction = Fraction(0)
    groups: int | None = 1
    forecasts: tuple[tuple[str, str], ...] = ()
    within: tuple[tuple[str, float], ...] = ()

    @property
    def title(self) -> str:
        """Say which question it is."""
        return self.change or "this question"

    @property
    def terms(self) -> str:
        """Say what it costs."""
        delta = f", delta {decimal(self.delta)}" if self.delta else ""
        return f"{self.kind} {decimal(self.amount)}{delta}"

    @property
    def text(self) -> str:
        """Say what it costs, how many groups it has, and how close it comes."""
        groups = "" if self.groups in (None, 1) else f", {self.groups:,} groups"
        close = "; ".join(f"{name} {words}" for name, words in self.forecasts)
        return f"{self.terms}{groups}: {close}" if close else f"{self.terms}{groups}"

    def __str__(self) -> str:
        return f"{self.title}, {self.text}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; losses are exact rationals."""
        return {
            "change": self.change or None,
            "kind": self.kind,
            "amount": str(self.amount),
            "delta": str(self.delta),
            "groups": self.groups,
            "forecasts": dict(self.forecasts),
            "within": dict(self.within),
        }


_QUESTION = "this question"


class BudgetExceeded(JaliError):  # noqa: N818 - the name is part of the public contract
    """The budget refuses the question. Nothing was spent and no data was read.

    Args:
        account: Whose budget refused: a table, or an analyst's grant on a table.
        kind: `epsilon`, `rho` or `delta`: the unit of the three numbers.
        requested: The loss of the question.
        remaining: The largest loss of that kind that would still be granted.
        other: The largest loss of another kind that would be granted, where there is one.
        fits: What would be granted, the refused question first; None where it was not looked for.
        subject: What is refused, where it is not one question.
    """

    def __init__(
        self,
        account: str,
        *,
        kind: str,
        requested: Fraction,
        remaining: Fraction,
        other: tuple[str, Fraction] | None = None,
        fits: Sequence[Fit] | None = None,
        subject: str = _QUESTION,
    ) -> None:
        self.subject = subject
        self.account = account
        self.fits: tuple[Fit, ...] = tuple(fits or ())
        self._looked = fits is not None
        self.other = other
        self.kind = kind
        self.requested = requested
        self.remaining = remaining
        self.difference = requested - remaining
        self.sentence = f"The budget of {account} does not cover {subject}."
        shown = " ".join(f"{name}: {value}." for name, value in self.facts)
        super().__init__(f"{self.sentence} {shown}", remedy=self._what_fits())

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Requested, Remaining and Difference, rounded down, with as many digits as tell the first two apart."""
        requested, remaining = (below(value, self._digits) for value in (self.requested, self.remaining))
        named = (("Requested", requested), ("Remaining", remaining), ("Difference", requested - remaining))
        return tuple((name, f"{self.kind} {decimal(value, self._digits)}") for name, value in named)

    @property
    def _digits(self) -> int:
        return next((d for d in (6, 9, 12) if below(self.requested, d) > below(self.remaining, d)), 15)

    def offering(self, fits: Sequence[Fit]) -> BudgetExceeded:
        """Return the same refusal, with what would fit."""
        return BudgetExceeded(
            self.account,
            kind=self.kind,
            requested=self.requested,
            remaining=self.remaining,
            other=self.other,
            fits=fits,
        )

    def about(self, subject: str) -> BudgetExceeded:
        """Return the same refusal, of several releases together."""
        return BudgetExceeded(
            self.account,
            kind=self.kind,
            requested=self.requested,
            remaining=self.remaining,
            other=self.other,
            subject=subject,
        )

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(f"  {fit}" for fit in self.fits)])

    def _what_fits(self) -> str:
        """Say what would fit: by every account that pays, if that was looked for; else by this one."""
        if self.fits and not self.fits[0].change:
            return f"A question with {self.fits[0].terms} would still be answered."
        if self.fits and self.fits[0].kind != self.kind != "delta":
            return f"In {self.kind} nothing is left; a question with {self.fits[0].terms} would be answered."
        if self.fits:
            return "This question would not be answered for less; coarser ones would."
        if self._looked:
            return "Nothing is left for this question; answers already given can be asked again for free."
        if self.remaining <= 0 and self.other is not None and self.other[1] > 0:
            kind, amount = self.other
            return f"In {self.kind} nothing is left; a question with {kind} {decimal(amount)} would be answered."
        if self.remaining <= 0:
            return "Nothing is left on this budget; answers already given can be asked again for free."
        fits = decimal(self.remaining, self._digits)
        if self.subject != _QUESTION:
            return f"What would fit: {self.subject} for {self.kind} {fits} in all."
        return f"A question with {self.kind} {fits} would still be answered."


class CatalogError(JaliError):
    """A declaration is wrong."""


class EngineError(JaliError):
    """The engine could not run the query. The text never depends on the data.

    Args:
        message: What happened, in words that do not depend on the data.
        remedy: What the reader can do about it.
        code: `engine-failed` where the data may be the cause; otherwise one of `engine-away`, `engine-disk`,
            `engine-time`, `engine-cancelled`, `source-missing`, `source-changed` and `table-closed`.
    """

    def __init__(self, message: str, *, remedy: str | None = None, code: str = "engine-failed") -> None:
        super().__init__(message, remedy=remedy)
        self.code = code


class LedgerError(JaliError):
    """The ledger cannot do what was asked.

    Args:
        message: What happened.
        remedy: What the reader can do about it.
        code: `ledger-refused` for a request that the ledger does not grant; `ledger-busy`, `ledger-locks`,
            `ledger-disk`, `ledger-full`, `ledger-rights` and `ledger-away` where it cannot be read or written;
            `ledger-damaged`, `ledger-behind`, `ledger-schema` and `ledger-moved` where it is not the one to use;
            `anchor-missing`, `anchor-damaged` and `anchor-away` for its anchor.
    """

    def __init__(self, message: str, *, remedy: str | None = None, code: str = "ledger-refused") -> None:
        super().__init__(message, remedy=remedy)
        self.code = code


class MechanismError(JaliError):
    """A parameter or an input of a mechanism is outside its domain."""
