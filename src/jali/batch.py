"""Batches of questions: asked together, charged once, answered so that they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

from jali.errors import QueryError
from jali.execution.postprocess import write_event
from jali.planner.terms import TermArguments
from jali.privacy import Event
from jali.privacy.rationals import Number

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.ir.expressions import Question
    from jali.planner.batch import BatchPlan


@dataclass(frozen=True)
class BatchAnswer:
    """The answers of a batch.

    Attributes:
        answers: One for each question, in the order in which they were asked.
        cost: The loss that was charged for all of them, to the table that it cost most.
        costs: The loss for each table.
        receipt: The ledger's name for the batch.
        cached: Whether it had been answered before, so that no table was charged again.
    """

    answers: tuple[Answer, ...] = field(repr=False)
    cost: Event
    costs: tuple[tuple[str, Event], ...]
    receipt: str
    cached: bool = False

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    def __str__(self) -> str:
        tables = [str(answer).rpartition("\n")[0] for answer in self.answers]
        return "\n\n".join([*tables, f"cost {self.cost}, receipt {self.receipt}"])

    def to_json(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return everything a program needs, as plain JSON values."""
        return {
            "answers": [answer.to_json(confidence) for answer in self.answers],
            "cost": write_event(self.cost),
            "costs": {table: write_event(cost) for table, cost in self.costs},
            "receipt": self.receipt,
            "cached": self.cached,
        }


@dataclass(frozen=True)
class BatchQuestion:
    """A question of a batch as it was written."""

    question: str | Question
    weight: Number | Fraction
    given: TermArguments


class Awaited:
    """The place of one answer, until the batch has run."""

    def __init__(self, batch: Batch, place: int) -> None:
        self._batch = batch
        self._place = place

    def __repr__(self) -> str:
        state = "not asked yet" if self._batch.answered is None else repr(self.answer)
        return f"Awaited({state})"

    @property
    def answer(self) -> Answer:
        """The answer, once the batch has run."""
        return self._batch.result.answers[self._place]


class Batch:
    """Questions that are asked together when the `with` block ends; an exception in it asks nothing.

    Example:
        `with s.batch(epsilon=1) as b: total = b.ask("SELECT COUNT(*) FROM visits")`
    """

    def __init__(
        self,
        plan: Callable[[list[BatchQuestion]], BatchPlan],
        ask: Callable[[list[BatchQuestion], BatchPlan], BatchAnswer],
    ) -> None:
        self._plan = plan
        self._ask = ask
        self._wanted: list[BatchQuestion] = []
        self.answered: BatchAnswer | None = None

    def __repr__(self) -> str:
        return f"Batch({len(self._wanted)} questions{'' if self.answered is None else ', answered'})"

    def ask(self, question: str | Question, *, weight: Number = 1, **terms: Unpack[TermArguments]) -> Awaited:
        """Add a question; its error counts `weight` times that of others when the loss is split.

        Where the batch has no total, each question needs an `epsilon` or a `rho` of its own.
        """
        if self.answered is not None:
            raise QueryError("batch-asked-already")
        self._wanted.append(BatchQuestion(question, weight, terms))
        return Awaited(self, len(self._wanted) - 1)

    def explain(self) -> BatchPlan:
        """Plan the batch as it is now. Free: no data is read and nothing is spent."""
        return self._plan(self._wanted)

    def run(self) -> BatchAnswer:
        """Ask all questions now; the end of the `with` block does this."""
        if self.answered is None:
            self.answered = self._ask(self._wanted, self.explain())
        return self.answered

    @property
    def result(self) -> BatchAnswer:
        """All answers, once the batch has run."""
        if self.answered is None:
            raise QueryError("batch-not-asked")
        return self.answered

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, in order."""
        return self.result.answers

    @property
    def cost(self) -> Event:
        """What the whole batch cost the table that it cost most."""
        return self.result.cost

    @property
    def costs(self) -> tuple[tuple[str, Event], ...]:
        """What it cost each table."""
        return self.result.costs

    @property
    def receipt(self) -> str:
        """The one receipt of the batch."""
        return self.result.receipt

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.run()
