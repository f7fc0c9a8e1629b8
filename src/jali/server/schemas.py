"""Request and response schemas of the API, as its OpenAPI document declares them.

Numbers may be written as text, which is read exactly.
"""

from __future__ import annotations

import datetime
import json
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, StringConstraints

from jali.errors import QueryError
from jali.planner.terms import TermArguments

# Strictly: a text that is read as a double would no longer be the number that was written.
Number = Annotated[StrictInt | StrictFloat | StrictStr, Field(examples=["0.1"])]
Sql = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=1, le=1 << 30)]


class RequestModel(BaseModel):
    """What a request holds; a field that nobody knows is refused, as it would change what is asked."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class DateForm(RequestModel):
    """A day."""

    date: datetime.date


class TimeForm(RequestModel):
    """A time."""

    timestamp: datetime.datetime


Key = bool | int | str | DateForm | TimeForm | None


class TermsModel(RequestModel):
    """What a question may cost, and how it bounds people."""

    epsilon: Number | None = Field(None, description="The loss, by Laplace noise; or")
    rho: Number | None = Field(None, description="in zCDP, by Gaussian noise.")
    delta: Number | None = Field(None, description="Pays for groups that nobody declared, and for min_people.")
    max_rows: Count | None = Field(None, description="For how many rows one person may count.")
    max_groups: Count | None = Field(None, description="In how many groups one person may count.")
    min_people: Count | None = Field(None, description="Show a group from so many people on.")
    part: dict[str, Key] | None = Field(None, description='A part: {"ward": "A"}.')
    within: Number | dict[str, Number] | None = Field(None, description="An accuracy, instead of a loss.")
    confidence: float | None = Field(None, description="How often, with within.")
    noise: Literal["laplace", "gaussian"] | None = Field(None, description="With within: which noise.")
    group_rows: Count | None = Field(None, description="A guess of the rows of a group, for forecasts.")

    def to_terms(self) -> TermArguments:
        """Return the terms that were said."""
        names = TermArguments.__annotations__
        said: Any = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.part is not None:
            said["part"] = {by: _read_key(key) for by, key in self.part.items()}
        return cast(TermArguments, said)


def _read_key(key: Key) -> Any:
    if isinstance(key, DateForm):
        return key.date
    return key.timestamp if isinstance(key, TimeForm) else key


def read_part(text: str) -> Any:
    """Read a part that is written as a JSON document."""
    try:
        return TermsModel.model_validate({"part": json.loads(text)}).to_terms().get("part")
    except ValueError:
        raise QueryError("part-form-malformed") from None


class Question(TermsModel):
    """A question."""

    sql: Sql = Field(examples=["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"])


class RemovedForm(RequestModel):
    """A question whose clamped values and bounded rows are to be counted."""

    sql: Sql
    epsilon: Number | None = None
    rho: Number | None = None
    max_rows: Count | None = None


class Asked(Question):
    """A question to be answered."""

    wait: float | None = Field(None, ge=0, le=600, description="After so many seconds, return the receipt.")
    release: bool = Field(False, description="Add the frozen plan and the noisy draw.")


class Weighed(Question):
    """A question of a batch."""

    weight: Number = Field(1, description="Its error counts so many times.")


class BatchForm(RequestModel):
    """Questions that are asked together."""

    questions: list[Weighed] = Field(min_length=1, max_length=100)
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    agree: bool = True
    wait: float | None = Field(None, ge=0, le=600)
    release: bool = False


class BudgetForm(RequestModel):
    """What may be spent."""

    epsilon: Number
    delta: Number = 0


class ColumnForm(RequestModel):
    """Public knowledge about a column: a range, keys, or its kind."""

    range: tuple[Number, Number] | Literal["auto"] | None = Field(None, examples=[[0, 120]])
    keys: list[str | int | bool | None] | None = Field(None, max_length=100_000, examples=[["A", "B"]])
    kind: str | None = Field(None, examples=["date"])


class ViaForm(RequestModel):
    """A unit that another protected table knows."""

    table: Name
    on: Name


class TableForm(RequestModel):
    """A table to be protected."""

    table: Name
    source: Name = Field(description="A file below the server's data directory.")
    unit: Name | None = Field(None, description="The column that names the person; none if each row is one.")
    via: ViaForm | None = None
    max_rows: Count | None = None
    columns: dict[str, ColumnForm] = Field(default_factory=dict)
    budget: BudgetForm
    adjacency: Literal["add-remove", "replace-one"] = "add-remove"
    rows: Count | None = None
    min_people: Count = 1
    unique: bool = False
    memory: Literal["own", "common"] = Field(
        "own", description="Whose answers are recalled: those of the analyst who asks, or everybody's."
    )
    relation: Name | None = None


class PublicForm(RequestModel):
    """A table that is nobody's secret."""

    table: Name
    source: Name
    kinds: dict[str, str] = Field(default_factory=dict)
    relation: Name | None = None


