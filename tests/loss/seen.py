"""What was seen of one question: every exact number that met noise, and the law that the sampler really had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from tests.loss.chosen import Threshold
from tests.loss.marks import Aim, Column


@dataclass(frozen=True)
class Noise:
    """Independent noise on integers: "laplace" with a scale, or "gaussian" with a variance, of one sampler."""

    kind: str
    width: Fraction
    exact: tuple[int, ...]

    @property
    def public(self) -> tuple[Any, ...]:
        """All that may be seen of it; how many integers there are is public where the groups are known."""
        return self.kind, self.width, len(self.exact)


@dataclass(frozen=True)
class Joint:
    """One vector of noise of mass exp(-rate max|z_i|) for each row of exact integers."""

    rate: Fraction
    exact: tuple[tuple[int, ...], ...]

    @property
    def public(self) -> tuple[Any, ...]:
        """The rate, and how many rows of how many integers there are."""
        return "joint", self.rate, len(self.exact), {len(row) for row in self.exact}


@dataclass(frozen=True)
class Quantile:
    """One mark, of mass exp(-rate distance) ("nested") or by coins of that probability ("flips").

    Attributes:
        ranks: What the sampler reads distances from.
        column: The weighted rows.
        owner: Which mechanism drew it.
    """

    kind: str
    rate: Fraction
    aim: Aim
    column: Column
    ranks: Any = field(compare=False, repr=False)
    owner: int = 0

    @property
    def public(self) -> tuple[Any, ...]:
        """All but the rows."""
        return self.kind, self.rate, self.aim


@dataclass(frozen=True)
class Pick:
    """One candidate by its exponent: "exponential", or "flips"."""

    kind: str
    exponents: tuple[Fraction, ...]
    scale: Fraction
    owner: int = 0

    @property
    def public(self) -> tuple[Any, ...]:
        """How many candidates there are, and the scale."""
        return "pick", self.kind, len(self.exponents), self.scale


Call: TypeAlias = Noise | Joint | Quantile | Pick


@dataclass
class Choice:
    """Groups that were chosen by their people.

    Attributes:
        law: How: the public facts of it.
        chances: With what probability each group is shown, of those that can be.
        people: How many people are behind each of these.
        threshold: Where a noisy count decides, which is told too; otherwise None.
        names: The groups that can be shown, in the order of the counts.
    """

    law: tuple[Any, ...]
    chances: tuple[Any, ...]
    people: tuple[int, ...]
    threshold: Threshold | None = None
    names: tuple[str, ...] = ()

    def by_name(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """Return one value for each group."""
        return dict(zip(self.names, values, strict=True))


@dataclass
class Draw:
    """All that one plan drew.

    Attributes:
        calls: What met noise, in order.
        choice: How the groups were chosen; None where they are known.
        order: The chosen groups, in the order in which they leave.
    """

    calls: list[Call] = field(default_factory=list)
    choice: Choice | None = None
    order: tuple[str, ...] = ()

    def finds_rows(self) -> bool:
        """Say whether anything that met noise is not as it is where there are no rows."""
        if self.choice is not None:
            return bool(self.choice.people)
        return any(_is_full(call) for call in self.calls)

    def releases(self) -> Iterator[list[Call]]:
        """Yield the calls of each release: those of one mechanism follow one another."""
        run: list[Call] = []
        for call in self.calls:
            if run and not _together(run[-1], call):
                yield run
                run = []
            run.append(call)
        if run:
            yield run


def _is_full(call: Call) -> bool:
    if isinstance(call, Noise):
        return any(call.exact)
    if isinstance(call, Joint):
        return any(any(row) for row in call.exact)
    return bool(call.column) if isinstance(call, Quantile) else any(call.exponents)


def _together(one: Call, other: Call) -> bool:
    if isinstance(one, Quantile) and isinstance(other, Quantile):
        return one.owner == other.owner
    return isinstance(one, Pick) and isinstance(other, Pick) and one.owner == other.owner


def chains(run: list[Call]) -> list[list[Pick]]:
    """Cut picks into those of one group each: every pick has a candidate less than the one before it."""
    found: list[list[Pick]] = []
    for call in run:
        assert isinstance(call, Pick)
        if found and len(call.exponents) == len(found[-1][-1].exponents) - 1:
            found[-1].append(call)
        else:
            found.append([call])
    return found
