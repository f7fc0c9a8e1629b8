"""What requests hold. Numbers may be written as text, which is read exactly."""

from __future__ import annotations

import datetime
import json
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, StringConstraints

from jali.errors import QueryError
from jali.planner.terms import Given

# Strictly: a text that is read as a double would no longer be the number that was written.
Number = Annotated[StrictInt | StrictFloat | StrictStr, Field(examples=["0.1"])]
Sql = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=1, le=1 << 30)]


class Form(BaseModel):
    """What a request holds; a field that nobody knows is refused, as it would change what is asked."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class DateForm(Form):
    """A day."""

    date: datetime.date


class TimeForm(Form):
    """A time."""

    timestamp: datetime.datetime


Key = bool | int | str | DateForm | TimeForm | None


class Terms(Form):
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

    def given(self) -> Given:
        """Return the terms that were said."""
        names = Given.__annotations__
        said: Any = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.part is not None:
            said["part"] = {by: _key(key) for by, key in self.part.items()}
        return cast(Given, said)


def _key(key: Key) -> Any:
    if isinstance(key, DateForm):
        return key.date
    return key.timestamp if isinstance(key, TimeForm) else key


def read_part(text: str) -> Any:
    """Read a part that is written as a JSON document."""
    try:
        return Terms.model_validate({"part": json.loads(text)}).given().get("part")
    except ValueError:
        raise QueryError("part-form-malformed") from None


class Question(Terms):
    """A question."""

    sql: Sql = Field(examples=["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"])


class RemovedForm(Form):
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


class BatchForm(Form):
    """Questions that are asked together."""

    questions: list[Weighed] = Field(min_length=1, max_length=100)
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    agree: bool = True
    wait: float | None = Field(None, ge=0, le=600)
    release: bool = False


class BudgetForm(Form):
    """What may be spent."""

    epsilon: Number
    delta: Number = 0


class ColumnForm(Form):
    """Public knowledge about a column: a range, keys, or its kind."""

    range: tuple[Number, Number] | Literal["auto"] | None = Field(None, examples=[[0, 120]])
    keys: list[str | int | bool | None] | None = Field(None, max_length=100_000, examples=[["A", "B"]])
    kind: str | None = Field(None, examples=["date"])


class ViaForm(Form):
    """A unit that another protected table knows."""

    table: Name
    on: Name


class TableForm(Form):
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


class PublicForm(Form):
    """A table that is nobody's secret."""

    table: Name
    source: Name
    kinds: dict[str, str] = Field(default_factory=dict)
    relation: Name | None = None


class GrantForm(Form):
    """What an analyst may spend on a table."""

    analyst: Name
    table: Name
    budget: BudgetForm


class TokenForm(Form):
    """A token to be made."""

    name: Name
    role: Literal["analyst", "curator"] = "analyst"
    days: int = Field(90, ge=1, le=3650)


class StreamForm(Form):
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


class ItemsForm(Form):
    """Items for the open tick of a stream."""

    items: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)


class PublishForm(Form):
    """Which tick to publish up to; the open one if it is not said."""

    tick: Count | None = None