class GrantForm(RequestModel):
    """What an analyst may spend on a table."""

    analyst: Name
    table: Name
    budget: BudgetForm


class TokenForm(RequestModel):
    """A token to be made."""

    name: Name
    role: Literal["analyst", "curator"] = "analyst"
    days: int = Field(90, ge=1, le=3650)


class StreamForm(RequestModel):
    """A stream to be made; the fields are those of `db.stream`."""

    stream: Name
    unit: Name | None
    horizon: Count | None = None
    measure: Literal["count", "sum", "mean", "cdf"] = "count"
    keys: list[str | int] | None = Field(None, max_length=10_000)
    value: tuple[Number, Number] | None = None
    bins: list[Number] | None = Field(None, max_length=10_000)
    every: Literal["minute", "hour", "day", "week", "month"] | None = None
    start: str | None = None
    max_ticks: Count = 1
    max_items: Count = 1
    adjacency: Literal["add-remove", "replace-one"] | None = None
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    query: Sql | None = None
    last: Count | None = None
    restart: Count | None = None


class ItemsForm(RequestModel):
    """Items for the open tick of a stream."""

    items: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)


class PublishForm(RequestModel):
    """Which tick to publish up to; the open one if it is not said."""

    tick: Count | None = None


class ResponseModel(BaseModel):
    """A document; more may be told than is declared."""

    model_config = ConfigDict(extra="allow")


class Problem(ResponseModel):
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


class Left(ResponseModel):
    """What is left: exact fractions, and decimals that never exceed them."""

    epsilon: str = Field(examples=["2/3"])
    rho: str
    delta: str


class Loss(ResponseModel):
    """What was charged."""

    kind: str = Field(examples=["epsilon"])
    amount: str = Field(examples=["1/10"])
    delta: str


class AnswerTold(ResponseModel):
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


class BatchTold(ResponseModel):
    """The answers of a batch, which has one receipt."""

    answers: list[dict[str, Any]]
    receipt: str
    cached: bool
    analyst: str | None
    remaining: dict[str, Left]


class AcceptedTold(ResponseModel):
    """A paid question that takes longer."""

    receipt: str
    state: str
    stage: str
    elapsed: float
    answer: str = Field(description="Where the answer will be.")
    events: str = Field(description="Where its stages are told.")


Responses = dict[int | str, dict[str, Any]]


def _declare_errors(said: dict[int, str]) -> Responses:
    return {status: {"model": Envelope, "description": text} for status, text in said.items()}


# What any route may answer.
REFUSED = _declare_errors(
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
EXCEEDED = _declare_errors({402: "The budget refuses it: requested, remaining, difference, and what would fit."})
_LONGER: Responses = {202: {"model": AcceptedTold, "description": "It is paid and takes longer: the receipt."}}
ANSWERED: Responses = {200: {"model": AnswerTold}} | _LONGER | EXCEEDED
BATCH_ANSWERED: Responses = {200: {"model": BatchTold}} | _LONGER | EXCEEDED
_EITHER: Responses = {200: {"model": AnswerTold | BatchTold}}
REDEEMED: Responses = _EITHER | _LONGER
CANCELLED: Responses = _declare_errors({409: "Nobody is answering it."})
FOUND: Responses = REDEEMED | _declare_errors({409: "It is paid, and nobody is answering it: redeem it."})
