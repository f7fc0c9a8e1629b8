"""A budget refuses: what was requested, what remains, and what would still fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.errors.base import JaliError
from jali.errors.fields import Field, Phrase
from jali.errors.texts import Face
from jali.numerals import below, decimal


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
    def _shown(self) -> Mapping[str, Field]:
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
        if self.subject != _QUESTION:
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
        return _rebuild, (dict(self.fields),)


def _rebuild(fields: dict[str, Any]) -> BudgetExceeded:
    return BudgetExceeded(fields.pop("account"), **fields)
