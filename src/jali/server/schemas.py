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
    """A date."""

    date: datetime.date


class TimeForm(RequestModel):
    """A timestamp."""

    timestamp: datetime.datetime


Key = bool | int | str | DateForm | TimeForm | None


class TermsModel(RequestModel):
    """What a question may cost, and how it bounds people."""

    epsilon: Number | None = Field(None, description="The privacy loss as epsilon, with Laplace noise.")
    rho: Number | None = Field(None, description="The privacy loss as rho (zCDP), with Gaussian noise.")
    delta: Number | None = Field(
        None,
        description="For partition selection: undeclared keys, min_people.",
    )
    max_rows: Count | None = Field(None, description="Contribution bound: the rows of one person.")
    max_groups: Count | None = Field(None, description="Contribution bound: the groups of one person.")
    min_people: Count | None = Field(None, description="Release only groups of at least this many people.")
    part: dict[str, Key] | None = Field(None, description='A subpopulation: {"ward": "A"}.')
    within: Number | dict[str, Number] | None = Field(None, description="A margin of error, instead of a loss.")
    confidence: float | None = Field(None, description="The confidence of the margin of error given by `within`.")
    noise: Literal["laplace", "gaussian"] | None = Field(None, description="The noise to use with `within`.")
    group_rows: Count | None = Field(None, description="A public estimate of the rows per group, for forecasts.")

    def to_terms(self) -> TermArguments:
        """Return the terms that were said."""
        names = TermArguments.__annotations__
        given: Any = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.part is not None:
            given["part"] = {by: _read_key(key) for by, key in self.part.items()}
        return cast(TermArguments, given)


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
    """A question whose bias from clamping and contribution bounds is to be estimated."""

    sql: Sql
    epsilon: Number | None = None
    rho: Number | None = None
    max_rows: Count | None = None


class Asked(Question):
    """A question to answer."""

    wait: float | None = Field(None, ge=0, le=600, description="Return the receipt after this many seconds.")
    release: bool = Field(False, description="Include the plan and the noisy values.")


class Weighed(Question):
    """A question of a batch."""

    weight: Number = Field(1, description="The weight of its error in the split of the total loss.")


class BatchForm(RequestModel):
    """Questions to ask together."""

    questions: list[Weighed] = Field(min_length=1, max_length=100)
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    agree: bool = True
    wait: float | None = Field(None, ge=0, le=600)
    release: bool = False


class BudgetForm(RequestModel):
    """A privacy budget."""

    epsilon: Number
    delta: Number = 0


class ColumnForm(RequestModel):
    """Public knowledge about a column: a range, keys, or its kind."""

    range: tuple[Number, Number] | Literal["auto"] | None = Field(None, examples=[[0, 120]])
    keys: list[str | int | bool | None] | None = Field(None, max_length=100_000, examples=[["A", "B"]])
    kind: str | None = Field(None, examples=["date"])


class ViaForm(RequestModel):
    """A privacy unit in another protected table."""

    table: Name
    on: Name


class TableForm(RequestModel):
    """A table to protect."""

    table: Name
    source: Name = Field(description="A file below the server's data directory.")
    unit: Name | None = Field(None, description="The column of the privacy unit; null if each row is a person.")
    via: ViaForm | None = None
    max_rows: Count | None = None
    columns: dict[str, ColumnForm] = Field(default_factory=dict)
    budget: BudgetForm
    adjacency: Literal["add-remove", "replace-one"] = "add-remove"
    rows: Count | None = None
    min_people: Count = 1
    unique: bool = False
    memory: Literal["own", "common"] = Field(
        "own", description="Which released answers are reused: the analyst's own, or everybody's."
    )
    relation: Name | None = None


class PublicForm(RequestModel):
    """A public table."""

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
    """A token to create."""

    name: Name
    role: Literal["analyst", "curator"] = "analyst"
    days: int = Field(90, ge=1, le=3650)


class StreamForm(RequestModel):
    """A stream to create; the fields are those of `db.stream`."""

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
    """The tick to publish up to; the open tick if omitted."""

    tick: Count | None = None


class ResponseModel(BaseModel):
    """A document; more may be told than is declared."""

    model_config = ConfigDict(extra="allow")


class Problem(ResponseModel):
    """An error. Nothing in it depends on the data."""

    code: str = Field("", description="The error code; see docs/errors.md.", examples=["budget-exceeded"])
    type: str = Field(examples=["BudgetExceeded"])
    message: str
    remedy: str | None = Field(description="What you can do about it.")
    position: tuple[int, int] | None = Field(description="Line and column in the question.")
    fields: dict[str, Any] = Field({}, description="The fields of the error: columns, tables, numbers.")


class Envelope(BaseModel):
    """The envelope of every error."""

    error: Problem


class Left(ResponseModel):
    """The remaining budget: exact fractions, and decimals that never exceed them."""

    epsilon: str = Field(examples=["2/3"])
    rho: str
    delta: str


class Loss(ResponseModel):
    """The privacy loss charged."""

    kind: str = Field(examples=["epsilon"])
    amount: str = Field(examples=["1/10"])
    delta: str


class AnswerTold(ResponseModel):
    """An answer: noisy rows, and a confidence interval for each noisy value."""

    columns: list[str]
    rows: list[list[Any]]
    intervals: list[list[Any]] = Field(description="Bounds of each value; null without noise.")
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
    """A question whose budget is reserved and whose answer takes longer."""

    receipt: str
    state: str
    stage: str
    elapsed: float
    answer: str = Field(description="The URL of the answer.")
    events: str = Field(description="The URL of the event stream with its stages.")


Responses = dict[int | str, dict[str, Any]]


def _declare_errors(given: dict[int, str]) -> Responses:
    return {status: {"model": Envelope, "description": text} for status, text in given.items()}


# What any route may answer.
REFUSED = _declare_errors(
    {
        400: "The question, the declaration or the host name is not valid.",
        401: "Authentication is missing, or the token is not valid.",
        403: "The action requires the curator role, or the CSRF token is not valid.",
        404: "The object does not exist, or belongs to somebody else.",
        413: "The request is too large.",
        422: "A field is not valid, or the question is not supported.",
        429: "Too many requests.",
        503: "Too many questions are running and nothing was spent, or the ledger or the engine failed.",
    }
)
EXCEEDED = _declare_errors({402: "The budget is exceeded: requested, remaining, difference, and what would fit."})
_LONGER: Responses = {202: {"model": AcceptedTold, "description": "Budget is reserved; the answer takes longer."}}
ANSWERED: Responses = {200: {"model": AnswerTold}} | _LONGER | EXCEEDED
BATCH_ANSWERED: Responses = {200: {"model": BatchTold}} | _LONGER | EXCEEDED
_EITHER: Responses = {200: {"model": AnswerTold | BatchTold}}
REDEEMED: Responses = _EITHER | _LONGER
CANCELLED: Responses = _declare_errors({409: "No job is answering the receipt."})
FOUND: Responses = REDEEMED | _declare_errors({409: "The receipt is open and no job is answering it: redeem it."})
