"""What is reserved, who waits for it, and what a receipt stands for once it is released."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from jali.engines.base import Cancellation
from jali.errors import CatalogError
from jali.execution.data_guard import Declarations
from jali.ledger import Debit, RecallHit

Stage = Callable[[str], None]


def ignore_stage(_: str) -> None:
    """Ignore which stage begins."""


def hold_nothing() -> None:
    """Return at once: nothing is held back."""


@dataclass(frozen=True)
class RunContext:
    """How the caller waits for an answer.

    Attributes:
        stage: Called with the name of each stage as it begins.
        cancellation: With it another thread can stop the engine.
        hold: Returns when an answer, or its failure, may leave: at a time that does not depend on the engine.
        at_once: Whether the question is run as soon as it is reserved: then the tables are still as they were
            when it was. One that waits in a queue looks again, as a table may have been closed meanwhile.
    """

    stage: Stage = ignore_stage
    cancellation: Cancellation = field(default_factory=Cancellation)
    hold: Callable[[], None] = hold_nothing
    at_once: bool = False


@dataclass(frozen=True)
class ReservationRequest:
    """What the ledger reserves: a frozen plan, for whom, and who pays.

    Attributes:
        analyst: Who asks.
        question: What the receipt says was asked.
        key: Under which an answer is recalled. Nothing of the data is in it.
        plan: The frozen plan, as text: what a receipt is redeemed by.
        debits: What each table is charged.
        grants: What each grant of the analyst is charged.
        missing: The tables on which the analyst has no grant.
        hit: What was released under the key before.
        declared: What the plan rests on: it must be the latest when the loss is reserved. None if nobody looks.
    """

    analyst: str
    question: str
    key: str
    plan: str
    debits: tuple[Debit, ...]
    grants: tuple[Debit, ...] = ()
    working: Container[str] = field(default=(), compare=False, repr=False)
    missing: tuple[str, ...] = ()
    hit: RecallHit | None = field(default=None, compare=False, repr=False)
    declared: Declarations | None = field(default=None, compare=False, repr=False)

    @property
    def answered(self) -> bool:
        """Whether the answer was released before, and is paid."""
        return self.hit is not None and self.hit.paid

    def check_grants(self) -> Self:
        """Refuse an analyst without a grant on a table."""
        if self.missing:
            raise CatalogError("grant-missing", analyst=self.analyst, table=self.missing[0])
        return self


T = TypeVar("T")


@dataclass(frozen=True)
class ReleasedAnswer(Generic[T]):
    """What a receipt stands for, once it is released.

    Attributes:
        answer: The answer.
        plan: The frozen plan, as the ledger keeps it.
        drawn: The noisy draw, as the ledger keeps it.
    """

    answer: T
    plan: str = field(repr=False)
    drawn: str = field(repr=False)


@dataclass(frozen=True)
class ReservedQuestion(Generic[T]):
    """What is paid and not yet answered.

    Attributes:
        receipt: The right to its one answer.
        finish: Reads the data and finds the answer.
    """

    receipt: str
    finish: Callable[[RunContext], ReleasedAnswer[T]]


def finish_question(begun: ReleasedAnswer[T] | ReservedQuestion[T], watch: RunContext) -> T:
    """Return the answer that was found, or finish what was begun."""
    return (begun.finish(watch) if isinstance(begun, ReservedQuestion) else begun).answer
