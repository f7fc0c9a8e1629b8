"""What requests hold: numbers are read as they are written."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from pydantic import ValidationError

from jali.errors import QueryError
from jali.server.schemas import Question, read_part


@pytest.mark.parametrize("number", ["0.12345678901234567890123", "1/3", 0.1, 1, "1e-9"])
def test_a_number_stays_what_was_written(number: Any) -> None:
    read = Question.model_validate_json(json.dumps({"sql": "SELECT 1", "epsilon": number}))
    assert read.to_terms() == {"epsilon": number}
    assert type(read.epsilon) is type(number)


@pytest.mark.parametrize("number", [True, [], {}, None])
def test_what_is_no_number_is_none(number: Any) -> None:
    text = json.dumps({"sql": "SELECT 1", "epsilon": number})
    if number is None:
        assert Question.model_validate_json(text).to_terms() == {}
    else:
        with pytest.raises(ValidationError):
            Question.model_validate_json(text)


def test_parts_are_read_with_dates_and_times() -> None:
    assert read_part('{"ward": "A"}') == {"ward": "A"}
    assert read_part('{"day": {"date": "2025-01-31"}}') == {"day": datetime.date(2025, 1, 31)}
    found = read_part('{"at": {"timestamp": "2025-01-31T10:00:00"}}')
    assert found == {"at": datetime.datetime(2025, 1, 31, 10)}  # noqa: DTZ001 - as columns have them
    for wrong in ("", "[]", "{", '{"a": []}', "1"):
        with pytest.raises(QueryError, match="one value of one column"):
            read_part(wrong)
