"""What a batch is asked: questions with their weights, and what all of them may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from jali.errors import QueryError
from jali.planner.terms import Terms
from jali.privacy import Concentrated, Loss, Pure
from jali.query.lexed import Lexed
from jali.query.nodes import Question

_Made = TypeVar("_Made")
_IN_BATCH = "batch-question"


@dataclass(frozen=True)
class Asked:
    """One question of a batch.

    Attributes:
        question: The question, as written.
        terms: Its bounds; its loss is its own only where the batch has no total.
        weight: How much its squared error counts beside that of the others.
    """

    question: Question
    terms: Terms
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Total:
    """What a batch may cost.

    Attributes:
        loss: The loss of all questions together; None where each question has its own.
        delta: The chance that pays for adding up more sharply than by sums; 0 for sums.
    """

    loss: Loss | None
    delta: Fraction = Fraction(0)


def scaled(loss: Loss, factor: Fraction) -> Loss:
    """Return a loss of the same kind and another size."""
    event = loss.event
    return Concentrated(event.rho * factor) if event.epsilon is None else Pure(event.epsilon * factor)


def with_loss(terms: Terms, loss: Loss) -> Terms:
    """Return the same terms at another loss."""
    return replace(terms, loss=loss)


def naming(place: int, make: Callable[[], _Made]) -> _Made:
    """Let a refusal say which question of the batch it is about."""
    try:
        return make()
    except QueryError as refusal:
        kind = type(refusal)
        raise kind(_IN_BATCH, position=refusal.position, question=place + 1, problem=refusal.phrase) from None


def place_of(refusal: QueryError) -> int | None:
    """Return which question of the batch a refusal is about, from 0; None where it is about all of them."""
    question = refusal.fields.get("question")
    return question - 1 if refusal.code == _IN_BATCH and isinstance(question, int) else None


def in_one_line(sql: str) -> str:
    """Return a question as it was written, without its comments and line breaks."""
    tokens = Lexed.of(sql).tokens
    gaps = [sql[one.end + 1 : other.start] for one, other in pairwise(tokens)]
    words = [sql[token.start : token.end + 1] for token in tokens]
    return "".join(word + (" " if gap else "") for word, gap in zip(words, (*gaps, ""), strict=True))
