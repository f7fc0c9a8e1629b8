"""The tree of exceptions: each has a code, fields and a position, and the catalogue has its texts.

A budget that refuses says what was requested, what remains, and what would still fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeVar

from jali.errors.fields import Field, Phrase, settle
from jali.errors.templates import Face, Wording, write
from jali.numbers.exact import below, decimal

ErrorType = TypeVar("ErrorType", bound="JaliError")


class JaliError(Exception):
    """Base of everything Jali raises on purpose.

    Args:
        code: What kind of error it is: a code of the catalogue, listed in docs/errors.md.
        position: Line and column (both from 1) in the SQL text, where known.
        fields: What the text of the code names: columns, tables, numbers.
    """

    def __init__(self, code: str, /, *, position: tuple[int, int] | None = None, **fields: Field) -> None:
        super().__init__(code)
        self._code, self._position = code, position
        self._fields: Mapping[str, Field] = {name: settle(value) for name, value in fields.items()}

    @property
    def code(self) -> str:
        """What kind of error it is."""
        return self._code

    @property
    def fields(self) -> Mapping[str, Field]:
        """What its text names."""
        return self._fields

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column in the SQL text, both from 1, where known."""
        return self._position

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return self.write().message

    @property
    def remedy(self) -> str | None:
        """What the reader can do about it."""
        return self.write().remedy

    @property
    def phrase(self) -> Phrase:
        """The error inside the text of another one."""
        return Phrase(self.code, **self.fields)

    @property
    def whole(self) -> Phrase:
        """The error with its remedy inside the text of another one."""
        return Phrase("error-whole", problem=self.phrase, has_remedy=self.remedy is not None)

    def write(self, face: Face = Face.PYTHON, *, asked: Mapping[str, str] | None = None) -> Wording:
        """Return message and remedy in the words of a face."""
        return write(self.code, self._template_fields, face, asked=asked)

    @property
    def _template_fields(self) -> Mapping[str, Field]:
        """The fields, and what the text needs besides."""
        return self.fields

    def replace(self, **fields: Field) -> Self:
        """Return the same error with other values of some fields."""
        return self._copy(type(self), self.position, {**self.fields, **fields})

    def at(self, position: tuple[int, int] | None) -> Self:
        """Return the same error at another position."""
        return self._copy(type(self), position, self.fields)

    def like(self, kind: type[ErrorType]) -> ErrorType:
        """Return the same text as an error of another class."""
        return self._copy(kind, self.position, self.fields)

    def _copy(
        self, kind: type[ErrorType], position: tuple[int, int] | None, fields: Mapping[str, Field]
    ) -> ErrorType:
        return kind(self.code, position=position, **fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_error, (type(self), self.code, self.position, dict(self.fields))

    def __str__(self) -> str:
        written = self.write()
        place = "" if self.position is None else f"line {self.position[0]}, column {self.position[1]}: "
        return place + (written.message if written.remedy is None else f"{written.message} {written.remedy}")


def _rebuild_error(
    kind: type[ErrorType], code: str, position: tuple[int, int] | None, fields: dict[str, Field]
) -> ErrorType:
    return kind(code, position=position, **fields)


class QueryError(JaliError):
    """The question is wrong. Nothing was spent."""


class Unsupported(QueryError):  # noqa: N818 - the name is part of the public contract
    """The question is understood but cannot be answered. Nothing was spent."""


class CatalogError(JaliError):
    """A declaration is wrong."""


class EngineError(JaliError):
    """The engine could not run the query. The text never depends on the data.

    Its code is `engine-failed` where the data may be the cause.
    """


class LedgerError(JaliError):
    """The ledger cannot do what was asked."""


class MechanismError(JaliError):
    """A parameter or an input of a mechanism is outside its domain."""


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

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Fit:
        """Return what `to_json` wrote."""
        return cls(
            told["change"] or "",
            told["kind"],
            Fraction(told["amount"]),
            Fraction(told["delta"]),
            told["groups"],
            tuple(told["forecasts"].items()),
            tuple(told["within"].items()),
        )


_THIS_QUESTION = "this question"


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
        subject: str = _THIS_QUESTION,
    ) -> None:
        looked = None if fits is None else tuple(fits)
        super().__init__(
            "budget-exceeded",
            account=account,
            kind=kind,
            requested=requested,
            remaining=remaining,
            other=other,
            fits=looked,
            subject=subject,
        )
        self.account, self.kind, self.requested, self.remaining = account, kind, requested, remaining
        self.other, self.subject = other, subject
        self.fits: tuple[Fit, ...] = looked or ()
        self._looked = looked is not None
        self.difference = requested - remaining

    @property
    def sentence(self) -> str:
        """Whose budget refuses, without the numbers."""
        return self.write(Face.HTTP).message

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

    @property
    def _template_fields(self) -> Mapping[str, Field]:
        facts = tuple(f"{name}: {value}." for name, value in self.facts)
        return {**self.fields, "facts": facts, "advice": self._advise()}

    def _advise(self) -> Phrase:
        """Say what would fit: by every account that pays, if that was looked for; else by this one."""
        if self._looked:
            return self._advise_by_fits()
        if self.remaining <= 0 and self.other is not None and self.other[1] > 0:
            kind, most = self.other
            return Phrase("budget-fits-other-kind", kind=self.kind, terms=f"{kind} {decimal(most)}")
        if self.remaining <= 0:
            return Phrase("budget-used-up")
        amount = decimal(self.remaining, self._digits)
        if self.subject != _THIS_QUESTION:
            return Phrase("budget-fits-in-all", subject=self.subject, kind=self.kind, amount=amount)
        return Phrase("budget-fits-less", terms=f"{self.kind} {amount}")

    def _advise_by_fits(self) -> Phrase:
        if not self.fits:
            return Phrase("budget-used-up-for-question")
        best = self.fits[0]
        if not best.change:
            return Phrase("budget-fits-less", terms=best.terms)
        if best.kind != self.kind != "delta":
            return Phrase("budget-fits-other-kind", kind=self.kind, terms=best.terms)
        return Phrase("budget-fits-coarser")

    def replace(self, **fields: Any) -> BudgetExceeded:
        """Return the same refusal with other values of some fields."""
        return BudgetExceeded(**{**self.fields, **fields})

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_refusal, (dict(self.fields),)


def _rebuild_refusal(fields: dict[str, Any]) -> BudgetExceeded:
    return BudgetExceeded(fields.pop("account"), **fields)
