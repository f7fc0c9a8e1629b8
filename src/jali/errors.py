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

from fractions import Fraction

from jali.numerals import below, decimal


class JaliError(Exception):
    """Base of everything Jali raises on purpose.

    Args:
        message: What happened, in one sentence.
        remedy: What the reader can do about it.
    """

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


class BudgetExceeded(JaliError):  # noqa: N818 - the name is part of the public contract
    """The budget refuses the question. Nothing was spent and no data was read.

    Args:
        account: Whose budget refused: a table, or an analyst's grant on a table.
        kind: `epsilon`, `rho` or `delta`: the unit of the three numbers.
        requested: The loss of the question.
        remaining: The largest loss of that kind that would still be granted.
        other: The largest loss of another kind that would be granted, where there is one.
    """

    def __init__(
        self,
        account: str,
        *,
        kind: str,
        requested: Fraction,
        remaining: Fraction,
        other: tuple[str, Fraction] | None = None,
    ) -> None:
        self.account = account
        self.other = other
        self.kind = kind
        self.requested = requested
        self.remaining = remaining
        self.difference = requested - remaining
        self.sentence = f"The budget of {account} does not cover this question."
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

    def _what_fits(self) -> str:
        if self.remaining <= 0 and self.other is not None and self.other[1] > 0:
            kind, amount = self.other
            return f"In {self.kind} nothing is left; a question with {kind} {decimal(amount)} would be answered."
        if self.remaining <= 0:
            return "Nothing is left on this budget; answers already given can be asked again for free."
        fits = decimal(self.remaining, self._digits)
        return f"A question with {self.kind} {fits} would still be answered."


class CatalogError(JaliError):
    """A declaration is wrong."""


class EngineError(JaliError):
    """The engine could not run the query. The text never depends on the data."""


class LedgerError(JaliError):
    """The ledger cannot do what was asked."""


class MechanismError(JaliError):
    """A parameter or an input of a mechanism is outside its domain."""
