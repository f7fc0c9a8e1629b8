"""Grouping sets: every set counts the same rows, so that the exact totals of all sets agree."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.harness import noise_off

import jali

GROUPINGS = ["ROLLUP (ward, sex)", "CUBE (ward, sex)", "GROUPING SETS ((ward), (sex), ())"]


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_exact_totals_agree_whatever_keys_the_rows_have(grouping: str) -> None:
    rows = pa.table(
        {
            "uid": [1, 1, 1, 1, 2, 2, 3],
            "ward": ["A", "A", "Z", "Z", "B", None, "A"],
            "sex": ["f", "f", "f", "f", "m", "m", "x"],
        }
    )
    with jali.connect() as db, noise_off():
        keys = {"ward": jali.Keys(["A", "B"]), "sex": jali.Keys(["f", "m"])}
        db.protect("visits", rows, unit="uid", max_rows=2, columns=keys, budget=jali.Budget(100))
        answer = db.ask(
            "SELECT ward, sex, COUNT(*), SUM(CASE WHEN ward = 'A' THEN 2 ELSE 1 END) FROM visits"
            f" GROUP BY {grouping}",
            epsilon=1,
        )
        found = {row[:2]: row[2:] for row in answer.rows}
    # One person has two rows with declared keys, another one; the third has none.
    assert found[None, None] == pytest.approx((3, 5))
    if ("A", None) in found:
        assert found["A", None] == pytest.approx((2, 4))
        assert found["B", None] == pytest.approx((1, 1))
    for total in {key for key in found if None in key}:
        parts = [value for key, value in found.items() if None not in key and _inside(key, total)]
        if parts:
            assert tuple(map(sum, zip(*parts, strict=True))) == pytest.approx(found[total])


def _inside(key: tuple[str | None, ...], total: tuple[str | None, ...]) -> bool:
    return all(t is None or k == t for k, t in zip(key, total, strict=True))
