"""The terms of a question as they travel: numbers as texts, which are read exactly."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from jali.planner.membership import PartOf
from jali.planner.terms import Given
from jali.planner.write_question import write_question
from jali.query.nodes import Question


def question_json(question: str | Question, given: Given) -> dict[str, Any]:
    """Return a question and its terms as plain JSON values."""
    sql = question if isinstance(question, str) else write_question(question)
    return {"sql": sql} | {name: _plain(value) for name, value in given.items() if value is not None}


def number_json(value: Any) -> Any:
    """Return a number: exact ones as texts."""
    return str(value) if isinstance(value, Fraction | Decimal) else value


def part_json(part: Mapping[str, Any] | PartOf) -> dict[str, Any]:
    """Return a part: dates and times say what they are."""
    found = {part.by: part.key} if isinstance(part, PartOf) else dict(part)
    return {by: _key(key) for by, key in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, PartOf):
        return part_json(value)
    if isinstance(value, Mapping):
        return {name: _key(number_json(inner)) for name, inner in value.items()}
    return number_json(value)


def _key(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, datetime.date) else value
