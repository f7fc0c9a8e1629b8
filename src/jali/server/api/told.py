"""What the API answers, as its OpenAPI document declares it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Told(BaseModel):
    """A document; more may be told than is declared."""

    model_config = ConfigDict(extra="allow")


class Problem(Told):
    """What went wrong: nothing of it depends on the data."""

    code: str = Field("", description="Which error it is: docs/errors.md.", examples=["budget-exceeded"])
    type: str = Field(examples=["BudgetExceeded"])
    message: str
    remedy: str | None = Field(description="What can be done about it.")
    position: tuple[int, int] | None = Field(description="Line and column of the question.")
    fields: dict[str, Any] = Field({}, description="What the error names: columns, tables, numbers.")


class Envelope(BaseModel):
    """The one envelope of all errors."""

    error: Problem


class Left(Told):
    """What is left: exact fractions, and decimals that never exceed them."""

    epsilon: str = Field(examples=["2/3"])
    rho: str
    delta: str


class Loss(Told):
    """What was charged."""

    kind: str = Field(examples=["epsilon"])
    amount: str = Field(examples=["1/10"])
    delta: str


class AnswerTold(Told):
    """An answer: noisy rows, and an interval for each noisy value."""

    columns: list[str]
    rows: list[list[Any]]
    intervals: list[list[Any]] = Field(description="Low and high of each value; null where it has no noise.")
    confidence: float
    cost: Loss
    costs: dict[str, Loss]
    receipt: str
    cached: bool
    notes: list[str]
    analyst: str | None
    remaining: dict[str, Left]


class BatchTold(Told):
    """The answers of a batch, which has one receipt."""

    answers: list[dict[str, Any]]
    receipt: str
    cached: bool
    analyst: str | None
    remaining: dict[str, Left]


class AcceptedTold(Told):
    """A paid question that takes longer."""

    receipt: str
    state: str
    stage: str
    elapsed: float
    answer: str = Field(description="Where the answer will be.")
    events: str = Field(description="Where its stages are told.")


Responses = dict[int | str, dict[str, Any]]


def _errors(said: dict[int, str]) -> Responses:
    return {status: {"model": Envelope, "description": text} for status, text in said.items()}


# What any route may answer.
REFUSED = _errors(
    {
        400: "The question, the declaration or the host is wrong.",
        401: "Nobody is signed in, or the token is not good.",
        403: "It is for curators, or the form is of another session.",
        404: "There is no such thing, or it is not yours.",
        413: "The request is too large.",
        422: "A field is wrong, or the question is of a kind that is not supported.",
        429: "There were too many requests.",
        503: "Too many questions are under way: nothing was spent; or the ledger or the engine failed.",
    }
)
EXCEEDED = _errors({402: "The budget refuses it: requested, remaining, difference, and what would fit."})
_LONGER: Responses = {202: {"model": AcceptedTold, "description": "It is paid and takes longer: the receipt."}}
ANSWERED: Responses = {200: {"model": AnswerTold}} | _LONGER | EXCEEDED
BATCH_ANSWERED: Responses = {200: {"model": BatchTold}} | _LONGER | EXCEEDED
_EITHER: Responses = {200: {"model": AnswerTold | BatchTold}}
REDEEMED: Responses = _EITHER | _LONGER
CANCELLED: Responses = _errors({409: "Nobody is answering it."})
FOUND: Responses = REDEEMED | _errors({409: "It is paid, and nobody is answering it: redeem it."})
