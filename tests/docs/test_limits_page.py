"""The page of limits names every limit with its default."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from jali.sql.question_limits import Limits

PAGE = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()


def test_every_limit_is_on_the_page_with_its_default() -> None:
    listed = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", PAGE, re.MULTILINE)
    assert [(name, int(value.replace(",", ""))) for name, value in listed] == [
        (field.name, field.default) for field in fields(Limits)
    ]
